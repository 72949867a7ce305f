#include "src/bench/full_transpose_solver.hpp"

#include <utility>

#include "core/decomp/index_bounds.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

/// The same grid on one rank: there, lines along z are not split.
Decomposition undivided(const Decomposition& decomposition) {
  return {decomposition.cells(), {1, 1}, decomposition.z_blocks().count()};
}

/// Real fields with y whole: x split in py, z as in x pencils.
Box3 y_pencil(const Decomposition& decomposition, int rank) {
  const auto [nx, ny, nz] = decomposition.cells();
  const ProcessGrid& processes = decomposition.processes();
  const auto y = static_cast<std::size_t>(processes.y_index(rank));
  const std::vector<std::int64_t> x_bounds = split_evenly(nx, processes.py);
  Box3 box = decomposition.x_pencil(rank);
  box.lo = {x_bounds[y], 0, box.lo[2]};
  box.hi = {x_bounds[y + 1], ny, box.hi[2]};
  return box;
}

/// z whole: y_pencil() with its y split in pz.
Box3 z_pencil_of_y(const Decomposition& decomposition, int rank) {
  const auto [nx, ny, nz] = decomposition.cells();
  const ProcessGrid& processes = decomposition.processes();
  const auto z = static_cast<std::size_t>(processes.z_index(rank));
  const std::vector<std::int64_t> y_bounds = split_evenly(ny, processes.pz);
  Box3 box = y_pencil(decomposition, rank);
  box.lo = {box.lo[0], y_bounds[z], 0};
  box.hi = {box.hi[0], y_bounds[z + 1], nz};
  return box;
}

LineBoxes lines_in_y_pencils(const Communicator& comm, const Decomposition& decomposition) {
  return {comm.column_boxes([&](int rank) { return y_pencil(decomposition, rank); }),
          comm.column_boxes([&](int rank) { return z_pencil_of_y(decomposition, rank); }), comm.z_index()};
}

}  // namespace

FullTransposeSolver::FullTransposeSolver(const Communicator& comm, const Decomposition& decomposition,
                                         const PoissonSolver::Domain& domain,
                                         std::vector<TridiagonalRows> second_derivatives, int fields,
                                         const ExchangeSet& exchanges)
    : z_pencil_(decomposition.z_pencil(comm.rank())),
      poisson_(comm, decomposition, domain, TridiagonalMethod::transpose, exchanges),
      phi_(poisson_.make_field()),
      self_(MPI_COMM_SELF, {1, 1}),
      diffusion_(self_, {{z_pencil_}, {z_pencil_}, 0},
                 plan_of_fields(undivided(decomposition), 0, TridiagonalMethod::ptdma, fields),
                 std::move(second_derivatives), exchanges.columns) {
  if (comm.processes().pz == 1) return;
  to_z_.emplace(comm.column(), comm.column_boxes([&](int rank) { return decomposition.x_pencil(rank); }),
                comm.column_boxes([&](int rank) { return decomposition.z_pencil(rank); }), exchanges.columns);
}

View3<real> FullTransposeSolver::phi() {
  return to_z_ ? to_z_->transposed() : phi_.view();
}

void FullTransposeSolver::solve_poisson(PhaseTimers& timers) {
  if (to_z_) {  // 1. z to x pencils
    const PhaseTimers::Scope scope(timers, TimedPhase::transpose);
    to_z_->backward(phi_.view());
  }
  // 2. transform along x, x to y pencils, transform along y, y to z pencils, Thomas algorithm; then the inverse steps.
  poisson_.solve(phi_, timers);
  if (to_z_) {  // 3. x to z pencils
    const PhaseTimers::Scope scope(timers, TimedPhase::transpose);
    to_z_->forward(phi_.view());
  }
}

DiffusionThroughY::DiffusionThroughY(const Communicator& comm, const Decomposition& decomposition,
                                     std::vector<TridiagonalRows> second_derivatives, int fields,
                                     TridiagonalMethod method, const ExchangeSet& exchanges)
    : lines_(comm, lines_in_y_pencils(comm, decomposition),
             plan_of_fields(decomposition, comm.z_index(), method, fields), std::move(second_derivatives),
             exchanges.columns) {
  if (comm.processes().py == 1) return;
  for (int field = 0; field < fields; ++field)
    to_y_.push_back(std::make_unique<Transpose<real>>(
        comm.row(), comm.row_boxes([&](int rank) { return decomposition.x_pencil(rank); }),
        comm.row_boxes([&](int rank) { return y_pencil(decomposition, rank); }), exchanges.rows));
}

void DiffusionThroughY::solve(const std::vector<HelmholtzLines::Task>& tasks) {
  if (to_y_.empty()) return lines_.solve(tasks);
  SLUICE_REQUIRE(tasks.size() == to_y_.size(), "as many fields as the solver was made for");
  std::vector<HelmholtzLines::Task> in_y_pencils = tasks;
  for (std::size_t n = 0; n < tasks.size(); ++n) {
    to_y_[n]->forward(tasks[n].array);
    in_y_pencils[n].array = to_y_[n]->transposed();
  }
  lines_.solve(in_y_pencils);
  for (std::size_t n = 0; n < tasks.size(); ++n) to_y_[n]->backward(tasks[n].array);
}

}  // namespace sluice
