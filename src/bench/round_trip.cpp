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

/// A setup that cannot be made is also a row of the result.
Json row_of(const BenchOptions& options, const RoundTripSetup& setup) {
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
  measure(options, *workload, row);
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
                        number_column("TFLOPS", 9, "tflops", 3),
                        error_column()});
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
  for (const RoundTripSetup& setup : setups_of(options)) results.push_back(row_of(options, setup));
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
  const auto wrong = std::ranges::count_if(results, is_wrong);
  if (wrong > 0) {
    throw Error(ExitCode::numerics, fmt::format("bench {}: {} of {} setups gave wrong results; the table shows which",
                                                options.what, wrong, results.size()));
  }
  if (results.front().contains("fault"))  // they are last: none worked
    throw Error(ExitCode::resources, results.front()["fault"].get<std::string>());
  return ExitCode::success;
}

}  // namespace sluice
