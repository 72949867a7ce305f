#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>

#include "io/case/keys.hpp"
#include "io/files/posix_file.hpp"
#include "src/commands/commands.hpp"
#include "src/run/version.hpp"

namespace sluice {

namespace {

namespace fs = std::filesystem;

/// The folder of the cases: beside the sources, or where `cmake --install` put it.
fs::path cases_folder() {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path installed = program.parent_path().parent_path() / "share" / "sluice" / "cases";
  return fs::exists(installed) ? installed : fs::path(SLUICE_CASES_DIRECTORY);
}

std::string case_text(const std::string& name) {
  if (name.empty()) return io::case_template();
  const fs::path folder = cases_folder();
  const std::set<std::string> names = shipped_cases();
  if (!names.contains(name)) {
    throw Error(ExitCode::usage, fmt::format("there is no case '{}' in {}; there are: {}", name, folder.string(),
                                             fmt::join(names, ", ")));
  }
  return io::read_text((folder / name / "case.yaml").string());
}

}  // namespace

std::set<std::string> shipped_cases() {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(cases_folder(), ignored)) {
    if (fs::exists(entry.path() / "case.yaml")) names.insert(entry.path().filename().string());
  }
  return names;
}

ExitCode command_init(const InitOptions& options) {
  fmt::print("{}", options.schema ? io::generate_key_schema() : case_text(options.name));
  return ExitCode::success;
}

}  // namespace sluice
