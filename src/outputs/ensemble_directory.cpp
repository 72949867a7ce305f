#include "src/outputs/ensemble_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/device/timers.hpp"
#include "core/support/error.hpp"
#include "io/case/ensemble.hpp"
#include "io/files/posix_file.hpp"
#include "src/outputs/run_files.hpp"
#include "src/run/stop_control.hpp"

namespace sluice {

namespace {

namespace fs = std::filesystem;

std::string record_of(const std::string& directory) {
  return directory + "/" + io::ensemble_file_name;
}

/// Those of the ensemble that the directory holds, if there is one.
std::vector<std::string> earlier_members(const std::string& directory) {
  if (!is_ensemble(directory)) return {};
  const std::string file = record_of(directory);
  try {
    std::vector<std::string> names = io::directories_in_record(io::read_text(file), file);
    const auto is_other = [](const std::string& name) {
      return !name.starts_with("member_") || name.find('/') != std::string::npos;
    };
    if (std::ranges::none_of(names, is_other)) return names;
  } catch (const Error&) {  // the next message says enough
  }
  throw Error(ExitCode::usage, fmt::format("{}: Sluice did not write it, but an ensemble would replace it; move it "
                                           "away, or choose another directory with --output",
                                           file));
}

/// Refuses another ensemble that the directory holds, unless it may be replaced.
void check_earlier(const DirectoryOptions& options, const std::string& directory,
                   const std::vector<std::string>& earlier, const std::vector<std::string>& names) {
  if (earlier.empty() || options.overwrite) return;
  if (options.restart.empty()) {
    throw Error(ExitCode::usage, fmt::format("{}: the output directory holds an ensemble already; use --restart auto "
                                             "to continue it, --overwrite to replace it, or --output for another",
                                             directory));
  }
  const bool grows = earlier.size() <= names.size() && std::equal(earlier.begin(), earlier.end(), names.begin());
  if (grows) return;
  throw Error(
      ExitCode::usage,
      fmt::format("{}: the output directory holds an ensemble of {} members, {} to {}, and a restart cannot have "
                  "fewer of them or name them otherwise; set ensemble.members, or choose another directory with "
                  "--output",
                  directory, earlier.size(), earlier.front(), earlier.back()));
}

void claim(const DirectoryOptions& options, const io::Case& settings, OutputLock& lock,
           std::vector<std::string>& warnings) {
  const std::string& directory = settings.output.directory;
  const std::vector<std::string> names = io::member_names(settings);
  fs::create_directories(directory);
  if (std::string warning = lock.take(directory); !warning.empty()) warnings.push_back(warning);
  const std::vector<std::string> earlier = earlier_members(directory);
  if (find_run_files(directory).holds_results) {
    throw Error(ExitCode::usage, fmt::format("{}: the output directory holds the results of a single run; choose "
                                             "another with --output",
                                             directory));
  }
  check_earlier(options, directory, earlier, names);
  for (std::string& warning : remove_old_requests(directory)) warnings.push_back(std::move(warning));
}

}  // namespace

std::vector<std::string> claim_ensemble_directory(const DirectoryOptions& options, const io::Case& settings,
                                                  OutputLock& lock) {
  if (!options.restart.empty() && options.restart != "auto") {
    throw Error(ExitCode::usage,
                fmt::format("{}: a checkpoint is of one member; use --restart auto, with which each member "
                            "goes on from its own newest one, or run the member alone",
                            options.restart));
  }
  std::vector<std::string> warnings;
  try {
    claim(options, settings, lock, warnings);
  } catch (const fs::filesystem_error& error) {
    throw Error(ExitCode::io, fmt::format("{}: the output directory cannot be prepared: {}", settings.output.directory,
                                          error.code().message()));
  }
  return warnings;
}

void with_member_name(const std::string& name, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", name, error.what()));
  }
}

void claim_member_directory(const std::string& name, const DirectoryOptions& options, const io::Case& settings,
                            OutputLock& lock) {
  // The warnings of claim_directory() come again when the member starts.
  with_member_name(name, [&] { static_cast<void>(claim_directory(options, settings, lock)); });
}

void take_over_ensemble_directory(const io::Case& settings) {
  const std::vector<std::string> names = io::member_names(settings);
  for (const std::string& name : earlier_members(settings.output.directory)) {
    const fs::path member = fs::path(settings.output.directory) / name;
    if (std::ranges::find(names, name) == names.end()) remove_run_files(member, find_run_files(member));
  }
  io::write_atomically(record_of(settings.output.directory), io::ensemble_record(settings));
}

bool is_ensemble(const std::string& directory) {
  std::error_code ignored;
  return fs::exists(record_of(directory), ignored);
}

std::vector<std::string> members_of(const std::string& directory) {
  const std::string file = record_of(directory);
  std::vector<std::string> members;
  for (const std::string& name : io::directories_in_record(io::read_text(file), file))
    members.push_back((fs::path(directory) / name).string());
  return members;
}

EnsembleRequests::EnsembleRequests(const io::Case& settings) : directory_(settings.output.directory) {
  for (const std::string& name : io::member_names(settings)) members_.push_back(directory_ + "/" + name);
}

void EnsembleRequests::pass_on() {
  const double now = wall_seconds();
  if (now - last_look_ < look_interval) return;
  last_look_ = now;
  for (const char* name : {stop_file_name, checkpoint_file_name}) {
    std::error_code ignored;
    // Of several processes, the one that removes it.
    if (!fs::remove(fs::path(directory_) / name, ignored)) continue;
    for (const std::string& member : members_) std::ofstream(fs::path(member) / name).flush();
  }
}

void EnsembleRequests::clear() const {
  for (const std::string& member : members_) {
    for (const char* name : {stop_file_name, checkpoint_file_name}) {
      std::error_code ignored;
      fs::remove(fs::path(member) / name, ignored);
    }
  }
}

}  // namespace sluice
