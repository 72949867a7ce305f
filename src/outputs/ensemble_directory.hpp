#pragma once
// The output directory of an ensemble, which holds those of its members.
#include <functional>
#include <string>
#include <vector>

#include "io/case/case.hpp"
#include "src/outputs/prepare_directory.hpp"
#include "src/run/output_lock.hpp"

namespace sluice {

/// Creates and locks the directory of the ensemble, and refuses one that holds other results. Of an earlier ensemble it
/// removes only the files STOP and CHECKPOINT. Returns warnings. For rank 0 alone. Throws Error(usage) or Error(io).
std::vector<std::string> claim_ensemble_directory(const DirectoryOptions& options, const io::Case& settings,
                                                  OutputLock& lock);

/// Calls `action`; its errors then begin with the name of a member.
void with_member_name(const std::string& name, const std::function<void()>& action);

/// claim_directory() of a member. For rank 0 alone. Throws Error(usage) or Error(io), with the name of the member.
void claim_member_directory(const std::string& name, const DirectoryOptions& options, const io::Case& settings,
                            OutputLock& lock);

/// Writes ensemble.json, after it has removed the files of members that an earlier ensemble had and this one has not:
/// there are none of them without `overwrite`. For rank 0 alone. Throws Error(io).
void take_over_ensemble_directory(const io::Case& settings);

/// Whether a directory has an ensemble.json. Local.
bool is_ensemble(const std::string& directory);

/// The directories of the members of the ensemble in a directory. Local. Throws Error(io).
std::vector<std::string> members_of(const std::string& directory);

/// Passes the files STOP and CHECKPOINT in the directory of an ensemble on to its members: creates them in their
/// directories, where the members look for them. Any process of the ensemble may do it, and only one does.
class EnsembleRequests {
 public:
  explicit EnsembleRequests(const io::Case& settings);

  /// Looks for the files if it has not for a while. Local.
  void pass_on();

  /// Removes what members that had ended have left. For rank 0, when all have ended.
  void clear() const;

 private:
  std::string directory_;
  std::vector<std::string> members_;
  double last_look_ = 0;
};

}  // namespace sluice
