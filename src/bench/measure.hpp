#pragma once
// What benchmarks measure: times of work that all ranks do together, memory, bandwidth.
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/decomp/exchange/piece_tuning.hpp"
#include "core/device/energy_meter.hpp"
#include "core/device/timers.hpp"

namespace sluice {

/// What a benchmark repeats.
class Workload {
 public:
  virtual ~Workload() = default;
  virtual void prepare() {}                          ///< before every run, not timed; may be collective
  virtual void run() = 0;                            ///< collective
  virtual PhaseTimers* timers() { return nullptr; }  ///< null if there are no phases
  virtual std::vector<PieceTuning> piece_tuning() const { return {}; }  ///< as Exchange::piece_tuning()
};

using Interval = std::array<double, 2>;

/// Two of these values, in ascending order, between which the median of their distribution is with at least this
/// probability, whatever the distribution is, if the values are independent; the closest such pair with as many values
/// below as above. None if there are too few values: 95 % takes 6, 99 % takes 8.
std::optional<Interval> interval_of_median(const std::vector<double>& ascending, double probability);

/// Median and extremes of repeated measurements, and the confidence intervals of the median.
struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
  std::optional<Interval> interval_95{}, interval_99{};
};

Spread spread_of(std::vector<double> values);

/// Of what `seconds` returns in `repeats` calls after `warm_up` others.
Spread spread_of_repeats(int warm_up, int repeats, const std::function<double()>& seconds);

/// Collective.
double max_of_ranks(double value);
/// Of each of the values. Collective.
std::vector<double> max_of_ranks(std::vector<double> values);

/// Wall time from a barrier until all ranks are done: the maximum over ranks, so that all take the same decisions from
/// it. Collective.
double seconds_of(const std::function<void()>& action);
double seconds_of_run(Workload& workload);  ///< prepared first

struct PhaseTimes {
  struct Phase {
    TimedPhase phase;
    Spread seconds;
  };
  std::vector<Phase> phases;
  Spread whole;  ///< of the runs in which the phases were timed, which costs time on a GPU
};

/// Repeats a workload that has timers. The times are those of this rank. Collective.
PhaseTimes time_phases(Workload& workload, int repeats);

struct RunsWithEnergy {
  Energy energy;
  double runs = 0;
};

/// Runs a workload for long enough to measure the energy; not at all if the energy cannot be measured.
/// `seconds`: an estimate of those of a run, the same on every rank. Collective.
RunsWithEnergy measure_energy(Workload& workload, double seconds);

/// Memory now held by all ranks together, in bytes: resident set of the processes, or device memory in a GPU build.
/// Collective.
double resident_bytes();

/// Bandwidth of a = b + s c in GB/s, summed over the ranks, which run it at the same time: the reference for the phases
/// of a step. Counts three words per element. Collective.
double triad_gb_per_s();

}  // namespace sluice
