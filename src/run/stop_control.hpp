#pragma once
#include <mpi.h>

#include <optional>
#include <set>
#include <string>

namespace sluice {

/// Why a run ends, or that it continues.
enum class StopReason { none, signal, stop_file, walltime, accuracy, closed };

/// In words, as in the log and run.json.
const char* text_of(StopReason reason);

/// The requests to a run, agreed on by all ranks.
struct Requests {
  StopReason stop = StopReason::none;
  bool checkpoint = false;
  bool line = false;  ///< of the log
};

/// The files in the output directory by which users ask a run to stop or to write a checkpoint.
inline constexpr const char* stop_file_name = "STOP";
inline constexpr const char* checkpoint_file_name = "CHECKPOINT";

/// Seconds between two looks for these files: not at every step, for the sake of parallel file systems.
inline constexpr double look_interval = 0.5;

/// Watches signals (SIGUSR1, SIGTERM, SIGINT and SIGHUP: stop; SIGUSR2: checkpoint), these files, and the wall clock.
class StopControl {
 public:
  /// `walltime`: allowed seconds since `start` (of wall_seconds()), including a margin for the last checkpoint.
  StopControl(MPI_Comm comm, std::string directory, std::optional<double> walltime, double start);
  StopControl(const StopControl&) = delete;
  StopControl& operator=(const StopControl&) = delete;

  /// Catches the signals from now to the end of the process; the first poll() serves those that came before it. Once
  /// there is a StopControl, its rank 0 acknowledges each at once on standard error. A second SIGINT at a terminal ends
  /// the process. Ignores SIGPIPE: if nobody reads the output any more, the run goes on. Call at the start of the
  /// program. Local.
  static void catch_signals();

  /// Undoes catch_signals(), and keeps signals waiting until the program that takes the place of this one has called
  /// it. Local.
  static void hold_signals();

  /// Undoes catch_signals(), and handles the signals that came since then as if it had not been called. Local.
  static void release_signals();

  /// Looks for the files after so many seconds, `look_interval` by default. Local.
  void look_every(double seconds) { interval_ = seconds; }

  /// Sets the seconds of a step and of the files that all ranks write, a checkpoint and others, which must still fit
  /// before the wall-time limit.
  void expect(double step_seconds, double file_seconds);

  /// The requests since the last call. `accurate`, on any rank: the statistics are as accurate as the case asks.
  /// `line_due`, on rank 0: a line of the log is due by the wall clock. Each of several objects in a process gets all
  /// signals. Collective: same result on every rank.
  Requests poll(bool accurate = false, bool line_due = false);

 private:
  bool file_present(const char* name);
  void look_for_files();

  MPI_Comm comm_;
  int rank_;
  std::string directory_;
  std::optional<double> deadline_;
  double margin_ = 0;
  double interval_ = look_interval;
  double last_look_ = 0;
  bool stop_file_ = false;
  bool checkpoint_file_ = false;
  int served_requests_ = 0;       ///< by signals, for checkpoints
  std::set<std::string> served_;  ///< files that could not be removed
};

}  // namespace sluice
