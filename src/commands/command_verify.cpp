#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "core/support/output.hpp"
#include "io/files/describe.hpp"
#include "io/files/file_format.hpp"
#include "src/commands/commands.hpp"
#include "src/outputs/directory.hpp"

namespace sluice {

namespace {

std::string summary(const DirectoryReport& report) {
  const std::size_t problems = report.problem_count();
  std::string text = problems == 0 ? "intact" : fmt::format("{} problem(s)", problems);
  if (!report.step) return text + "; no checkpoint from which a restart could go on";
  return text + fmt::format("; complete up to step {}, time {:g}, from which a restart goes on ({})", *report.step,
                            *report.time, report.checkpoint);
}

void print_table(const DirectoryReport& report) {
  std::size_t width = 0;
  for (const FileReport& file : report.files) width = std::max(width, file.name.size());
  for (const FileReport& file : report.files) {
    fmt::print("{:<{}}  {:<7}  {}\n", file.name, width, file.problems.empty() ? "intact" : "DAMAGED", file.contents);
    for (const std::string& problem : file.problems) fmt::print("    {}\n", problem);
    for (const std::string& note : file.notes) fmt::print("    note: {}\n", note);
  }
  if (!report.holder.empty()) fmt::print("a run is going on: {}\n", report.holder);
  fmt::print("{}: {}\n", report.directory, summary(report));
}

std::string json_of(const DirectoryReport& report) {
  nlohmann::ordered_json json{{"directory", report.directory},
                              {"intact", report.problem_count() == 0},
                              {"running", !report.holder.empty()},
                              {"checkpoint", nullptr},
                              {"step", nullptr},
                              {"time", nullptr},
                              {"files", nlohmann::ordered_json::array()}};
  if (report.step) {
    json["checkpoint"] = report.checkpoint;
    json["step"] = *report.step;
    json["time"] = *report.time;
  }
  for (const FileReport& file : report.files) {
    json["files"].push_back({{"name", file.name},
                             {"intact", file.problems.empty()},
                             {"contents", file.contents},
                             {"problems", file.problems},
                             {"notes", file.notes}});
  }
  // A path need not be UTF-8, but JSON must be.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

ExitCode command_verify(const VerifyOptions& options) {
  const DirectoryReport report = verify_directory(options.directory);
  if (options.json) {
    fmt::print("{}\n", json_of(report));
  } else {
    print_table(report);
  }
  if (report.problem_count() == 0) return ExitCode::success;
  flush_output();
  throw Error(ExitCode::restart, fmt::format("{}: {}", report.directory, summary(report)));
}

ExitCode command_info(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored) && !file.ends_with(".h5")) {
    fmt::print("{}", directory_status(file));
    return ExitCode::success;
  }
  const io::FileDescription description = io::describe(file);
  fmt::print("{}\n", description.text());
  if (description.intact()) return ExitCode::success;
  const bool is_checkpoint = description.format == io::format::checkpoint;
  throw Error(ExitCode::restart,
              fmt::format("{}: the file is damaged{}", file,
                          is_checkpoint ? "; `sluice run --restart auto` passes over it to an older checkpoint" : ""));
}

}  // namespace sluice
