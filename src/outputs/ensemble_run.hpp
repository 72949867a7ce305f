#pragma once
#include <mpi.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device/energy_meter.hpp"
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
  /// No file of an earlier ensemble is changed before all directories of members are accepted.
  EnsembleRun(const CaseInput& common, const std::vector<CaseInput>& members, const StartOptions& options,
              EnsembleGuard& guard, MPI_Comm world);

  /// Runs all members to their ends. If some cannot start, none does, and of an earlier ensemble only logs are changed.
  /// If some fail later, the others go on. Both throw an Error that names these members, with the exit code of the
  /// first of them. Collective.
  void run();

 private:
  struct Member {
    int number = 0;
    std::string name;
    std::unique_ptr<RunLoop> run;
    bool ended = false;
  };
  struct Failure {
    int member = 0;
    int code = 0;
    std::string message;
  };

  void say_what_runs();
  void require_memory_of_all(const std::vector<CaseInput>& members, const Grid& grid);
  /// Locks and checks the directories of this process's members.
  void claim_directories(const std::vector<CaseInput>& members, const DirectoryOptions& options);
  void make_members(const std::vector<CaseInput>& members, StartOptions options);
  /// The first states of all members. Throws if some cannot have theirs. Collective.
  void load_members();
  /// One member from its first state to its end.
  void run_member(Member& member);
  void step_to_end(Member& member);
  /// Keeps an error of a member. Returns whether there was none.
  bool attempt(const Member& member, const std::function<void()>& action);
  void finish();
  /// Throws if members of any process have failed. Collective.
  void throw_failures(const std::vector<Failure>& failures, const std::string& outcome) const;
  /// Which members this process has, if there are several processes.
  std::string prefix() const;
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
  double started_ = 0;  ///< wall_seconds() when all members had their first states
  double logged_ = 0;   ///< wall_seconds() at the last line of progress
  double updated_ = 0;  ///< wall_seconds() at the last status
  double steps_ = 0;    ///< of all members of this process
  SharedProcess shared_;
  EnsembleRequests requests_;
  std::optional<EnergyMeter> energy_;
  std::optional<RunLog> log_;
  std::vector<Member> members_;  ///< of this process
  std::vector<Failure> failures_;
};

}  // namespace sluice
