#include <fmt/format.h>
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <numbers>
#include <string>

#include "core/device/flat_loops.hpp"
#include "core/device/memory.hpp"
#include "core/device/select.hpp"
#include "core/device/together.hpp"
#include "core/support/collective.hpp"
#include "poisson/tridiagonal/line_plan.hpp"
#include "src/bench/bench.hpp"
#include "src/bench/measure.hpp"
#include "src/bench/result.hpp"
#include "src/commands/commands.hpp"
#include "src/outputs/progress.hpp"
#include "src/run/energy_report.hpp"
#include "src/run/setup.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

namespace {

/// The benchmark channel: Re_tau near 180 in a box of 4 pi x 4 pi/3 x 2.
io::Case bench_case(const BenchOptions& options, std::int64_t nz) {
  io::Case settings;
  settings.title = "bench";
  settings.reynolds.value = 5714;
  settings.flow.viscosity = 2.0 / 5714;
  settings.flow.forcing = {ForcingKind::bulk_velocity, 1};
  settings.size = {4 * std::numbers::pi, 4 * std::numbers::pi / 3, 2};
  settings.cells = {options.cells()[0], options.cells()[1], nz};
  settings.stretching.kind = io::StretchingKind::tanh;
  settings.stretching.factor = 1.6;
  settings.time.cfl = 0.9;
  settings.flow.diffusion =
      options.what == "solve" ? Diffusion::implicit_z : io::from_name<Diffusion>(options.diffusion).value();
  settings.flow.order = options.order == 4 ? Order::fourth : Order::second;
  settings.flow.tridiagonal = io::from_name<TridiagonalMethod>(options.tridiagonal).value();
  for (int n = 0; n < options.scalars; ++n) {
    const ScalarWall cold{ScalarWallKind::value, Formula(0)};
    const ScalarWall warm{ScalarWallKind::value, Formula(1)};
    settings.flow.scalars.push_back({"scalar_" + std::to_string(n + 1), 0.71, cold, warm});
  }
  settings.z_blocks = options.z_blocks > 0 ? options.z_blocks : ZBlocks::default_count(nz);
  settings.exchange = ExchangeMethods::from_text(options.exchange);
  if (!options.process_grid.empty()) settings.process_grid = {options.process_grid[0], options.process_grid[1]};
  return settings;
}

/// A step of each member as in `sluice run`, including the choice of dt.
class StepWorkload : public Workload {
 public:
  StepWorkload(const io::Case& settings, const Layout& layout, int members) {
    for (int n = 0; n < members; ++n) {
      io::Case of_member = settings;
      of_member.initial.seed += static_cast<std::uint64_t>(n);
      Simulation& simulation = *members_.emplace_back(
          std::make_unique<Simulation>(of_member, make_grid(settings, ""), layout, MPI_COMM_WORLD));
      simulation.initialise();
      steps_.emplace_back([&simulation] { simulation.advance(); });
    }
  }
  void run() override { device::run_together(steps_); }
  /// Those of the first member, whose launches are those of all.
  PhaseTimers* timers() override { return &members_.front()->stepper.timers(); }
  std::vector<PieceTuning> piece_tuning() const override { return members_.front()->exchanges.set().piece_tuning(); }

 private:
  std::vector<std::unique_ptr<Simulation>> members_;
  std::vector<std::function<void()>> steps_;
};

/// The Poisson solver, or the z-Helmholtz solver of u, applied to a field of random numbers.
class SolverWorkload : public Workload {
 public:
  SolverWorkload(const io::Case& settings, const Layout& layout, bool poisson)
      : comm_(MPI_COMM_WORLD, layout.processes),
        decomposition_(settings.cells, comm_.processes(), settings.z_blocks),
        grid_(make_grid(settings, "")),
        exchanges_(layout.exchange, MPI_COMM_WORLD),
        field_(decomposition_.x_pencil(comm_.rank()), Location::center,
               poisson ? PoissonSolver::row_length(settings.cells[0]) : 0) {
    const FlowParameters& flow = settings.flow;
    if (poisson) {
      poisson_.emplace(comm_, decomposition_, PoissonSolver::Domain{grid_.dx(), grid_.dy(), grid_.z_nodes()},
                       flow.tridiagonal, exchanges_.set());
    } else {
      helmholtz_.emplace(comm_, decomposition_,
                         second_derivative_centers(grid_.z_nodes(), WallRow::dirichlet, WallRow::dirichlet),
                         flow.tridiagonal, exchanges_.set().columns);
      helmholtz_->prepare(flow.viscosity * grid_.dx() / 6);  // as in a third of a step of dx / U
    }
  }
  void prepare() override { fill_with_noise(field_.buffer().data(), field_.buffer().size()); }
  void run() override {
    if (poisson_) {
      poisson_->solve(field_, timers_);
    } else {
      const PhaseTimers::Scope scope(timers_, TimedPhase::tridiagonal);
      helmholtz_->solve(field_);
    }
  }
  PhaseTimers* timers() override { return &timers_; }
  std::vector<PieceTuning> piece_tuning() const override { return exchanges_.set().piece_tuning(); }

 private:
  Communicator comm_;
  Decomposition decomposition_;
  Grid grid_;
  Exchanges exchanges_;
  Field field_;
  std::optional<PoissonSolver> poisson_;
  std::optional<ZHelmholtzSolver> helmholtz_;
  PhaseTimers timers_;
};

std::unique_ptr<Workload> make_workload(const BenchOptions& options, const io::Case& settings, const Layout& layout) {
  if (options.what == "step") return std::make_unique<StepWorkload>(settings, layout, options.members);
  return std::make_unique<SolverWorkload>(settings, layout, options.what == "poisson");
}

struct Memory {
  double bytes_per_point = 0;
  double slope = 0;  ///< between the whole grid and one with half the planes
};

/// Of all members.
double points_of(const BenchOptions& options, const io::Case& settings) {
  return static_cast<double>(options.members * settings.cells[0] * settings.cells[1] * settings.cells[2]);
}

/// What a step or a solve moves.
PhaseWords words_of(const std::string& what, const io::Case& settings, const ProcessGrid& processes,
                    LineStrategy lines) {
  if (what == "step") return TimeStepper::words(settings.cells, processes, settings.flow, lines);
  if (what == "poisson") return PoissonSolver::words(settings.cells, processes, lines);
  return {{TimedPhase::tridiagonal, words_of(lines)}};
}

Json report(const BenchOptions& options, const io::Case& settings, const Layout& layout, const Spread& total,
            const PhaseTimes& times, const Memory& memory, double triad) {
  const double points = points_of(options, settings);
  const ProcessGrid& processes = layout.processes;
  const LineStrategy lines = line_strategy({settings.cells, processes, settings.z_blocks}, settings.flow.tridiagonal);
  const PhaseWords words = words_of(options.what, settings, processes, lines);
  Json json = new_result(options.what);
  json["cells"] = settings.cells;
  json["members"] = options.members;
  json["diffusion"] = options.diffusion;
  json["order"] = options.order;
  json["scalars"] = options.scalars;
  json["tridiagonal"] = options.tridiagonal;
  json["threads"] = 1;
  json["process_grid"] = {processes.py, processes.pz};
  json["exchange"] = layout.exchange.text();
  json["z_blocks"] = settings.z_blocks;
  json["z_lines"] = name(lines);
  json["repeats"] = options.repeats;
  json["ns_per_point_per_step"] = total.median / points * 1e9;
  json["ns_per_point_per_step_spread"] = {total.min / points * 1e9, total.max / points * 1e9};
  json["point_steps_per_second"] = points / total.median;
  json["bytes_per_point"] = memory.bytes_per_point;
  json["bytes_per_point_slope"] = memory.slope;
  json["triad_gb_per_s"] = triad;
  json["phases"] = Json::array();
  for (const auto& [phase, seconds] : times.phases) {
    const auto entry = words.find(phase);
    const double phase_words = entry == words.end() ? 0 : entry->second;
    Json& row = json["phases"].emplace_back(Json{{"name", name_of(phase)}});
    add_milliseconds(row, seconds);
    row["words"] = phase_words;
    row["fraction_of_bandwidth"] = phase_words * sizeof(real) * points / (seconds.median * triad * 1e9);
  }
  add_milliseconds(json, times.whole, "milliseconds_with_phases");
  return json;
}

void print(const BenchOptions& options, const Layout& layout, const PhaseTimes& times, const Json& json) {
  const ProcessGrid& processes = layout.processes;
  const std::string members = options.members > 1 ? fmt::format("{} members of ", options.members) : "";
  fmt::print("{} on {}{} x {} x {}, order {}, diffusion {}, {}, {} precision\n", options.what, members,
             options.cells()[0], options.cells()[1], options.cells()[2], options.order, options.diffusion,
             options.tridiagonal, precision_name);
  fmt::print("{} rank(s) as {} x {}, {}, {}\n", processes.size(), processes.py, processes.pz, layout.exchange.text(),
             device::description());
  const auto bandwidth = [](const Json& row) {
    return row.contains("words") ? fmt::format("{:.0f}%", 100 * row["fraction_of_bandwidth"].get<double>()) : "";
  };
  std::vector<Json> rows = json["phases"];
  add_milliseconds(rows.emplace_back(Json{{"name", "whole, phases timed"}}), times.whole);
  print_table(rows, {text_column("phase", 24, "name"),
                     time_column(),
                     number_column("words", 8, "words", 0),
                     {"bandwidth", 12, bandwidth}});
  const auto number = [](const Json& value) { return value.get<double>(); };
  const Json& spread = json["ns_per_point_per_step_spread"];
  fmt::print("{} ns per point per step (median of {}; {} to {}), {:.3e} point-steps per second\n",
             readable_nanoseconds(number(json["ns_per_point_per_step"])), options.repeats,
             readable_nanoseconds(number(spread[0])), readable_nanoseconds(number(spread[1])),
             number(json["point_steps_per_second"]));
  fmt::print("{:.1f} bytes per point resident, {:.1f} by the slope between two grids; triad {:.1f} GB/s\n",
             number(json["bytes_per_point"]), number(json["bytes_per_point_slope"]), number(json["triad_gb_per_s"]));
}

/// The same channel with half the planes, for the slope: its points and its memory.
std::pair<double, double> half_grid_memory(const BenchOptions& options, const Layout& layout) {
  BenchOptions half = options;
  const std::int64_t nz = std::max<std::int64_t>(2, options.cells()[2] / 2);
  half.z_blocks =
      std::max(layout.processes.pz, options.z_blocks > 0 ? options.z_blocks / 2 : ZBlocks::default_count(nz));
  const io::Case settings = bench_case(half, nz);
  const std::unique_ptr<Workload> workload = make_workload(half, settings, layout);
  workload->prepare();
  workload->run();
  return {points_of(half, settings), resident_bytes()};
}

}  // namespace

ExitCode command_bench(const BenchOptions& options) {
  if (options.what == "links") return bench_links(options);
  if (options.what == "checkpoint") return bench_checkpoint(options);
  if (!options.study.empty()) return bench_fft_study(options);
  if (options.what == "transpose" || options.what == "fft") return bench_round_trips(options);
  if (options.grids.size() > 1) {
    throw Error(ExitCode::usage,
                fmt::format("bench {}: one --grid at a time; only transpose and fft take several", options.what));
  }
  if (options.members > 1 && size_of(MPI_COMM_WORLD) > 1)
    throw Error(ExitCode::usage, fmt::format("bench step --members: the flows share one process, but {} were started: "
                                             "start one",
                                             size_of(MPI_COMM_WORLD)));
  device::select(MPI_COMM_WORLD);
  const io::Case settings = bench_case(options, options.cells()[2]);
  const Tuning tuning = tune(settings, make_grid(settings, ""), settings.flow, std::nullopt, MPI_COMM_WORLD);
  const Layout& layout = tuning.chosen;
  if (options.what == "samples") return bench_samples(options, settings, layout);
  if (options.what == "solve") return bench_solve(options, settings, layout);
  const double triad = triad_gb_per_s();
  const auto [half_points, half_bytes] = half_grid_memory(options, layout);

  const std::unique_ptr<Workload> workload = make_workload(options, settings, layout);
  run_until_tuned(*workload);
  const Spread total =
      spread_of_repeats(std::max(2, options.repeats / 10), options.repeats, [&] { return seconds_of_run(*workload); });
  std::string energy_line;
  Json energy;
  if (options.what == "step") {
    const RunsWithEnergy measured = measure_energy(*workload, total.median);
    const EnergyUse use{measured.runs * points_of(options, settings)};
    energy_line = energy_text(measured.energy, use);
    energy = energy_entry(measured.energy, use);
  }
  // The phases in separate repeats, because timing them costs time on a GPU.
  const PhaseTimes times = time_phases(*workload, std::max(3, options.repeats / 2));
  const double bytes = resident_bytes();
  const double points = points_of(options, settings);
  const Memory memory{bytes / points, (bytes - half_bytes) / (points - half_points)};

  Json json = report(options, settings, layout, total, times, memory, triad);
  if (!energy.is_null()) json["energy"] = energy;
  add_pieces(json, workload->piece_tuning());
  run_on_root(MPI_COMM_WORLD, [&] {
    for (const std::string& line : table_lines(tuning)) fmt::print("{}\n", line);
    print(options, layout, times, json);
    if (!energy_line.empty()) fmt::print("{}\n", energy_line);
    for (const Json& note : json.value("notes", Json::array())) fmt::print("{}\n", note.get<std::string>());
    write_json(options.json, json);
  });
  return ExitCode::success;
}

}  // namespace sluice
