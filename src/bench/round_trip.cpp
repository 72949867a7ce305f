#include "src/bench/round_trip.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/device/memory.hpp"
#include "core/device/select.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "src/run/piece_report.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

namespace {

/// Adds the times of each direction, from round trips with a synchronisation in between.
void add_directions(Json& row, RoundTrip& workload, int repeats) {
  std::vector<double> forward, backward;
  for (int n = 0; n < repeats; ++n) {
    workload.prepare();
    forward.push_back(seconds_of([&] { workload.forward(); }));
    backward.push_back(seconds_of([&] { workload.backward(); }));
  }
  add_milliseconds(row, spread_of(forward), "milliseconds_forward");
  add_milliseconds(row, spread_of(backward), "milliseconds_backward");
}

/// Adds the times of each part by name, and of the parts of each phase together, on the slowest rank; nothing if the
/// workload does not time them. Leaves out parts that take no time.
void add_parts(Json& row, RoundTrip& workload, int repeats) {
  using Part = DistributedFft::Part;
  constexpr std::array phases{TimedPhase::fft, TimedPhase::packing, TimedPhase::communication};
  if (workload.parts().empty()) return;
  std::vector<std::string> names;
  std::vector<std::vector<double>> samples;  // of the phases, then of the parts
  std::vector<double> whole;
  for (int n = 0; n < repeats; ++n) {
    workload.restart_timers();
    whole.push_back(seconds_of_run(workload));
    const std::vector<Part> parts = workload.parts();
    std::vector<double> seconds;
    for (const TimedPhase phase : phases) {
      double& sum = seconds.emplace_back(0);
      for (const Part& part : parts) sum += part.phase == phase ? part.seconds : 0;
    }
    names.clear();
    for (const Part& part : parts) {
      names.push_back(part.name);
      seconds.push_back(part.seconds);
    }
    seconds = max_of_ranks(seconds);
    samples.resize(seconds.size());
    for (std::size_t m = 0; m < seconds.size(); ++m) samples[m].push_back(seconds[m]);
  }
  for (std::size_t m = 0; m < samples.size(); ++m) {
    const Spread spread = spread_of(samples[m]);
    if (spread.max == 0) continue;
    const bool is_phase = m < phases.size();
    Json& list = row[is_phase ? "phases" : "parts"];
    add_milliseconds(list.emplace_back(Json{{"name", is_phase ? name_of(phases[m]) : names[m - phases.size()]}}),
                     spread);
    if (is_phase && phases[m] == TimedPhase::communication)
      row["communication_fraction"] = std::min(1.0, spread.median / spread_of(whole).median);
  }
}

/// Round trips that do not count: libraries connect the ranks in the first, and a method that tunes its pieces needs
/// dozens. Returns their number.
int warm_up(const BenchOptions& options, RoundTrip& workload) {
  constexpr int usual = 3;
  constexpr int max_tuning = 200;    // should exchanges become slower, tuning begins again
  constexpr double tuning_time = 6;  // times the time limit
  double spent = 0;
  int count = 0;
  const auto another = [&] {
    if (options.warm_up) return count < *options.warm_up && (count < 2 || spent <= options.time_limit);
    if (count < usual && (count < 2 || spent <= options.time_limit)) return true;
    return count < max_tuning && spent <= tuning_time * options.time_limit && is_tuning(workload.piece_tuning());
  };
  for (; another(); ++count) {
    const double seconds = seconds_of_run(workload);
    if (count > 0) spent += seconds;
  }
  return count;
}

double rounded(double value) {
  return std::round(value * 1e4) / 1e4;
}

/// Round trips in a row: when each began, its time, and during which of them pieces were tuned.
class Series {
 public:
  explicit Series(RoundTrip& workload) : workload_(&workload) { follow_tuning(); }

  void run() {
    began_.push_back(wall_seconds());
    seconds_.push_back(seconds_of_run(*workload_));
    follow_tuning();
  }
  const std::vector<double>& seconds() const { return seconds_; }

  Json json() const {
    Json series{{"begin", rounded(begin_)}, {"at_seconds", Json::array()}, {"milliseconds", Json::array()}};
    for (std::size_t n = 0; n < seconds_.size(); ++n) {
      series["at_seconds"].push_back(rounded(began_[n] - first_));
      series["milliseconds"].push_back(rounded(seconds_[n] * 1e3));
    }
    series["tuning"] = tuning_;
    if (is_tuning_) series["tuning"].back()["end"] = seconds_.size();
    return series;
  }

 private:
  void follow_tuning() {
    const std::vector<PieceTuning> tuning = workload_->piece_tuning();
    const bool is_tuning = !std::ranges::all_of(tuning, &PieceTuning::ended);
    if (is_tuning == std::exchange(is_tuning_, is_tuning)) return;
    if (is_tuning) {
      tuning_.push_back({{"begin", seconds_.size()}});
    } else {
      tuning_.back()["end"] = seconds_.size();
      tuning_.back()["chosen"] = piece_lines(tuning);
    }
  }

  RoundTrip* workload_;
  double begin_ = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  double first_ = wall_seconds();
  std::vector<double> began_, seconds_;
  Json tuning_ = Json::array();
  bool is_tuning_ = false;
};

/// Stops repeating at the time limit of a setup, unless it is a series.
void add_times(const BenchOptions& options, RoundTrip& workload, Json& row) {
  const double bytes_sent = max_of_ranks(workload.bytes_sent());
  row["warm_up"] = warm_up(options, workload);
  Series series(workload);
  const bool is_series = options.series > 0;
  double spent = 0;
  while (std::ssize(series.seconds()) < (is_series ? options.series : options.repeats) &&
         (is_series || spent <= options.time_limit)) {
    series.run();
    spent += series.seconds().back();
  }
  const Spread round_trip = spread_of(series.seconds());
  add_milliseconds(row, round_trip);
  row["repeats"] = series.seconds().size();
  if (is_series) row["series"] = series.json();
  if (bytes_sent >= 0) {
    row["bytes_sent"] = bytes_sent;
    row["gb_per_s"] = bytes_sent / round_trip.median * 1e-9;
  }
  if (const double bytes = max_of_ranks(workload.bytes_held()); bytes > 0) row["bytes_held"] = bytes;
  if (workload.operations() > 0) row["tflops"] = workload.operations() / round_trip.median * 1e-12;
  if (spent > options.time_limit) return;
  const int fewer = std::max(3, options.repeats / 2);
  add_directions(row, workload, fewer);
  add_parts(row, workload, fewer);
}

/// Of errors over points_of(cells), relative to the largest value.
double bound_of_errors(const Cells& cells) {
  constexpr double bound_per_level = 4.0;  // measured: at most 0.7, for prime sizes
  return bound_per_level * std::numeric_limits<real>::epsilon() * std::max(4.0, std::log2(points_of(cells)));
}

Check check_of(const char* what, double error, const Deviation& deviation, const Cells& cells) {
  Check check{error, ""};
  const double bound = bound_of_errors(cells);
  const auto& where = deviation.where;
  if (!(error <= bound)) {
    check.fault = fmt::format("wrong {}: relative error {:.2g} at ({}, {}, {}), above {:.2g}", what, error, where[0],
                              where[1], where[2], bound);
  }
  return check;
}

}  // namespace

Check check_transform(RoundTrip& transform, real* values, const Box3& box, const Cells& cells, std::uint64_t seed) {
  const KnownField field(seed, cells);
  const View3<real> view = contiguous_view(values, box.nx(), box.ny(), box.nz());
  field.write(view, box);
  transform.run();
  return check_of_error(field.deviation(view, box, points_of(cells)), cells);
}

Check check_of_error(const Deviation& deviation, const Cells& cells) {
  constexpr double max_value = 0.5;  // of a known field
  return check_of("result", deviation.error / max_value, deviation, cells);
}

Check check_of_coefficients(const Deviation& deviation, const Cells& cells) {
  return check_of("coefficient", deviation.error, deviation, cells);
}

void measure(const BenchOptions& options, RoundTrip& workload, Json& row) {
  Check all;
  std::optional<double> of_coefficients;
  const auto add = [&all](const Check& check) {
    all.error = std::max(all.error, check.error);
    if (all.fault.empty()) all.fault = check.fault;
  };
  const auto check = [&](std::uint64_t seed) {
    if (const std::optional<Check> coefficients = workload.check_coefficients(seed)) {
      add(*coefficients);
      of_coefficients = std::max(of_coefficients.value_or(0), coefficients->error);
    }
    add(workload.check(seed));
  };
  check(1);
  row["phases"] = Json::array();
  add_times(options, workload, row);
  add_pieces(row, workload.piece_tuning());
  for (const Json& tuning : row.contains("series") ? row["series"]["tuning"] : Json::array())
    row["notes"].push_back(
        fmt::format("tuning from round trip {} to {}", tuning["begin"].get<int>(), tuning["end"].get<int>()));
  check(2);
  row["error"] = all.error;
  if (of_coefficients) row["coefficient_error"] = *of_coefficients;
  if (!all.fault.empty()) row["fault"] = all.fault;
}

bool is_wrong(const Json& row) {
  return row.contains("fault") && row.contains("error");
}

namespace {

/// The fastest row comes first; only its parts are shown by name.
void print(const BenchOptions& options, const Cells& cells, std::vector<Json> rows) {
  for (std::size_t n = 1; n < rows.size(); ++n) rows[n].erase("parts");
  const std::string fields =
      options.what == "fft" ? fmt::format(" of {} {} field(s)", options.fields, options.values) : "";
  fmt::print("{} on {} x {} x {}, {} precision, {} rank(s), {}: round trips{}\n", options.what, cells[0], cells[1],
             cells[2], precision_name, size_of(MPI_COMM_WORLD), device::description(), fields);
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
                              interval_column(95),
                              interval_column(99),
                              number_column("forward", 10, "milliseconds_forward", 3),
                              number_column("backward", 10, "milliseconds_backward", 3),
                              number_column("GB/s", 10, "gb_per_s", 2)};
  if (options.what == "fft") columns.push_back(number_column("TFLOPS", 9, "tflops", 3));
  columns.push_back(error_column());
  print_table(rows, columns);
  fmt::print("GB/s: bytes sent by the rank that sends the most, divided by the time of a round trip\n");
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
        fmt::format("bench {}: no transform by {} of {} {} field(s) on {} rank(s); `bench fft` has cufft in GPU "
                    "builds, and fftw on one rank in CPU builds, both of one real field",
                    options.what, options.kind, options.fields, options.values, ranks));
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
  device::select(MPI_COMM_WORLD);
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
