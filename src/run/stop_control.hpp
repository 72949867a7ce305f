#pragma once
#include <mpi.h>

#include <optional>
#include <string>

namespace sluice {

/// Why a run ends, or that it goes on.
enum class StopReason { none, signal, stop_file, walltime };

/// What the outside world asks of a run, agreed on by all ranks.
struct Requests {
  StopReason stop = StopReason::none;
  bool checkpoint = false;
};

/// Listens for signals (SIGUSR1, SIGTERM and SIGINT: stop; SIGUSR2: checkpoint), for files named STOP and CHECKPOINT in
/// the output directory, and to the wall clock. Signal handlers are installed on construction and removed on
/// destruction.
class StopControl {
 public:
  /// `walltime`: seconds that the run may take from `start` (of wall_seconds()); a margin for the last checkpoint is
  /// kept.
  StopControl(MPI_Comm comm, std::string directory, std::optional<double> walltime, double start);
  ~StopControl();
  StopControl(const StopControl&) = delete;
  StopControl& operator=(const StopControl&) = delete;

  /// Tells how long a step and a checkpoint take, in seconds: what must still fit before the walltime ends.
  void expect(double step_seconds, double checkpoint_seconds);

  /// What is asked for since the last call. Collective: every rank gets the same answer.
  Requests poll();

 private:
  bool file_present(const char* name) const;
  void look_for_files();

  MPI_Comm comm_;
  int rank_ = 0;
  std::string directory_;
  std::optional<double> deadline_;
  double margin_ = 0;
  double last_look_ = 0;
  bool stop_file_ = false;
  bool checkpoint_file_ = false;
};

}  // namespace sluice
