#pragma once
#include <mpi.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace sluice {

/// Ends a job that hangs, with exit code 6. On every rank a thread checks how long the main thread has been at its
/// task; beyond the task's limit it reports rank, task and open phases (Phase), and a little later aborts the job. It
/// makes no MPI call before MPI_Abort. Time in which this thread itself did not run (a stopped process, a suspended
/// machine) is no evidence of a hang: the task's time is then counted anew.
class Watchdog {
 public:
  enum class Task { start, step, output };

  /// Starts the thread and the first task, "start". `limit`: Case::watchdog. `output_bytes`: the most that an output
  /// may have to write. `log_file`: gets the reports too. Collective.
  Watchdog(MPI_Comm comm, std::optional<double> limit, double output_bytes, std::string log_file);

  /// The main thread begins a task, which ends the one before. All ranks begin the same tasks. `what`: such as
  /// "writing statistics.h5". `step`: the number of the step, or 0. Local.
  void begin(Task kind, const std::string& what, std::int64_t step = 0);

 private:
  /// The durations of the last tasks of one name.
  struct Durations {
    std::array<double, 9> last{};
    std::size_t count = 0;

    void add(double seconds) { last[count++ % last.size()] = seconds; }
    double median() const;
  };

  struct Current {
    std::string what;
    std::int64_t step = 0;
    double limit = 0;
    std::uint64_t number = 0;  ///< of the tasks so far

    std::string text() const;
  };

  double limit_of(Task kind, const Durations& durations) const;
  void watch(const std::stop_token& stop);
  std::string report(const Current& task, double seconds) const;
  [[noreturn]] void abort(const Current& task, double seconds) const;

  MPI_Comm comm_;
  std::optional<double> given_limit_;
  double expected_output_;  ///< seconds
  std::string log_file_;
  int rank_ = 0;
  int ranks_ = 1;
  int neighbour_ = 0;  ///< another rank of this host
  int neighbour_pid_ = 0;
  std::map<std::string, Durations> durations_;  ///< of the main thread
  double begun_ = 0;
  std::mutex mutex_;  ///< of current_
  std::condition_variable_any stopping_;
  Current current_;
  std::jthread thread_;  ///< last: ends before what it uses
};

}  // namespace sluice
