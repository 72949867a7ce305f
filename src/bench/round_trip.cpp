#include "src/bench/round_trip.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "src/bench/json_file.hpp"
#include "src/bench/sample.hpp"
#include "src/run/provenance.hpp"
#include "src/run/setup.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

namespace {

struct PhaseSpread {
  std::string name;
  Spread seconds;
};

/// Seconds of each direction, from round trips with a synchronisation in between.
struct Directions {
  Spread forward, backward;
};

/// A measured setup, or the reason why it was not measured.
struct MeasuredSetup {
  RoundTripSetup setup;
  Spread round_trip;  ///< seconds
  std::optional<Directions> directions;
  int repeats = 0;
  double bytes_sent = 0;  ///< maximum over ranks
  double operations = 0;
  std::vector<PhaseSpread> phases;
  std::string fault;  ///< empty if it worked
};

double largest_of_ranks(double value) {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return value;
}

/// Time from a barrier until all ranks are done: the maximum over ranks, so that all take the same decisions from it.
template <class Action>
double time_of(const Action& action) {
  device::synchronize();
  check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
  const double start = wall_seconds();
  action();
  device::synchronize();
  return largest_of_ranks(wall_seconds() - start);
}

double time_once(RoundTrip& workload) {
  workload.prepare();
  return time_of([&] {
    workload.forward();
    workload.backward();
  });
}

Directions measure_directions(RoundTrip& workload, int repeats) {
  std::vector<double> forward, backward;
  for (int n = 0; n < repeats; ++n) {
    workload.prepare();
    forward.push_back(time_of([&] { workload.forward(); }));
    backward.push_back(time_of([&] { workload.backward(); }));
  }
  return {spread_of(forward), spread_of(backward)};
}

std::vector<PhaseSpread> measure_phases(RoundTrip& workload, int repeats) {
  PhaseTimers* const timers = workload.timers();
  if (timers == nullptr) return {};
  std::vector<std::string> order;
  std::vector<std::vector<double>> seconds;
  timers->enable();
  for (int n = 0; n < repeats; ++n) {
    timers->reset();
    time_once(workload);
    for (const auto& phase : timers->phases()) {
      const auto known = std::ranges::find(order, phase.name);
      const auto at = static_cast<std::size_t>(known - order.begin());
      if (known == order.end()) {
        order.push_back(phase.name);
        seconds.emplace_back();
      }
      seconds[at].push_back(largest_of_ranks(phase.seconds));
    }
  }
  std::vector<PhaseSpread> phases;
  for (std::size_t n = 0; n < order.size(); ++n) phases.push_back({order[n], spread_of(seconds[n])});
  return phases;
}

std::unique_ptr<RoundTrip> make_workload(const BenchOptions& options, const RoundTripSetup& setup, Exchange& exchange) {
  return options.what == "fft" ? make_fft(options, setup, exchange) : make_transpose(options, setup, exchange);
}

/// Stops repeating at the time limit of a setup. The first round trip does not count: a library may connect the ranks
/// in it. A setup that cannot be made is also a line of the table.
MeasuredSetup measure(const BenchOptions& options, const RoundTripSetup& setup) {
  MeasuredSetup result;
  result.setup = setup;
  std::unique_ptr<Exchange> exchange;
  std::unique_ptr<RoundTrip> workload;
  try {
    exchange = make_exchange(setup.exchange, MPI_COMM_WORLD);
    workload = make_workload(options, setup, *exchange);
  } catch (const Error& error) {  // the same on all ranks
    if (error.code() != ExitCode::resources) throw;
    result.fault = error.what();
    return result;
  }
  result.bytes_sent = largest_of_ranks(workload->bytes_sent());
  result.operations = workload->operations();
  std::vector<double> seconds;
  double spent = 0;
  for (int n = 0; n < options.warm_up + options.repeats; ++n) {
    if (n > 0 && spent > options.time_limit && !seconds.empty()) break;
    const double time = time_once(*workload);
    if (n > 0) spent += time;
    if (n >= options.warm_up || spent > options.time_limit) seconds.push_back(time);
  }
  result.round_trip = spread_of(seconds);
  result.repeats = static_cast<int>(seconds.size());
  if (spent <= options.time_limit) {
    const int fewer = std::max(3, options.repeats / 2);
    result.directions = measure_directions(*workload, fewer);
    result.phases = measure_phases(*workload, fewer);
  }
  return result;
}

double gb_per_s(const MeasuredSetup& result) {
  return result.bytes_sent / result.round_trip.median * 1e-9;
}

double tflops(const MeasuredSetup& result) {
  return result.operations / result.round_trip.median * 1e-12;
}

void print(const BenchOptions& options, const std::vector<MeasuredSetup>& results) {
  fmt::print("{} on {} x {} x {}, {} precision, {} rank(s), {}: round trips\n", options.what, options.cells[0],
             options.cells[1], options.cells[2], precision_name, size_of(MPI_COMM_WORLD), device::description());
  fmt::print("{:<12}{:<12}{:<8}{:<16}{:>10}{:>22}{:>10}{:>10}{:>10}{:>9}\n",
             options.what == "fft" ? "split" : "between", "layout", "py x pz", "exchange", "ms", "min to max",
             "forward", "backward", "GB/s", "TFLOPS");
  for (const MeasuredSetup& result : results) {
    const RoundTripSetup& setup = result.setup;
    const std::string way = fmt::format("{:<12}{:<12}{:<8}{:<16}", setup.kind, setup.layout,
                                        fmt::format("{} x {}", setup.processes.py, setup.processes.pz), setup.exchange);
    if (!result.fault.empty()) {
      fmt::print("{}{}\n", way, result.fault);
      continue;
    }
    const auto in_ms = [&](Spread Directions::*half) {
      return result.directions ? fmt::format("{:.3f}", (*result.directions.*half).median * 1e3) : "";
    };
    fmt::print("{}{:>10.3f}{:>11.3f}{:>11.3f}{:>10}{:>10}{:>10.2f}{:>9.3f}\n", way, result.round_trip.median * 1e3,
               result.round_trip.min * 1e3, result.round_trip.max * 1e3, in_ms(&Directions::forward),
               in_ms(&Directions::backward), gb_per_s(result), tflops(result));
    for (const PhaseSpread& phase : result.phases)
      fmt::print("  {:<46}{:>10.3f}{:>11.3f}{:>11.3f}\n", phase.name, phase.seconds.median * 1e3,
                 phase.seconds.min * 1e3, phase.seconds.max * 1e3);
  }
  fmt::print("GB/s: what the rank that sends the most sends, over the time of a round trip\n");
}

nlohmann::ordered_json report(const BenchOptions& options, const std::vector<MeasuredSetup>& results) {
  nlohmann::ordered_json json;
  json["what"] = options.what;
  json["cells"] = options.cells;
  json["precision"] = precision_name;
  json["device"] = device::description();
  json["version"] = version();
  json["git_revision"] = git_revision();
  json["ranks"] = size_of(MPI_COMM_WORLD);
  json["warm_up"] = options.warm_up;
  json["results"] = nlohmann::ordered_json::array();
  for (const MeasuredSetup& result : results) {
    const RoundTripSetup& setup = result.setup;
    nlohmann::ordered_json entry{{"kind", setup.kind},
                                 {"layout", setup.layout},
                                 {"process_grid", {setup.processes.py, setup.processes.pz}},
                                 {"exchange", setup.exchange}};
    if (!result.fault.empty()) {
      entry["fault"] = result.fault;
    } else {
      entry["milliseconds"] = result.round_trip.median * 1e3;
      entry["milliseconds_spread"] = {result.round_trip.min * 1e3, result.round_trip.max * 1e3};
      if (result.directions) {
        entry["milliseconds_there"] = result.directions->forward.median * 1e3;
        entry["milliseconds_back"] = result.directions->backward.median * 1e3;
      }
      entry["repeats"] = result.repeats;
      entry["gb_per_s"] = gb_per_s(result);
      entry["tflops"] = tflops(result);
      entry["phases"] = nlohmann::ordered_json::array();
      for (const PhaseSpread& phase : result.phases)
        entry["phases"].push_back({{"name", phase.name}, {"milliseconds", phase.seconds.median * 1e3}});
    }
    json["results"].push_back(entry);
  }
  return json;
}

std::vector<RoundTripSetup> setups_of(const BenchOptions& options) {
  const std::vector<std::string> methods =
      options.all && options.exchange == "auto"
          ? exchange_methods()
          : std::vector{options.exchange == "auto" ? exchange_candidates(MPI_COMM_WORLD).front() : options.exchange};
  const int ranks = size_of(MPI_COMM_WORLD);
  std::vector<RoundTripSetup> setups =
      options.what == "fft" ? fft_setups(options, ranks, methods) : transpose_setups(options, ranks, methods);
  if (setups.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("bench {}: nothing is exchanged between {} rank(s) that way; start it with "
                            "mpirun -n 2 or more, or leave --process-grid and --kind open",
                            options.what, ranks));
  }
  if (!options.all) setups.resize(1);
  return setups;
}

}  // namespace

ExitCode bench_round_trips(const BenchOptions& options) {
  select_device(MPI_COMM_WORLD);
  std::vector<MeasuredSetup> results;
  for (const RoundTripSetup& setup : setups_of(options)) results.push_back(measure(options, setup));
  std::ranges::stable_sort(results, {}, [](const MeasuredSetup& result) {
    return std::pair(!result.fault.empty(), result.round_trip.median);
  });
  run_on_root(MPI_COMM_WORLD, [&] {
    print(options, results);
    write_json(options.json, report(options, results));
  });
  if (std::ranges::none_of(results, [](const MeasuredSetup& result) { return result.fault.empty(); }))
    throw Error(ExitCode::resources, results.front().fault);
  return ExitCode::success;
}

}  // namespace sluice
