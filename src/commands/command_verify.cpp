#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/output.hpp"
#include "io/files/describe.hpp"
#include "io/files/file_format.hpp"
#include "src/commands/commands.hpp"
#include "src/outputs/directory.hpp"
#include "src/outputs/ensemble_directory.hpp"

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

using Json = nlohmann::ordered_json;

Json json_of(const DirectoryReport& report) {
  Json json{{"directory", report.directory},
            {"intact", report.problem_count() == 0},
            {"running", !report.holder.empty()},
            {"checkpoint", nullptr},
            {"step", nullptr},
            {"time", nullptr},
            {"files", Json::array()}};
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
  return json;
}

/// A path need not be UTF-8, but JSON must be.
void print(const Json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

/// A member that has not left any results is damaged, too.
DirectoryReport verify_member(const std::string& directory) {
  try {
    return verify_directory(directory);
  } catch (const Error& error) {
    DirectoryReport report;
    report.directory = directory;
    report.files.push_back({.name = "", .contents = "no results", .problems = {error.what()}, .notes = {}});
    return report;
  }
}

ExitCode verify_ensemble(const VerifyOptions& options) {
  std::vector<DirectoryReport> reports;
  for (const std::string& member : members_of(options.directory)) reports.push_back(verify_member(member));
  const auto has_problems = [](const DirectoryReport& report) { return report.problem_count() > 0; };
  const auto damaged = std::ranges::count_if(reports, has_problems);
  if (options.json) {
    Json json{{"directory", options.directory}, {"intact", damaged == 0}, {"members", Json::array()}};
    for (const DirectoryReport& report : reports) json["members"].push_back(json_of(report));
    print(json);
  } else {
    for (const DirectoryReport& report : reports) {
      if (has_problems(report))
        print_table(report);
      else
        fmt::print("{}: {}{}\n", report.directory, summary(report),
                   report.holder.empty() ? "" : "; a run is going on: " + report.holder);
    }
    fmt::print("{}: {} of {} members intact\n", options.directory, reports.size() - damaged, reports.size());
  }
  if (damaged == 0) return ExitCode::success;
  flush_output();
  throw Error(ExitCode::restart,
              fmt::format("{}: {} of {} members have problems, the first is {}", options.directory, damaged,
                          reports.size(), std::ranges::find_if(reports, has_problems)->directory));
}

/// What is known of each member.
std::string ensemble_status(const std::string& directory) {
  std::string text;
  for (const std::string& member : members_of(directory)) {
    try {
      text += directory_status(member) + "\n";
    } catch (const Error& error) {
      text += fmt::format("{}\n\n", error.what());
    }
  }
  return text.substr(0, text.size() - 1);
}

}  // namespace

ExitCode command_verify(const VerifyOptions& options) {
  if (is_ensemble(options.directory)) return verify_ensemble(options);
  const DirectoryReport report = verify_directory(options.directory);
  if (options.json) {
    print(json_of(report));
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
    fmt::print("{}", is_ensemble(file) ? ensemble_status(file) : directory_status(file));
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
