#pragma once
#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/device/energy_meter.hpp"
#include "src/outputs/observer.hpp"
#include "src/outputs/prepare_directory.hpp"
#include "src/outputs/progress.hpp"
#include "src/outputs/run_log.hpp"
#include "src/outputs/run_record.hpp"
#include "src/run/output_lock.hpp"
#include "src/run/setup.hpp"
#include "src/run/simulation.hpp"
#include "src/run/stop_control.hpp"
#include "src/run/watchdog.hpp"

namespace sluice {

/// What runs have in common that take turns in one process, the members of an ensemble (device::run_together).
struct SharedProcess {
  std::shared_ptr<Watchdog> watchdog;  ///< one for all: a run that waits for its turn does not hang
  int runs = 0;
  int running = 0;  ///< of these, not ended yet
};

/// How a run starts.
struct StartOptions {
  std::optional<DirectoryOptions> directory;  ///< none: the run writes no files
  bool reproducible = false;                  ///< refuses processes whose number may change the last bits
  /// A program of the user asks for each step: no watchdog, since it may wait between two steps as long as it likes;
  /// the log goes to its file alone.
  bool embedded = false;
  double wall_seconds = 0;  ///< wall_seconds() at the start of the program
  /// The run is one of several in this process, which has chosen its device; the log goes to its file alone. Must
  /// outlive the run.
  SharedProcess* shared = nullptr;
};

/// What a run with files keeps, until it ends or longer.
struct RunGuard {
  OutputLock lock;
  std::shared_ptr<Watchdog> watchdog;
};

/// The most that an output of a run writes at once, in bytes: a checkpoint, or the files of all fields.
double largest_output(const io::Case& settings, const Grid& grid);

/// Memory in bytes that the outputs of a run need on this rank, which owns `box`, beside those of its steps.
double output_memory(const io::Case& settings, const Grid& grid, const Box3& box, int ranks, bool embedded);

/// One run of a case, from its start or a checkpoint to its end: of `sluice run` and of Python. All functions are
/// collective over the communicator unless they say that they are local.
class RunLoop {
 public:
  /// All of the start that needs no fields: from the grid and the output directory to the memory of the simulation.
  /// `guard` and `comm` must outlive the run. Throws the errors of `sluice run`.
  RunLoop(const CaseInput& input, const StartOptions& options, RunGuard& guard, MPI_Comm comm);
  RunLoop(const RunLoop&) = delete;
  RunLoop& operator=(const RunLoop&) = delete;

  /// Makes the first state: from the checkpoint to restart from, from the initial field if there is none. Refuses what
  /// cannot be continued. Of the files in the output directory, only the log is changed.
  void load();

  /// After load(): restores the files of the output directory to the first state.
  void begin();

  Simulation& simulation() { return *simulation_; }         ///< local
  bool writes_files() const { return files_.has_value(); }  ///< local
  /// Whether a run with files has come to its end, by finish() or an error. Local.
  bool ended() const { return ended_; }
  bool at_end() const { return simulation_->at_end(); }  ///< of the case; local
  const RunTimes& times() const { return times_; }       ///< local

  /// Serves requests to the run (StopControl), such as one for a checkpoint. Returns why the run should stop, or should
  /// have stopped earlier.
  StopReason attend();
  /// Whether it has been called since the last step. Local.
  bool attended() const { return attended_; }

  /// One step and what is written after it. Throws Error(numerics) if the flow blows up, Error(io) if an output fails;
  /// run.json records both, and the run has ended. So does the next function.
  void step();

  /// Writes the last outputs and run.json. `reason`: why the run stops before its end if nothing requested that.
  void finish(StopReason reason = StopReason::none);

  /// Steps until the end of the case or a request to stop, then finish().
  void run();

  /// Call after changes of the flow between two steps: a checkpoint of this step, if there is one, is then out of date.
  void flow_changed();

  /// Whether it goes on from a checkpoint. Local.
  bool from_checkpoint() const { return from_checkpoint_; }

  /// What the run has warned of since the last call; on rank 0. Local.
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }

 private:
  /// What a run with an output directory has beside the simulation.
  struct Files {
    explicit Files(RunLoop& run);

    Observers observers;
    ProgressLine progress_line;
    StopControl control;
    EnergyMeter energy;
    double first_time = 0;  ///< of the simulation, at the start of the first step
  };

  void open_files();
  /// The checkpoint to restart from; empty if there is none yet.
  std::string find_checkpoint();
  /// Refuses formulas that fail now, and warns of those that will fail before the end.
  void try_formulas();
  void load_with_files();
  void serve_requests();
  void step_and_observe();
  void write_last(StopReason reason);
  void warn_of_dt();
  /// What a checkpoint holds of a program that stepped the run. Throws Error(restart) if its code is missing for good.
  void go_on_with_program(const std::string& checkpoint);
  void try_next_walls(const std::string& checkpoint);
  void warn_of_missing_code();
  /// Records an error of the action, with what the user needs to find its cause.
  void recorded(const std::function<void()>& action);
  /// Whether output.log.seconds have passed since the last line. Local; ranks may differ.
  bool line_due() const;
  void measure_energy();
  void record(const std::string& why);
  void try_to_record(const std::string& why);
  /// `previous_time`: before the step, if there was one.
  Moment moment(Occasion occasion, std::optional<double> previous_time = std::nullopt) const;
  /// A line of the log, if there is one.
  void say(const std::string& line);
  void warn(const std::string& text);
  void watch(Watchdog::Task kind, const std::string& what, std::int64_t step = 0);

  const io::Case settings_;
  const StartOptions options_;
  RunGuard& guard_;
  MPI_Comm comm_;
  const std::string directory_;
  std::optional<RunLog> log_;
  Tuning tuning_;
  std::optional<Simulation> simulation_;
  RunTimes times_;
  std::optional<Accuracy> accuracy_;  ///< of the statistics, on rank 0; set with time.until
  std::optional<Files> files_;
  std::optional<Start> start_;  ///< with files, since load()
  std::string started_from_;
  bool from_checkpoint_ = false;
  std::vector<std::string> changes_;  ///< since the checkpoint, which the user accepts
  std::vector<std::string> warnings_;
  StopReason stop_ = StopReason::none;  ///< that was requested
  bool attended_ = false;               ///< since the last step
  bool line_asked_ = false;             ///< of the log, after the next step
  bool changed_ = false;                ///< the flow, since the last step or checkpoint
  bool warned_of_dt_ = false;
  bool ended_ = false;
};

}  // namespace sluice
