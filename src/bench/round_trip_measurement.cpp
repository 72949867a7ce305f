// Times a round trip and checks its result.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/support/error.hpp"
#include "src/bench/known_field.hpp"
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
  row["milliseconds_there"] = spread_of(forward).median * 1e3;
  row["milliseconds_back"] = spread_of(backward).median * 1e3;
}

/// Stops repeating at the time limit of a setup. The first round trip does not count: a library may connect the ranks
/// in it.
void add_times(const BenchOptions& options, RoundTrip& workload, Json& row) {
  const double bytes_sent = max_of_ranks(workload.bytes_sent());
  std::vector<double> seconds;
  double spent = 0;
  for (int n = 0; n < options.warm_up + options.repeats; ++n) {
    if (n > 0 && spent > options.time_limit && !seconds.empty()) break;
    const double time = seconds_of_run(workload);
    if (n > 0) spent += time;
    if (n >= options.warm_up || spent > options.time_limit) seconds.push_back(time);
  }
  const Spread round_trip = spread_of(seconds);
  add_milliseconds(row, round_trip);
  row["repeats"] = seconds.size();
  row["gb_per_s"] = bytes_sent / round_trip.median * 1e-9;
  row["tflops"] = workload.operations() / round_trip.median * 1e-12;
  row["phases"] = Json::array();
  if (spent > options.time_limit) return;
  const int fewer = std::max(3, options.repeats / 2);
  add_directions(row, workload, fewer);
  if (workload.timers() == nullptr) return;
  for (const PhaseTimes::Phase& phase : time_phases(workload, fewer, max_of_ranks).phases) {
    Json& entry = row["phases"].emplace_back(Json{{"name", phase.name}});
    add_milliseconds(entry, phase.seconds);
  }
}

}  // namespace

Check check_transform(RoundTrip& transform, real* values, const Box3& box, const std::array<std::int64_t, 3>& cells,
                      std::uint64_t seed) {
  constexpr double max_value = 0.5;        // of a known field
  constexpr double bound_per_level = 4.0;  // measured: at most 0.7, for prime sizes
  const double points = static_cast<double>(cells[0]) * static_cast<double>(cells[1]) * static_cast<double>(cells[2]);
  const KnownField field(seed, cells);
  const View3<real> view = contiguous_view(values, box.nx(), box.ny(), box.nz());
  field.write(view, box);
  transform.run();
  const auto [error, where] = field.deviation(view, box, points);
  Check check{error / max_value, ""};
  const double bound = bound_per_level * std::numeric_limits<real>::epsilon() * std::max(1.0, std::log2(points));
  if (!(check.error <= bound)) {
    check.fault = fmt::format("wrong result: relative error {:.2g} at ({}, {}, {}), above {:.2g}", check.error,
                              where[0], where[1], where[2], bound);
  }
  return check;
}

void measure(const BenchOptions& options, RoundTrip& workload, Json& row) {
  const Check before = workload.check(1);
  add_times(options, workload, row);
  const Check after = workload.check(2);
  row["error"] = std::max(before.error, after.error);
  if (!before.fault.empty() || !after.fault.empty()) row["fault"] = before.fault.empty() ? after.fault : before.fault;
}

bool is_wrong(const Json& row) {
  return row.contains("fault") && row.contains("error");
}

}  // namespace sluice
