// The solves of one substep with implicit diffusion along z, by P-TDMA and by the methods with which it is compared: of
// three Helmholtz problems and of the Poisson equation.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/decomp/exchange/exchanges.hpp"
#include "core/device/flat_loops.hpp"
#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "poisson/helmholtz_solver.hpp"
#include "src/bench/bench.hpp"
#include "src/bench/exchange_meter.hpp"
#include "src/bench/full_transpose_solver.hpp"
#include "src/bench/result.hpp"
#include "src/run/setup.hpp"

namespace sluice {

namespace {

/// What all methods share.
struct Problem {
  Problem(const io::Case& settings, const Layout& layout)
      : cells(settings.cells),
        comm(MPI_COMM_WORLD, layout.processes),
        decomposition(settings.cells, layout.processes, settings.z_blocks),
        exchanges(layout.exchange, MPI_COMM_WORLD),
        rows(exchanges.set().rows, meter),
        columns(exchanges.set().columns, meter) {
    const Grid grid = make_grid(settings, "");
    domain = {grid.dx(), grid.dy(), grid.z_nodes(), settings.flow.order};
    second_derivatives = {second_derivative_centers(grid.z_nodes(), WallRow::dirichlet, WallRow::dirichlet),
                          second_derivative_faces(grid.z_nodes())};
    coefficient = settings.flow.viscosity * grid.dx() / 6;  // as in a third of a step of dx / U
  }
  ExchangeSet metered() { return {exchanges.set().halos, rows, columns}; }

  static constexpr std::array<std::size_t, 3> matrices{0, 0, 1};  ///< of u, v, w

  Cells cells;
  Communicator comm;
  Decomposition decomposition;
  Exchanges exchanges;
  ExchangeMeter meter;
  MeteredExchange rows, columns;
  PhaseTimers timers;
  PoissonSolver::Domain domain;
  std::vector<TridiagonalRows> second_derivatives;
  double coefficient = 0;
};

/// The solves of a substep by one method.
class SubstepSolves : public Workload {
 public:
  explicit SubstepSolves(Problem& problem) : problem_(&problem) {}

  void run() override {
    {
      problem_->meter.set_phase(TimedPhase::implicit_diffusion);
      const PhaseTimers::Scope scope(problem_->timers, TimedPhase::implicit_diffusion);
      solve_diffusion();
    }
    problem_->meter.set_phase(TimedPhase::transpose);
    solve_poisson();
  }

  std::vector<PieceTuning> piece_tuning() const override { return problem_->exchanges.set().piece_tuning(); }

 protected:
  virtual void solve_diffusion() = 0;
  virtual void solve_poisson() = 0;
  Problem& problem() { return *problem_; }

 private:
  Problem* problem_;
};

/// Fields in x pencils.
struct XPencils {
  explicit XPencils(const Problem& problem) {
    const Box3 box = problem.decomposition.x_pencil(problem.comm.rank());
    phi = Field(box, Location::center, PoissonSolver::row_length(problem.cells[0]),
                PoissonSolver::halo(problem.domain.order));
    for (Field& component : velocity) component = Field(box, Location::center);
  }
  void fill() {
    fill_with_noise(phi.buffer().data(), phi.buffer().size());
    for (Field& component : velocity) fill_with_noise(component.buffer().data(), component.buffer().size());
  }

  Field phi;
  std::array<Field, 3> velocity;
};

/// As in `sluice run`: from x pencils, by P-TDMA or with transposes from there to whole lines.
class FromXPencils : public SubstepSolves {
 public:
  FromXPencils(Problem& problem, XPencils& fields, TridiagonalMethod method)
      : SubstepSolves(problem),
        fields_(&fields),
        poisson_(problem.comm, problem.decomposition, problem.domain, method, problem.metered()),
        diffusion_(problem.comm, problem.decomposition, problem.second_derivatives, 3, method, problem.columns) {
    diffusion_.prepare(problem.coefficient);
  }
  void prepare() override { fields_->fill(); }
  void solve_poisson() override { poisson_.solve(fields_->phi, problem().timers); }
  void solve_diffusion() override {
    std::vector<ZHelmholtzSolver::Task> tasks;
    for (std::size_t n = 0; n < 3; ++n) tasks.push_back({&fields_->velocity[n], Problem::matrices[n]});
    diffusion_.solve(tasks);
  }

 private:
  XPencils* fields_;
  PoissonSolver poisson_;
  ZHelmholtzSolver diffusion_;
};

/// P-TDMA; for diffusion, fields are transposed to y pencils before.
class DiffusionInYPencils : public SubstepSolves {
 public:
  /// `ptdma`: whose Poisson solver is used here too.
  DiffusionInYPencils(Problem& problem, XPencils& fields, FromXPencils& ptdma)
      : SubstepSolves(problem),
        fields_(&fields),
        ptdma_(&ptdma),
        diffusion_(problem.comm, problem.decomposition, problem.second_derivatives, 3, TridiagonalMethod::ptdma,
                   problem.metered()) {
    diffusion_.prepare(problem.coefficient);
  }
  void prepare() override { fields_->fill(); }
  void solve_poisson() override { ptdma_->solve_poisson(); }
  void solve_diffusion() override {
    std::vector<HelmholtzLines::Task> tasks;
    for (std::size_t n = 0; n < 3; ++n) tasks.push_back({fields_->velocity[n].view(), Problem::matrices[n]});
    diffusion_.solve(tasks);
  }

 private:
  XPencils* fields_;
  FromXPencils* ptdma_;
  DiffusionThroughY diffusion_;
};

/// The full-transpose method.
class FromZPencils : public SubstepSolves {
 public:
  explicit FromZPencils(Problem& problem)
      : SubstepSolves(problem),
        solver_(problem.comm, problem.decomposition, problem.domain, problem.second_derivatives,
                static_cast<int>(Problem::matrices.size()), problem.metered()) {
    solver_.prepare(problem.coefficient);
    for (Field& component : velocity_) component = Field(solver_.z_pencil(), Location::center);
  }
  void prepare() override {
    const View3<real> phi = solver_.phi();
    fill_with_noise(phi.origin, static_cast<std::size_t>(phi.stride_z * solver_.z_pencil().nz()));
    for (Field& component : velocity_) fill_with_noise(component.buffer().data(), component.buffer().size());
  }
  void solve_poisson() override { solver_.solve_poisson(problem().timers); }
  void solve_diffusion() override {
    std::vector<HelmholtzLines::Task> tasks;
    for (std::size_t n = 0; n < 3; ++n) tasks.push_back({velocity_[n].view(), Problem::matrices[n]});
    solver_.solve_diffusion(tasks);
  }

 private:
  FullTransposeSolver solver_;
  std::array<Field, 3> velocity_;
};

enum Part { fft_x, fft_y, transpose, tridiagonal, diffusion_transpose, diffusion_tridiagonal };
constexpr std::array part_names{
    "fft x", "fft y", "transpose", "tridiagonal", "diffusion transpose", "diffusion tridiagonal"};
using Parts = std::array<double, part_names.size()>;

double seconds_in(PhaseTimers& timers, TimedPhase phase) {
  double seconds = 0;
  for (const PhaseTimers::Total& total : timers.phases()) {
    if (total.phase == phase) seconds += total.seconds;
  }
  return seconds;
}

/// Seconds of the parts of the last run on this rank. Transposes are within what the solvers time.
Parts parts_of(Problem& problem) {
  const auto of_solvers = [&](TimedPhase phase) { return seconds_in(problem.timers, phase); };
  const auto of_transposes = [&](TimedPhase phase) { return seconds_in(problem.meter.timers(), phase); };
  Parts parts{};
  parts[fft_x] = of_solvers(TimedPhase::fft_x);
  parts[fft_y] = of_solvers(TimedPhase::fft_y);
  parts[transpose] = of_transposes(TimedPhase::transpose);
  parts[tridiagonal] =
      std::max(0.0, of_solvers(TimedPhase::transpose) + of_solvers(TimedPhase::tridiagonal) - parts[transpose]);
  parts[diffusion_transpose] = of_transposes(TimedPhase::implicit_diffusion);
  parts[diffusion_tridiagonal] = std::max(0.0, of_solvers(TimedPhase::implicit_diffusion) - parts[diffusion_transpose]);
  return parts;
}

/// A method and what was measured of it.
struct Method {
  std::string name;
  std::unique_ptr<SubstepSolves> solves;
  std::vector<double> seconds{};
  std::vector<double> seconds_with_parts{};
  std::array<std::vector<double>, part_names.size()> parts{};
  double poisson_bytes = 0, diffusion_bytes = 0;  ///< sent by this rank in a run
};

/// The methods in turn, so that all of them meet the same disturbances.
void measure(std::vector<Method>& methods, Problem& problem, int repeats) {
  for (Method& method : methods) run_until_tuned(*method.solves);
  const int warm_up = std::max(2, repeats / 10);
  for (int n = 0; n < warm_up + repeats; ++n) {
    for (Method& method : methods) {
      const double seconds = seconds_of_run(*method.solves);
      if (n >= warm_up) method.seconds.push_back(seconds);
    }
  }
  // The parts in separate repeats, because timing them costs time on a GPU.
  problem.timers.enable();
  problem.meter.timers().enable();
  for (int n = 0; n < std::max(3, repeats / 2); ++n) {
    for (Method& method : methods) {
      problem.timers.reset();
      problem.meter.reset();
      method.seconds_with_parts.push_back(seconds_of_run(*method.solves));
      const Parts parts = parts_of(problem);
      for (std::size_t part = 0; part < parts.size(); ++part) method.parts[part].push_back(parts[part]);
      method.poisson_bytes = problem.meter.bytes_sent(TimedPhase::transpose);
      method.diffusion_bytes = problem.meter.bytes_sent(TimedPhase::implicit_diffusion);
    }
  }
}

double sum_of_ranks(double value) {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  return value;
}

/// Collective.
Json row_of(const Method& method, const BenchOptions& options, const io::Case& settings, const Layout& layout) {
  const auto points = static_cast<double>(settings.cells[0] * settings.cells[1] * settings.cells[2]);
  const Spread total = spread_of(method.seconds);
  Json row = new_result("solve");
  row["cells"] = settings.cells;
  row["diffusion"] = "implicit_z";
  row["order"] = options.order;
  row["scalars"] = 0;
  row["tridiagonal"] = method.name;
  row["process_grid"] = {layout.processes.py, layout.processes.pz};
  row["exchange"] = layout.exchange.text();
  row["z_blocks"] = settings.z_blocks;
  row["repeats"] = options.repeats;
  row["ns_per_point_per_step"] = total.median / points * 1e9;
  row["ns_per_point_per_step_spread"] = {total.min / points * 1e9, total.max / points * 1e9};
  add_milliseconds(row, total);
  row["phases"] = Json::array();
  for (std::size_t part = 0; part < part_names.size(); ++part)
    add_milliseconds(row["phases"].emplace_back(Json{{"name", part_names[part]}}), spread_of(method.parts[part]));
  add_milliseconds(row, spread_of(method.seconds_with_parts), "milliseconds_with_phases");
  row["poisson_megabytes"] = sum_of_ranks(method.poisson_bytes) * 1e-6;
  row["diffusion_megabytes"] = sum_of_ranks(method.diffusion_bytes) * 1e-6;
  return row;
}

}  // namespace

ExitCode bench_solve(const BenchOptions& options, const io::Case& settings, const Layout& layout) {
  Problem problem(settings, layout);
  XPencils fields(problem);
  std::vector<Method> methods;
  auto ptdma = std::make_unique<FromXPencils>(problem, fields, TridiagonalMethod::ptdma);
  auto through_y = std::make_unique<DiffusionInYPencils>(problem, fields, *ptdma);
  methods.push_back({"ptdma", std::move(ptdma)});
  methods.push_back({"ptdma, diffusion x-y-z", std::move(through_y)});
  methods.push_back({"transpose", std::make_unique<FromXPencils>(problem, fields, TridiagonalMethod::transpose)});
  methods.push_back({"transpose from z pencils", std::make_unique<FromZPencils>(problem)});
  measure(methods, problem, options.repeats);

  std::vector<Json> rows;
  JsonLines json(options.json);
  for (const Method& method : methods) {
    rows.push_back(row_of(method, options, settings, layout));
    json.write(rows.back());
  }
  run_on_root(MPI_COMM_WORLD, [&] {
    const auto& [nx, ny, nz] = settings.cells;
    fmt::print(
        "solve on {} x {} x {}, order {}, {} precision: three implicit diffusion problems along z, and the Poisson "
        "equation\n{} rank(s) as {} x {}, {}, {} z blocks, {}\n",
        nx, ny, nz, options.order, precision_name, layout.processes.size(), layout.processes.py, layout.processes.pz,
        layout.exchange.text(), settings.z_blocks, device::description());
    print_table(rows, {text_column("", 28, "tridiagonal"), time_column(), interval_column(95),
                       number_column("Poisson MB", 14, "poisson_megabytes", 3),
                       number_column("diffusion MB", 14, "diffusion_megabytes", 3)});
  });
  return ExitCode::success;
}

}  // namespace sluice
