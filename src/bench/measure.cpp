#include "src/bench/measure.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <utility>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"

namespace sluice {

std::optional<Interval> interval_of_median(const std::vector<double>& ascending, double probability) {
  // Each value is below the median with probability 1/2. The lth value (from 0) is above it if at most l are below.
  const std::size_t count = ascending.size();
  const auto n = static_cast<double>(count);
  double excluded = 0;
  std::optional<Interval> interval;
  for (std::size_t low = 0; 2 * low + 1 < count; ++low) {
    const auto l = static_cast<double>(low);
    excluded += 2 * std::exp(std::lgamma(n + 1) - std::lgamma(l + 1) - std::lgamma(n - l + 1) - n * std::numbers::ln2);
    if (1 - excluded < probability) break;
    interval = {ascending[low], ascending[count - 1 - low]};
  }
  return interval;
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return {(values[(n - 1) / 2] + values[n / 2]) / 2, values.front(), values.back(), interval_of_median(values, 0.95),
          interval_of_median(values, 0.99)};
}

Spread spread_of_repeats(int warm_up, int repeats, const std::function<double()>& seconds) {
  std::vector<double> values;
  for (int n = 0; n < warm_up + repeats; ++n) {
    const double value = seconds();
    if (n >= warm_up) values.push_back(value);
  }
  return spread_of(values);
}

double max_of_ranks(double value) {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return value;
}

std::vector<double> max_of_ranks(std::vector<double> values) {
  check_mpi(
      MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD),
      "MPI_Allreduce");
  return values;
}

double seconds_of(const std::function<void()>& action) {
  device::synchronize();
  check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
  const double start = wall_seconds();
  action();
  device::synchronize();
  return max_of_ranks(wall_seconds() - start);
}

double seconds_of_run(Workload& workload) {
  workload.prepare();
  return seconds_of([&] { workload.run(); });
}

PhaseTimes time_phases(Workload& workload, int repeats) {
  using Samples = std::pair<TimedPhase, std::vector<double>>;
  std::vector<Samples> samples;
  std::vector<double> whole;
  PhaseTimers& timers = *workload.timers();
  timers.enable();
  for (int n = 0; n < repeats; ++n) {
    timers.reset();
    whole.push_back(seconds_of_run(workload));
    for (const auto& phase : timers.phases()) {
      auto known = std::ranges::find(samples, phase.phase, &Samples::first);
      if (known == samples.end()) known = samples.insert(known, {phase.phase, {}});
      known->second.push_back(phase.seconds);
    }
  }
  PhaseTimes times{{}, spread_of(whole)};
  for (const auto& [phase, seconds] : samples) times.phases.push_back({phase, spread_of(seconds)});
  return times;
}

RunsWithEnergy measure_energy(Workload& workload, double seconds) {
  constexpr double least_seconds = 4;  // GPUs bring their counters up to date at intervals
  constexpr double max_runs = 1e6;
  EnergyMeter meter(MPI_COMM_WORLD);
  meter.start();
  const Energy nothing = meter.energy();
  if (!nothing.fault.empty()) return {nothing, 0};
  workload.prepare();
  device::synchronize();
  check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
  meter.start();
  const double start = wall_seconds();
  double runs = 0;
  double elapsed = 0;
  while (elapsed < least_seconds && runs < max_runs) {
    const double last = std::min(runs + std::ceil((least_seconds - elapsed) / seconds), max_runs);
    for (; runs < last; ++runs) {
      workload.run();
      meter.update();
    }
    device::synchronize();
    elapsed = max_of_ranks(wall_seconds() - start);
    seconds = elapsed / runs;
  }
  return {meter.energy(), runs};
}

double resident_bytes() {
  double bytes = 0;
  if (device::is_gpu()) {
    bytes = static_cast<double>(device::allocated_bytes());
  } else {
    std::ifstream statm("/proc/self/statm");
    double total_pages = 0;
    double resident_pages = 0;
    double shared_pages = 0;
    statm >> total_pages >> resident_pages >> shared_pages;
    bytes = (resident_pages - shared_pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  return bytes;
}

}  // namespace sluice
