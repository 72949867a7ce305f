#pragma once
#include <memory>
#include <optional>
#include <string>

#include "src/outputs/run_log.hpp"
#include "src/outputs/slices.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

/// What a run writes beside checkpoints: time series, statistics and slices. Each belongs to simulation time and step
/// alone, so that a restarted run writes the same bytes as one that was not interrupted.
class Output {
 public:
  /// Collective. `statistics` may be null.
  Output(const Simulation& simulation, Statistics* statistics, const std::string& directory);
  ~Output();

  /// Brings the files to the state they had when the step of the simulation's state was reached: what later steps wrote
  /// is removed. Collective.
  void go_back();

  /// Samples, rows and slices due after the step just taken, `before` being the time before it. Collective. Throws
  /// Error(numerics) if the flow is no longer finite.
  void after_step(double before);

  /// The row of the last step, if it was not due anyway. Collective.
  void finish();

  /// Waits until the rows written so far are on the disk: a checkpoint must not outlive what belongs to it. Collective.
  void sync();

  /// One line about the present state for the log. Collective.
  std::string progress();

 private:
  struct Files;

  void sample_statistics();
  void write_row();
  const Diagnostics& diagnostics();

  const Simulation* simulation_;
  Statistics* statistics_;
  std::string directory_;
  std::unique_ptr<Files> files_;
  std::optional<Slices> slices_;
  Diagnostics diagnostics_;
  std::int64_t diagnosed_step_ = -1;
  std::int64_t last_row_ = -1;
};

}  // namespace sluice
