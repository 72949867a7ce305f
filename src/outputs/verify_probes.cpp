// Probes, of which the parts and the file that joins them are one entry of the report.
#include <fmt/format.h>

#include <set>
#include <system_error>

#include "core/support/error.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/probe_series.hpp"
#include "src/outputs/verifier.hpp"

namespace sluice {

namespace fs = std::filesystem;

void Verifier::verify_probes() {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path("probes"), error)) {
    if (entry.path().extension() == ".h5") names.insert(entry.path().stem().string());
  }
  names.merge(io::numbered_prefixes(io::probe_parts_folder(path("probes")), error));
  if (error && error != std::errc::no_such_file_or_directory)
    report_.files.push_back({"probes", "", {path("probes") + ": cannot be listed: " + error.message()}, {}});
  for (const IntactCheckpoint& checkpoint : checkpoints_) {
    for (const auto& [name, expected] : checkpoint.expected.probes) {
      if (expected.step > 0) names.insert(name);
    }
  }
  for (const std::string& name : names) verify_probe(name);
}

void Verifier::verify_probe(const std::string& name) {
  FileReport report{fmt::format("probes/{}.h5", name), "", {}, {}};
  const std::string folder = io::probe_parts_folder(path("probes"));
  std::vector<std::pair<std::int64_t, std::int64_t>> samples;
  std::string part = folder + "/" + name + "_*.h5";
  std::error_code ignored;
  for (const std::int64_t first : io::numbered_files(folder, name, ignored)) {
    part = folder + "/" + io::numbered_name(name, first);
    if (is_intact(report, part)) guarded(report, [&] { compare_part(report, part, name, first, samples); });
  }
  if (!samples.empty()) report.contents = fmt::format("{} samples up to step {}", samples.size(), samples.back().first);
  if (!exists(report.name)) {
    if (!samples.empty()) add_problem(report, path(report.name) + ": the file is missing; a restart writes it");
  } else if (is_intact(report, path(report.name))) {
    guarded(report, [&] { compare_probe(report, std::ssize(samples)); });
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
    const auto entry = checkpoint.expected.probes.find(name);
    return entry == checkpoint.expected.probes.end() ? std::nullopt : std::optional(entry->second);
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

void Verifier::compare_probe(FileReport& report, std::int64_t samples) const {
  const io::h5::File file = io::h5::File::open(path(report.name), ExitCode::restart);
  const std::int64_t listed = file.dataset("/time").shape().at(0);
  if (listed == samples || running()) return;
  report.notes.push_back(
      fmt::format("lists {} samples, of which {} are in probes/parts; a restart corrects that", listed, samples));
}

}  // namespace sluice
