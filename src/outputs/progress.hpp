#pragma once
#include <optional>
#include <string>

#include "model/accuracy.hpp"
#include "src/outputs/run_log.hpp"
#include "src/outputs/run_record.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

/// "42 s", "3:14:05" or "2 d 03:14" (hours and minutes).
std::string readable_duration(double seconds);

/// Nanoseconds per point and step with at least three digits: 61.53 on a few cores, 0.0951 on a few GPUs.
std::string readable_nanoseconds(double nanoseconds);

/// Steps to the end of the case, or to time.until if that will probably be earlier.
double steps_left(const Simulation& simulation, const std::optional<Accuracy>& accuracy);

/// The last line of a terminal: how far the run is, replaced twice a second. Nothing elsewhere (RunLog::has_terminal).
/// Local.
class ProgressLine {
 public:
  explicit ProgressLine(RunLog& log) : log_(log) {}

  /// After a step. `diagnostics`: of this or an earlier step; null before the first.
  void update(const Simulation& simulation, const RunTimes& times, const std::optional<Accuracy>& accuracy,
              const Diagnostics* diagnostics);

 private:
  RunLog& log_;
  double updated_ = 0;  ///< wall_seconds()
};

}  // namespace sluice
