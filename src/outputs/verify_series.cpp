// The files that a run writes one after the other: slices and probes, of which the parts and the file that joins them
// are one entry of the report, and fields at cell centres, of which a series is one.
#include <fmt/format.h>

#include <set>
#include <system_error>

#include "core/support/error.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/probe_series.hpp"
#include "io/files/snapshot.hpp"
#include "src/outputs/verifier.hpp"

namespace sluice {

namespace fs = std::filesystem;

void Verifier::verify_all_series(const std::string& folder, const ExpectedSeries& expected) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path(folder), error)) {
    if (entry.path().extension() == ".h5") names.insert(entry.path().stem().string());
  }
  names.merge(io::numbered_prefixes(io::probe_parts_folder(path(folder)), error));
  if (error && error != std::errc::no_such_file_or_directory)
    report_.files.push_back({folder, "", {path(folder) + ": cannot be listed: " + error.message()}, {}});
  for (const IntactCheckpoint& checkpoint : checkpoints_) {
    for (const auto& [name, entry] : checkpoint.expected.*expected) {
      if (entry.step > 0) names.insert(name);
    }
  }
  for (const std::string& name : names) verify_series(folder, name, expected);
}

void Verifier::verify_series(const std::string& folder, const std::string& name, const ExpectedSeries& entries) {
  FileReport report{fmt::format("{}/{}.h5", folder, name), "", {}, {}};
  const std::string parts = io::probe_parts_folder(path(folder));
  std::vector<std::pair<std::int64_t, std::int64_t>> samples;
  std::string part = parts + "/" + name + "_*.h5";
  std::error_code ignored;
  for (const std::int64_t first : io::numbered_files(parts, name, ignored)) {
    part = parts + "/" + io::numbered_name(name, first);
    if (is_intact(report, part)) guarded(report, [&] { compare_part(report, part, name, first, samples); });
  }
  if (!samples.empty())
    report.contents = fmt::format("{} {} up to step {}", samples.size(), folder == "slices" ? "slices" : "samples",
                                  samples.back().first);
  if (!exists(report.name)) {
    if (!samples.empty()) add_problem(report, path(report.name) + ": the file is missing; a restart writes it");
  } else if (is_intact(report, path(report.name))) {
    guarded(report, [&] { compare_index(report, folder, std::ssize(samples)); });
  }
  const auto find = [&](const IntactCheckpoint& checkpoint, std::int64_t expected) {
    FoundEntry found{!samples.empty(), 0, false, std::nullopt};
    for (const auto& [step, hash] : samples) {
      if (step <= checkpoint.step) found.last = step;
      if (step == expected) found = {true, found.last, true, hash};
    }
    return found;
  };
  const auto expected = [&](const IntactCheckpoint& checkpoint) {
    const auto entry = (checkpoint.expected.*entries).find(name);
    return entry == (checkpoint.expected.*entries).end() ? std::nullopt : std::optional(entry->second);
  };
  compare_with_checkpoints(report, expected, find, [&](std::int64_t /*step*/) { return part; });
  report_.files.push_back(std::move(report));
}

void Verifier::compare_part(FileReport& report, const std::string& part, const std::string& name, std::int64_t first,
                            std::vector<std::pair<std::int64_t, std::int64_t>>& samples) {
  const io::h5::File file = io::h5::File::open(part, ExitCode::restart);
  const auto found = io::probe_sample_hashes(file);
  if (file.group("/").text("name") != name || found.front().first != first)
    add_problem(report, part + ": its name does not fit what it holds");
  if (!samples.empty() && found.front().first <= samples.back().first)
    add_problem(report, part + ": begins before the end of the part before");
  samples.insert(samples.end(), found.begin(), found.end());
}

void Verifier::compare_index(FileReport& report, const std::string& folder, std::int64_t samples) const {
  const io::h5::File file = io::h5::File::open(path(report.name), ExitCode::restart);
  if (file.group("/").text("format") == io::format::slice) {
    report.contents = "slice of an earlier version, which wrote one file for each time";
    return;
  }
  const std::int64_t listed = file.dataset("/time").shape().at(0);
  if (listed == samples || running()) return;
  report.notes.push_back(
      fmt::format("lists {} samples, of which {} are in {}/parts; a restart corrects that", listed, samples, folder));
}

/// No checkpoint expects fields at cell centres.
void Verifier::verify_fields() {
  std::error_code error;
  for (const std::string& name : io::numbered_prefixes(path("fields"), error)) {
    std::error_code ignored;
    const std::vector<std::int64_t> steps = io::numbered_files(path("fields"), name, ignored);
    if (steps.empty()) continue;  // a run has just removed them
    FileReport report{fmt::format("fields/{}_*.h5", name), "", {}, {}};
    report.contents = fmt::format("{} files up to step {}", steps.size(), steps.back());
    for (const std::int64_t step : steps) {
      const std::string file = path("fields/" + io::numbered_name(name, step));
      if (!is_intact(report, file)) continue;
      guarded(report, [&] {
        const io::CheckpointReader reader(MPI_COMM_SELF, file, io::format::fields);
        if (reader.step() != step) {
          add_problem(report, fmt::format("{}: its name does not fit its step, which is {}", file, reader.step()));
        }
      });
    }
    report_.files.push_back(std::move(report));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    report_.files.push_back({"fields", "", {path("fields") + ": cannot be listed: " + error.message()}, {}});
}

}  // namespace sluice
