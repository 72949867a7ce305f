#include "src/outputs/prepare_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
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

/// Removes the files of earlier runs.
void overwrite(RunFiles found, const DirectoryOptions& options, const io::Case& settings) {
  const fs::path directory(settings.output.directory);
  if (std::ranges::any_of(found.files, [&](const auto& file) { return is_same_file(file, settings.initial.file); })) {
    throw Error(ExitCode::usage,
                fmt::format("{}: --overwrite would remove initial.file, {}; choose another directory with --output",
                            directory.string(), settings.initial.file));
  }
  std::erase_if(found.files, [&](const auto& file) { return is_same_file(file, options.case_file); });
  remove_run_files(directory, found);
}

/// On rank 0.
std::vector<std::string> prepare(const DirectoryOptions& options, const io::Case& settings, OutputLock& lock) {
  const std::string& directory = settings.output.directory;
  std::vector<std::string> warnings;
  try {
    fs::create_directories(directory);
    if (fs::exists(fs::path(directory) / io::ensemble_file_name)) {
      throw Error(ExitCode::usage,
                  fmt::format("{}: the output directory holds an ensemble; choose another with --output", directory));
    }
    if (std::string warning = lock.take(directory); !warning.empty()) warnings.push_back(warning);
    const RunFiles found = find_run_files(directory);
    if (found.holds_results) check_results(options, directory);
    if (options.restart.empty() || !found.holds_results) check_files_in_the_way(found);
    if (options.overwrite) overwrite(found, options, settings);
    std::ranges::move(remove_old_requests(directory), std::back_inserter(warnings));
  } catch (const fs::filesystem_error& error) {
    throw Error(ExitCode::io,
                fmt::format("{}: the output directory cannot be prepared: {}", directory, error.code().message()));
  }
  return warnings;
}

}  // namespace

std::vector<std::string> prepare_directory(const DirectoryOptions& options, const io::Case& settings, OutputLock& lock,
                                           MPI_Comm comm) {
  std::vector<std::string> warnings;
  run_on_root(comm, [&] { warnings = prepare(options, settings, lock); });
  return warnings;
}

}  // namespace sluice
