#include "poisson/helmholtz_solver.hpp"

#include <deque>
#include <utility>

#include "core/support/error.hpp"
#include "poisson/tridiagonal/line_solver.hpp"
#include "poisson/tridiagonal/line_tables.hpp"

namespace sluice {

namespace {

LinePlan plan_of(const Decomposition& decomposition, int z_index, TridiagonalMethod method, int fields) {
  LinePlan plan = plan_lines(decomposition, z_index, method);
  if (plan.is_condensed()) plan.systems = fields;
  return plan;
}

}  // namespace

struct ZHelmholtzSolver::Parts {
  Parts(const Communicator& comm, const Decomposition& decomposition, std::vector<TridiagonalRows> second_derivatives,
        int fields, TridiagonalMethod method, Exchange& exchange)
      : box(decomposition.x_pencil(comm.rank())),
        fields_together(static_cast<std::size_t>(fields)),
        plan(plan_of(decomposition, comm.z_index(), method, fields)),
        lines(make_line_solver<TableLines>(comm, field_lines(decomposition, comm.rank()), plan, exchange)) {
    for (TridiagonalRows& rows : second_derivatives) tables.emplace_back(std::move(rows), plan);
  }

  Box3 box;
  std::size_t fields_together;
  LinePlan plan;
  std::deque<HelmholtzTables> tables;
  std::unique_ptr<LineSolver<TableLines>> lines;
};

ZHelmholtzSolver::ZHelmholtzSolver(const Communicator& comm, const Decomposition& decomposition,
                                   std::vector<TridiagonalRows> second_derivatives, int fields,
                                   TridiagonalMethod method, Exchange& exchange)
    : parts_(std::make_unique<Parts>(comm, decomposition, std::move(second_derivatives), fields, method, exchange)) {}

ZHelmholtzSolver::ZHelmholtzSolver(const Communicator& comm, const Decomposition& decomposition,
                                   TridiagonalRows second_derivative, TridiagonalMethod method, Exchange& exchange)
    : ZHelmholtzSolver(comm, decomposition, std::vector{std::move(second_derivative)}, 1, method, exchange) {}

ZHelmholtzSolver::ZHelmholtzSolver(ZHelmholtzSolver&&) noexcept = default;
ZHelmholtzSolver& ZHelmholtzSolver::operator=(ZHelmholtzSolver&&) noexcept = default;
ZHelmholtzSolver::~ZHelmholtzSolver() = default;

void ZHelmholtzSolver::prepare(double c) {
  SLUICE_REQUIRE(c >= 0, "implicit diffusion needs a coefficient of 0 or more");
  for (HelmholtzTables& tables : parts_->tables) tables.prepare(c);
}

void ZHelmholtzSolver::solve(const std::vector<Task>& tasks) {
  SLUICE_REQUIRE(tasks.size() == parts_->fields_together, "as many fields as the solver was made for");
  std::vector<LineSystems<TableLines>> systems;
  for (const auto& [field, matrix] : tasks) {
    SLUICE_REQUIRE(field->box() == parts_->box, "the field is not on this rank's x pencil");
    const View3<real> view = field->view();
    const HelmholtzTables& tables = parts_->tables[matrix];
    systems.push_back({tables.at_home(),
                       tables.whole(),
                       {view.origin, view.stride_y, view.stride_z, parts_->box.nx(), parts_->box.ny()}});
  }
  parts_->lines->solve(systems);
}

MemoryNeed ZHelmholtzSolver::memory(const Decomposition& decomposition, int rank, int fields,
                                    TridiagonalMethod method) {
  const LinePlan plan = plan_of(decomposition, decomposition.processes().z_index(rank), method, fields);
  return line_solver_need(field_lines(decomposition, rank), plan, TableLines::components);
}

std::vector<double> ZHelmholtzSolver::solve_profile(const std::vector<double>& rhs) const {
  return sluice::solve(parts_->tables.front().matrix(), rhs);
}

}  // namespace sluice
