#include "src/outputs/prepare_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <system_error>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/case/ensemble.hpp"
#include "io/files/posix_file.hpp"
#include "src/outputs/run_files.hpp"

namespace sluice {

namespace {

namespace fs = std::filesystem;

/// Refuses a directory whose results this run neither continues nor may replace.
void check_results(const DirectoryOptions& options, const std::string& directory) {
  if (options.restart.empty() && !options.overwrite) {
    throw Error(ExitCode::usage, fmt::format("{}: the output directory holds results already; use --restart auto to "
                                             "continue that run, --overwrite to replace them, or --output for another",
                                             directory));
  }
  if (!options.restart.empty() && options.restart != "auto" && !io::is_inside(options.restart, directory)) {
    throw Error(
        ExitCode::usage,
        fmt::format(
            "{}: the output directory holds results of a run that did not write {}; choose another with --output",
            directory, options.restart));
  }
}

/// Refuses to replace files of others.
void check_files_in_the_way(const RunFiles& found) {
  if (found.in_the_way.empty()) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: Sluice did not write it, but a run would replace it; move it away, or choose another "
                          "directory with --output",
                          found.in_the_way.front().string()));
}

bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code ignored;
  return fs::equivalent(one, other, ignored);
}

/// Refuses to remove a file that the run needs.
void check_initial_file(const RunFiles& found, const io::Case& settings) {
  if (std::ranges::none_of(found.files, [&](const auto& file) { return is_same_file(file, settings.initial.file); }))
    return;
  throw Error(ExitCode::usage,
              fmt::format("{}: --overwrite would remove initial.file, {}; choose another directory with --output",
                          settings.output.directory, settings.initial.file));
}

/// Removes the files of earlier runs.
void overwrite(const DirectoryOptions& options, const std::string& directory) {
  RunFiles found = find_run_files(directory);
  std::erase_if(found.files, [&](const auto& file) { return is_same_file(file, options.case_file); });
  remove_run_files(directory, found);
}

/// On rank 0.
std::vector<std::string> claim(const DirectoryOptions& options, const io::Case& settings, OutputLock& lock) {
  const std::string& directory = settings.output.directory;
  std::vector<std::string> warnings;
  fs::create_directories(directory);
  if (fs::exists(fs::path(directory) / io::ensemble_file_name)) {
    throw Error(ExitCode::usage,
                fmt::format("{}: the output directory holds an ensemble; choose another with --output", directory));
  }
  if (std::string warning = lock.take(directory); !warning.empty()) warnings.push_back(warning);
  const RunFiles found = find_run_files(directory);
  if (found.holds_results) check_results(options, directory);
  if (options.restart.empty() || !found.holds_results) check_files_in_the_way(found);
  if (options.overwrite) check_initial_file(found, settings);
  return warnings;
}

/// Calls `action` on the directory; an error of the file system becomes an Error(io).
std::vector<std::string> with_directory(const std::string& directory,
                                        const std::function<std::vector<std::string>()>& action) {
  try {
    return action();
  } catch (const fs::filesystem_error& error) {
    throw Error(ExitCode::io,
                fmt::format("{}: the output directory cannot be prepared: {}", directory, error.code().message()));
  }
}

}  // namespace

std::vector<std::string> claim_directory(const DirectoryOptions& options, const io::Case& settings, OutputLock& lock) {
  return with_directory(settings.output.directory, [&] { return claim(options, settings, lock); });
}

std::vector<std::string> prepare_directory(const DirectoryOptions& options, const io::Case& settings, OutputLock& lock,
                                           MPI_Comm comm) {
  std::vector<std::string> warnings;
  const std::string& directory = settings.output.directory;
  run_on_root(comm, [&] {
    warnings = with_directory(directory, [&] {
      std::vector<std::string> all = claim(options, settings, lock);
      if (options.overwrite) overwrite(options, directory);
      std::ranges::move(remove_old_requests(directory), std::back_inserter(all));
      return all;
    });
  });
  return warnings;
}

}  // namespace sluice
