#include "src/bench/round_trip.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <utility>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "src/bench/result.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

namespace {

std::unique_ptr<RoundTrip> make_workload(const BenchOptions& options, const RoundTripSetup& setup, Exchange& exchange) {
  return options.what == "fft" ? make_fft(options, setup, exchange) : make_transpose(options, setup, exchange);
}

/// Adds the medians of each direction, from round trips with a synchronisation in between.
void add_directions(Json& row, RoundTrip& workload, int repeats) {
  std::vector<double> forward, backward;
  for (int n = 0; n < repeats; ++n) {
    workload.prepare();
    forward.push_back(seconds_of([&] { workload.forward(); }));
    backward.push_back(seconds_of([&] { workload.backward(); }));
  }
  row["milliseconds_there"] = spread_of(forward).median * 1e3;
  row["milliseconds_back"] = spread_of(backward).median * 1e3;
}

/// Stops repeating at the time limit of a setup. The first round trip does not count: a library may connect the ranks
/// in it. A setup that cannot be made is also a row of the result.
Json measure(const BenchOptions& options, const RoundTripSetup& setup) {
  Json row{{"kind", setup.kind},
           {"layout", setup.layout},
           {"process_grid", {setup.processes.py, setup.processes.pz}},
           {"exchange", setup.exchange}};
  std::unique_ptr<Exchange> exchange;
  std::unique_ptr<RoundTrip> workload;
  try {
    exchange = make_exchange(setup.exchange, MPI_COMM_WORLD);
    workload = make_workload(options, setup, *exchange);
  } catch (const Error& error) {  // the same on all ranks
    if (error.code() != ExitCode::resources) throw;
    row["fault"] = error.what();
    return row;
  }
  const double bytes_sent = max_of_ranks(workload->bytes_sent());
  std::vector<double> seconds;
  double spent = 0;
  for (int n = 0; n < options.warm_up + options.repeats; ++n) {
    if (n > 0 && spent > options.time_limit && !seconds.empty()) break;
    const double time = seconds_of_run(*workload);
    if (n > 0) spent += time;
    if (n >= options.warm_up || spent > options.time_limit) seconds.push_back(time);
  }
  const Spread round_trip = spread_of(seconds);
  add_milliseconds(row, round_trip);
  row["repeats"] = seconds.size();
  row["gb_per_s"] = bytes_sent / round_trip.median * 1e-9;
  row["tflops"] = workload->operations() / round_trip.median * 1e-12;
  row["phases"] = Json::array();
  if (spent > options.time_limit) return row;
  const int fewer = std::max(3, options.repeats / 2);
  add_directions(row, *workload, fewer);
  if (workload->timers() == nullptr) return row;
  for (const PhaseTimes::Phase& phase : time_phases(*workload, fewer, max_of_ranks).phases) {
    Json& entry = row["phases"].emplace_back(Json{{"name", phase.name}});
    add_milliseconds(entry, phase.seconds);
  }
  return row;
}

void print(const BenchOptions& options, const std::vector<Json>& results) {
  fmt::print("{} on {} x {} x {}, {} precision, {} rank(s), {}: round trips\n", options.what, options.cells[0],
             options.cells[1], options.cells[2], precision_name, size_of(MPI_COMM_WORLD), device::description());
  const auto process_grid = [](const Json& row) {
    return fmt::format("{} x {}", row["process_grid"][0].get<int>(), row["process_grid"][1].get<int>());
  };
  print_table(results, {text_column(options.what == "fft" ? "split" : "between", 12, "kind"),
                        text_column("layout", 12, "layout"),
                        {"py x pz", 8, process_grid, true},
                        text_column("exchange", 16, "exchange"),
                        time_column(),
                        number_column("forward", 10, "milliseconds_there", 3),
                        number_column("backward", 10, "milliseconds_back", 3),
                        number_column("GB/s", 10, "gb_per_s", 2),
                        number_column("TFLOPS", 9, "tflops", 3)});
  fmt::print("GB/s: what the rank that sends the most sends, over the time of a round trip\n");
}

std::vector<RoundTripSetup> setups_of(const BenchOptions& options) {
  const std::vector<std::string> methods =
      options.all && options.exchange == "auto"
          ? exchange_methods()
          : std::vector{options.exchange == "auto" ? exchange_candidates(MPI_COMM_WORLD).front() : options.exchange};
  const int ranks = size_of(MPI_COMM_WORLD);
  std::vector<RoundTripSetup> setups;
  for (RoundTripSetup setup : options.what == "fft" ? fft_setups(options, ranks) : transpose_setups(options, ranks)) {
    for (const std::string& method : methods) {
      setup.exchange = method;
      setups.push_back(setup);
    }
  }
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
  std::vector<Json> results;
  for (const RoundTripSetup& setup : setups_of(options)) results.push_back(measure(options, setup));
  std::ranges::stable_sort(
      results, {}, [](const Json& row) { return std::pair(row.contains("fault"), row.value("milliseconds", 0.0)); });
  run_on_root(MPI_COMM_WORLD, [&] {
    Json json = new_result(options.what);
    json["cells"] = options.cells;
    json["warm_up"] = options.warm_up;
    json["results"] = results;
    print(options, results);
    write_json(options.json, json);
  });
  if (results.front().contains("fault"))  // they are last: none worked
    throw Error(ExitCode::resources, results.front()["fault"].get<std::string>());
  return ExitCode::success;
}

}  // namespace sluice
