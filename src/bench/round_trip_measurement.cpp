// Times a round trip and checks its result.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/support/error.hpp"
#include "src/bench/round_trip.hpp"

namespace sluice {

namespace {

/// Adds the medians of each direction, from round trips with a synchronisation in between.
void add_directions(Json& row, RoundTrip& workload, int repeats) {
  std::vector<double> forward, backward;
  for (int n = 0; n < repeats; ++n) {
    workload.prepare();
    forward.push_back(seconds_of([&] { workload.forward(); }));
    backward.push_back(seconds_of([&] { workload.backward(); }));
  }
  row["milliseconds_forward"] = spread_of(forward).median * 1e3;
  row["milliseconds_backward"] = spread_of(backward).median * 1e3;
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

/// Stops repeating at the time limit of a setup.
void add_times(const BenchOptions& options, RoundTrip& workload, Json& row) {
  const double bytes_sent = max_of_ranks(workload.bytes_sent());
  row["warm_up"] = warm_up(options, workload);
  std::vector<double> seconds;
  double spent = 0;
  while (seconds.size() < static_cast<std::size_t>(options.repeats) && spent <= options.time_limit) {
    seconds.push_back(seconds_of_run(workload));
    spent += seconds.back();
  }
  const Spread round_trip = spread_of(seconds);
  add_milliseconds(row, round_trip);
  row["repeats"] = seconds.size();
  if (bytes_sent >= 0) {
    row["bytes_sent"] = bytes_sent;
    row["gb_per_s"] = bytes_sent / round_trip.median * 1e-9;
  }
  if (const double bytes = max_of_ranks(workload.bytes_held()); bytes > 0) row["bytes_held"] = bytes;
  if (workload.operations() > 0) row["tflops"] = workload.operations() / round_trip.median * 1e-12;
  if (spent > options.time_limit) return;
  const int fewer = std::max(3, options.repeats / 2);
  add_directions(row, workload, fewer);
  if (workload.timers() == nullptr) return;
  const PhaseTimes times = time_phases(workload, fewer, max_of_ranks);
  for (const PhaseTimes::Phase& phase : times.phases) {
    Json& entry = row["phases"].emplace_back(Json{{"name", name_of(phase.phase)}});
    add_milliseconds(entry, phase.seconds);
    if (phase.phase == TimedPhase::communication)
      row["communication_fraction"] = std::min(1.0, phase.seconds.median / times.whole.median);
  }
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
  constexpr double max_value = 0.5;        // of a known field
  constexpr double bound_per_level = 4.0;  // measured: at most 0.7, for prime sizes
  const double levels = std::max(4.0, std::log2(points_of(cells)));
  const double bound = bound_per_level * std::numeric_limits<real>::epsilon() * levels;
  const auto& where = deviation.where;
  Check check{deviation.error / max_value, ""};
  if (!(check.error <= bound)) {
    check.fault = fmt::format("wrong result: relative error {:.2g} at ({}, {}, {}), above {:.2g}", check.error,
                              where[0], where[1], where[2], bound);
  }
  return check;
}

void measure(const BenchOptions& options, RoundTrip& workload, Json& row) {
  const Check before = workload.check(1);
  row["phases"] = Json::array();
  add_times(options, workload, row);
  add_pieces(row, workload.piece_tuning());
  const Check after = workload.check(2);
  row["error"] = std::max(before.error, after.error);
  if (!before.fault.empty() || !after.fault.empty()) row["fault"] = before.fault.empty() ? after.fault : before.fault;
}

bool is_wrong(const Json& row) {
  return row.contains("fault") && row.contains("error");
}

}  // namespace sluice
