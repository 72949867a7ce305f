#include "poisson/helmholtz_solver.hpp"

#include <deque>
#include <optional>
#include <utility>

#include "core/support/error.hpp"
#include "poisson/helmholtz_lines.hpp"
#include "poisson/spectral_solver.hpp"
#include "poisson/tridiagonal/line_solver.hpp"
#include "poisson/tridiagonal/line_tables.hpp"

namespace sluice {

namespace {

/// scale (1 - c Lz), without the 1.
TridiagonalRows diffusion_rows(const TridiagonalRows& second_derivative, double c, double scale) {
  TridiagonalRows rows = second_derivative;
  for (auto* values : {&rows.lower, &rows.diagonal, &rows.upper})
    for (double& value : *values) value *= -c * scale;
  return rows;
}

/// factor values + constant.
std::vector<double> shifted(const std::vector<double>& values, double factor, double constant) {
  std::vector<double> result;
  for (const double value : values) result.push_back(factor * value + constant);
  return result;
}

}  // namespace

struct HelmholtzSolver::Parts {
  struct Matrix {
    TridiagonalRows second_derivative;
    ShiftedTables tables;
    LineEquations equations;
  };

  Parts(SpectralSolver& of_poisson, std::vector<TridiagonalRows> second_derivatives) : spectral(&of_poisson) {
    for (TridiagonalRows& rows : second_derivatives) {
      ShiftedTables tables(rows, spectral->plan());
      matrices.push_back({std::move(rows), std::move(tables), {}});
    }
    const PoissonSolver::Domain& domain = spectral->domain();
    if (domain.periodic_z) periodic.emplace(spectral->comm(), spectral->decomposition(), domain.z_nodes);
  }

  SpectralSolver* spectral;
  std::deque<Matrix> matrices;
  std::optional<PeriodicLines> periodic;
  double c = 0;
};

HelmholtzSolver::HelmholtzSolver(PoissonSolver& poisson, std::vector<TridiagonalRows> second_derivatives)
    : parts_(std::make_unique<Parts>(poisson.spectral(), std::move(second_derivatives))) {}

HelmholtzSolver::HelmholtzSolver(HelmholtzSolver&&) noexcept = default;
HelmholtzSolver& HelmholtzSolver::operator=(HelmholtzSolver&&) noexcept = default;
HelmholtzSolver::~HelmholtzSolver() = default;

MemoryNeed HelmholtzSolver::memory(const Decomposition& decomposition, int rank, int matrices, TridiagonalMethod method,
                                   bool periodic_z) {
  const LinePlan plan = plan_lines(decomposition, decomposition.processes().z_index(rank), method);
  const LineBoxes boxes = spectral_lines(decomposition, rank);
  MemoryNeed memory{.held = matrices * ShiftedTables::bytes(plan, boxes.my_home(), boxes.my_whole())};
  if (periodic_z) memory.held += PeriodicLines::memory(decomposition, rank);
  return memory;
}

void HelmholtzSolver::prepare(double c) {
  SLUICE_REQUIRE(c > 0, "implicit diffusion in all directions needs a coefficient above 0");
  parts_->c = c;
  const SpectralSolver& spectral = *parts_->spectral;
  // Solutions are divided by the scale of the transforms, because the matrix is multiplied by it.
  const double scale = spectral.scale();
  const std::vector<double> shift_x = shifted(spectral.eigenvalues_x(), -c * scale, scale);
  const std::vector<double> shift_y = shifted(spectral.eigenvalues_y(), -c * scale, 0);
  for (auto& [second_derivative, tables, equations] : parts_->matrices) {
    tables.set(diffusion_rows(second_derivative, c, scale), shift_x, shift_y);
    equations = {tables.at_home(spectral.boxes().my_home()), tables.whole(spectral.boxes().my_whole())};
    if (parts_->periodic) equations.periodic = &*parts_->periodic;
  }
  // 1 - c (Lz + eigenvalues) is -c times Lz + eigenvalues - 1/c.
  if (parts_->periodic) parts_->periodic->set(shifted(spectral.eigenvalues_x(), 1, -1 / c), spectral.eigenvalues_y());
}

void HelmholtzSolver::solve(Field& x, std::size_t matrix, PhaseTimers& timers) {
  parts_->spectral->solve(x, parts_->matrices.at(matrix).equations, timers);
}

std::vector<double> HelmholtzSolver::solve_profile(const std::vector<double>& rhs) const {
  TridiagonalRows rows = diffusion_rows(parts_->matrices.front().second_derivative, parts_->c, 1);
  for (double& diagonal : rows.diagonal) diagonal += 1;
  return sluice::solve(rows, rhs);
}

struct ZHelmholtzSolver::Parts {
  Box3 box;
  std::size_t fields_together;
  HelmholtzLines lines;
};

ZHelmholtzSolver::ZHelmholtzSolver(const Communicator& comm, const Decomposition& decomposition,
                                   std::vector<TridiagonalRows> second_derivatives, int fields,
                                   TridiagonalMethod method, Exchange& exchange)
    : parts_(std::make_unique<Parts>(Parts{decomposition.x_pencil(comm.rank()), static_cast<std::size_t>(fields),
                                           HelmholtzLines(comm, field_lines(decomposition, comm.rank()),
                                                          plan_of_fields(decomposition, comm.z_index(), method, fields),
                                                          std::move(second_derivatives), exchange)})) {}

ZHelmholtzSolver::ZHelmholtzSolver(const Communicator& comm, const Decomposition& decomposition,
                                   TridiagonalRows second_derivative, TridiagonalMethod method, Exchange& exchange)
    : ZHelmholtzSolver(comm, decomposition, std::vector{std::move(second_derivative)}, 1, method, exchange) {}

ZHelmholtzSolver::ZHelmholtzSolver(ZHelmholtzSolver&&) noexcept = default;
ZHelmholtzSolver& ZHelmholtzSolver::operator=(ZHelmholtzSolver&&) noexcept = default;
ZHelmholtzSolver::~ZHelmholtzSolver() = default;

void ZHelmholtzSolver::prepare(double c) {
  parts_->lines.prepare(c);
}

void ZHelmholtzSolver::solve(const std::vector<Task>& tasks) {
  SLUICE_REQUIRE(tasks.size() == parts_->fields_together, "as many fields as the solver was made for");
  std::vector<HelmholtzLines::Task> of_lines;
  for (const auto& [field, matrix] : tasks) {
    SLUICE_REQUIRE(field->box() == parts_->box, "the field is not on this rank's x pencil");
    of_lines.push_back({field->view(), matrix});
  }
  parts_->lines.solve(of_lines);
}

MemoryNeed ZHelmholtzSolver::memory(const Decomposition& decomposition, int rank, int fields,
                                    TridiagonalMethod method) {
  const LinePlan plan = plan_of_fields(decomposition, decomposition.processes().z_index(rank), method, fields);
  return line_solver_need(field_lines(decomposition, rank), plan, TableLines::components);
}

std::vector<double> ZHelmholtzSolver::solve_profile(const std::vector<double>& rhs) const {
  return sluice::solve(parts_->lines.matrix(), rhs);
}

}  // namespace sluice
