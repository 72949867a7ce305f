#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/outputs/observer.hpp"
#include "src/outputs/progress.hpp"
#include "src/outputs/run_log.hpp"
#include "src/outputs/run_record.hpp"
#include "src/run/simulation.hpp"
#include "src/run/stop_control.hpp"
#include "src/run/watchdog.hpp"

namespace sluice {

/// One run of a case, from its start or a checkpoint to its end. All functions are collective.
class RunLoop {
 public:
  /// `log` and `watchdog` must outlive the run. `start`: wall_seconds() at program start.
  RunLoop(const io::Case& settings, const Grid& grid, Tuning tuning, RunLog& log, Watchdog& watchdog, double start);

  /// Makes the first state: from the checkpoint `restart`, or from the newest one if it is "auto"; from the initial
  /// field if it is empty or there is no checkpoint yet. Restores the files of the output directory to that state.
  void begin(const std::string& restart, bool allow_change);

  /// Steps until the end of the case or a stop request; then writes the last outputs and run.json. Throws
  /// Error(numerics) if the flow blows up, Error(io) if an output fails; run.json records both.
  void run();

 private:
  /// The checkpoint to restart from; empty if there is none yet.
  std::string find_checkpoint(const std::string& restart);
  /// Refuses formulas that fail now, and warns of those that will fail before the end.
  void try_formulas();
  std::string step_until_stopped();
  /// `line_due`: with a line of the log.
  void step(bool line_due);
  /// Whether output.log.seconds have passed since the last line. Local; ranks may differ.
  bool line_due() const;
  void stop(const std::string& why);
  void record(const std::string& why);
  void try_to_record(const std::string& why);
  Moment moment(Occasion occasion) const;
  MPI_Comm comm() const { return simulation_.comm.world(); }

  std::string directory_;
  Tuning tuning_;
  Simulation simulation_;
  RunLog& log_;
  Watchdog& watchdog_;
  RunTimes times_;
  std::optional<Accuracy> accuracy_;  ///< of the statistics, on rank 0; set with time.until
  Observers observers_;
  ProgressLine progress_line_;
  StopControl control_;
  std::string started_from_;
  std::vector<std::string> changes_;  ///< since the checkpoint, which the user accepts
  bool warned_of_dt_ = false;
};

}  // namespace sluice
