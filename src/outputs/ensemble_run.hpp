#pragma once
#include <mpi.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/owned_comm.hpp"
#include "src/outputs/ensemble_directory.hpp"
#include "src/outputs/run_log.hpp"
#include "src/outputs/run_loop.hpp"

namespace sluice {

/// What an ensemble keeps, until it ends or longer.
struct EnsembleGuard {
  RunGuard own;                  ///< of the ensemble's directory, or of a single run
  std::deque<RunGuard> members;  ///< of this process
};

/// The runs of an ensemble. Each process has some of the members, which advance in turns (device::run_together): each
/// is a RunLoop on this process alone, with the results that it has without the others. After the start the processes
/// do not wait for each other before all members have ended.
class EnsembleRun {
 public:
  /// All of the start of all members but their first states. `common`: the case that has the ensemble; `members`: the
  /// cases of all members. `guard` and `world` must outlive the run. Collective. Throws the errors of `sluice run`.
  EnsembleRun(const CaseInput& common, const std::vector<CaseInput>& members, const StartOptions& options,
              EnsembleGuard& guard, MPI_Comm world);

  /// Runs all members to their ends. If some fail, the others go on; then throws an Error that names them, with the
  /// exit code of the first of them. Collective.
  void run();

 private:
  struct Member {
    int number = 0;
    std::string name;
    std::unique_ptr<RunLoop> run;
    bool began = false;
    bool ended = false;
  };
  struct Failure {
    int member = 0;
    int code = 0;
    std::string message;
  };

  void say_what_runs();
  void require_memory_of_all(const std::vector<CaseInput>& members, const Grid& grid);
  void make_members(const std::vector<CaseInput>& members, StartOptions options);
  /// One member from its first state to its end; keeps its error.
  void run_member(Member& member);
  void step_to_end(Member& member);
  void failed(const Member& member, const Error& error);
  void finish();
  /// Which members this process has, if there are several processes.
  std::string prefix() const;
  /// A line of the log, once, when the last member has begun.
  void say_that_all_began();
  /// A line of the log if one is due, or the last line of the terminal.
  void report_progress();
  std::string progress() const;
  /// The failures of all processes, in the order of the members. Collective.
  std::vector<Failure> all_failures();

  const io::Case settings_;
  MPI_Comm world_;
  OwnedComm own_;  ///< of this process alone
  EnsembleGuard& guard_;
  int first_ = 0;       ///< this process has the members from this one
  int end_ = 0;         ///< to before this one
  double started_ = 0;  ///< wall_seconds() at the start, or when all members of this process had begun
  double logged_ = 0;   ///< wall_seconds() at the last line of progress
  double updated_ = 0;  ///< wall_seconds() at the last status
  bool all_began_ = false;
  SharedProcess shared_;
  EnsembleRequests requests_;
  std::optional<RunLog> log_;
  std::vector<Member> members_;  ///< of this process
  std::vector<Failure> failures_;
};

}  // namespace sluice
