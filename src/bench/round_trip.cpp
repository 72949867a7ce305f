#include "src/bench/round_trip.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

namespace {

void print(const BenchOptions& options, const Cells& cells, const std::vector<Json>& rows) {
  fmt::print("{} on {} x {} x {}, {} precision, {} rank(s), {}: round trips\n", options.what, cells[0], cells[1],
             cells[2], precision_name, size_of(MPI_COMM_WORLD), device::description());
  const auto process_grid = [](const Json& row) {
    return fmt::format("{} x {}", row["process_grid"][0].get<int>(), row["process_grid"][1].get<int>());
  };
  std::size_t width = 16;
  for (const Json& row : rows) width = std::max(width, row["exchange"].get<std::string>().size() + 2);
  std::vector<Column> columns{text_column(options.what == "fft" ? "split" : "between", 12, "kind"),
                              text_column("layout", 12, "layout"),
                              {"py x pz", 8, process_grid, true},
                              text_column("exchange", width, "exchange"),
                              time_column(),
                              number_column("forward", 10, "milliseconds_forward", 3),
                              number_column("backward", 10, "milliseconds_backward", 3),
                              number_column("GB/s", 10, "gb_per_s", 2)};
  if (options.what == "fft") columns.push_back(number_column("TFLOPS", 9, "tflops", 3));
  columns.push_back(error_column());
  print_table(rows, columns);
  fmt::print("GB/s: what the rank that sends the most sends, over the time of a round trip\n");
  for (const Json& row : rows) {
    if (!row.value("chosen", false)) continue;
    fmt::print("auto chose {} for {} {}, {}\n", row["exchange"].get<std::string>(), row["kind"].get<std::string>(),
               row["layout"].get<std::string>(), process_grid(row));
  }
}

std::vector<RoundTripSetup> setups_of(const BenchOptions& options, const Cells& cells) {
  const int ranks = size_of(MPI_COMM_WORLD);
  std::vector<RoundTripSetup> setups =
      options.what == "fft" ? fft_setups(options, cells, ranks) : transpose_setups(options, cells, ranks);
  if (setups.empty() && (options.kind == "cufft" || options.kind == "fftw")) {
    throw Error(
        ExitCode::usage,
        fmt::format("bench {}: no transform by {} on {} rank(s); `bench fft` has cufft in GPU builds, and fftw on "
                    "one rank in CPU builds",
                    options.what, options.kind, ranks));
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

bool RoundTripSetup::uses(const ExchangeMethods::Kind& kind_of_traffic) const {
  if (kind_of_traffic.method == &ExchangeMethods::rows) return uses_rows;
  return kind_of_traffic.method == &ExchangeMethods::columns && uses_columns;
}

std::string RoundTripSetup::exchange_text() const {
  if (!uses_rows && !uses_columns) return "none";
  if (!uses_rows) return exchange.columns;
  if (!uses_columns || exchange.rows == exchange.columns) return exchange.rows;
  return fmt::format("rows={},columns={}", exchange.rows, exchange.columns);
}

ExitCode bench_round_trips(const BenchOptions& options) {
  select_device(MPI_COMM_WORLD);
  JsonLines json(options.json);
  std::size_t worked = 0, wrong = 0, count = 0;
  std::string fault;
  for (const Cells& cells : options.grids) {
    std::vector<Json> rows;
    for (const RoundTripSetup& setup : setups_of(options, cells)) {
      for (Json& row : measure_methods(options, setup)) {
        json.write(row);
        rows.push_back(std::move(row));
      }
    }
    std::ranges::stable_sort(
        rows, {}, [](const Json& row) { return std::pair(row.contains("fault"), row.value("milliseconds", 0.0)); });
    run_on_root(MPI_COMM_WORLD, [&] { print(options, cells, rows); });
    for (const Json& row : rows) {
      ++count;
      if (is_wrong(row)) ++wrong;
      if (!row.contains("fault"))
        ++worked;
      else if (fault.empty())
        fault = row["fault"].get<std::string>();
    }
  }
  if (wrong > 0) {
    throw Error(ExitCode::numerics, fmt::format("bench {}: {} of {} setups gave wrong results; the table shows which",
                                                options.what, wrong, count));
  }
  if (worked == 0) throw Error(ExitCode::resources, fault);
  return ExitCode::success;
}

}  // namespace sluice
