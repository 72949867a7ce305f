#include "poisson/helmholtz_solver.hpp"

#include <utility>

#include "core/support/error.hpp"
#include "poisson/tridiagonal/line_solver.hpp"
#include "poisson/tridiagonal/line_tables.hpp"

namespace sluice {

struct ZHelmholtzSolver::Parts {
  Parts(const Communicator& comm, const Decomposition& decomposition, TridiagonalRows second_derivative,
        TridiagonalMethod method, Exchange& exchange)
      : box(decomposition.x_pencil(comm.rank())),
        plan(plan_lines(decomposition, comm.z_index(), method)),
        tables(std::move(second_derivative), plan),
        lines(make_line_solver<TableLines>(comm, field_lines(decomposition, comm.rank()), plan, exchange)) {}

  Box3 box;
  LinePlan plan;
  HelmholtzTables tables;
  std::unique_ptr<LineSolver<TableLines>> lines;
};

ZHelmholtzSolver::ZHelmholtzSolver(const Communicator& comm, const Decomposition& decomposition,
                                   TridiagonalRows second_derivative, TridiagonalMethod method, Exchange& exchange)
    : parts_(std::make_unique<Parts>(comm, decomposition, std::move(second_derivative), method, exchange)) {}

ZHelmholtzSolver::ZHelmholtzSolver(ZHelmholtzSolver&&) noexcept = default;
ZHelmholtzSolver& ZHelmholtzSolver::operator=(ZHelmholtzSolver&&) noexcept = default;
ZHelmholtzSolver::~ZHelmholtzSolver() = default;

void ZHelmholtzSolver::prepare(double c) {
  SLUICE_REQUIRE(c >= 0, "implicit diffusion needs a coefficient of 0 or more");
  parts_->tables.prepare(c);
}

void ZHelmholtzSolver::solve(Field& x) {
  SLUICE_REQUIRE(x.box() == parts_->box, "the field is not on this rank's x pencil");
  const View3<real> view = x.view();
  const LineArray array{view.origin, view.stride_y, view.stride_z, parts_->box.nx(), parts_->box.ny()};
  parts_->lines->solve(parts_->tables.at_home(), parts_->tables.whole(), array);
}

MemoryNeed ZHelmholtzSolver::memory(const Decomposition& decomposition, int rank, TridiagonalMethod method) {
  const LinePlan plan = plan_lines(decomposition, decomposition.processes().z_index(rank), method);
  return line_solver_need(field_lines(decomposition, rank), plan, TableLines::components);
}

std::vector<double> ZHelmholtzSolver::solve_profile(const std::vector<double>& rhs) const {
  return sluice::solve(parts_->tables.matrix(), rhs);
}

}  // namespace sluice
