// Slices, of which a label's files are one entry of the report.
#include <fmt/format.h>

#include <map>
#include <system_error>

#include "io/files/posix_file.hpp"
#include "io/files/slice_series.hpp"
#include "src/outputs/verifier.hpp"

namespace sluice {

namespace fs = std::filesystem;

void Verifier::verify_slices() {
  std::map<std::string, std::vector<std::int64_t>> found;
  std::error_code error;
  for (const std::string& label : io::numbered_prefixes(path("slices"), error)) {
    std::error_code ignored;
    found[label] = io::numbered_files(path("slices"), label, ignored);
  }
  if (error && error != std::errc::no_such_file_or_directory)
    report_.files.push_back({"slices", "", {path("slices") + ": cannot be listed: " + error.message()}, {}});
  for (const IntactCheckpoint& checkpoint : checkpoints_) {
    for (const auto& [label, expected] : checkpoint.expected.slices) {
      if (expected.step > 0) found.try_emplace(label);
    }
  }
  for (const auto& [label, steps] : found) verify_slice(label, steps);
}

void Verifier::verify_slice(const std::string& label, const std::vector<std::int64_t>& steps) {
  FileReport report{fmt::format("slices/{}_*.h5", label), "", {}, {}};
  if (!steps.empty()) report.contents = fmt::format("{} slices up to step {}", steps.size(), steps.back());
  std::map<std::int64_t, std::optional<std::int64_t>> hashes;
  for (const std::int64_t step : steps) {
    const std::string file = io::slice_path(path("slices"), label, step);
    hashes[step] = std::nullopt;
    if (!is_intact(report, file)) continue;
    guarded(report, [&] { hashes[step] = compare_slice(report, file, label, step); });
  }
  for (const std::string& name : missing_slices(label)) {
    report.notes.push_back(fmt::format("slices/{}.xdmf lists {}, which is not there", label, name));
  }
  const auto find = [&](const IntactCheckpoint& /*checkpoint*/, std::int64_t expected) {
    const auto entry = hashes.find(expected);
    if (entry == hashes.end()) return FoundEntry{false, 0, false, std::nullopt};
    return FoundEntry{true, expected, true, entry->second};
  };
  const auto expected = [&](const IntactCheckpoint& checkpoint) {
    const auto entry = checkpoint.expected.slices.find(label);
    return entry == checkpoint.expected.slices.end() ? std::nullopt : std::optional(entry->second);
  };
  const auto name = [&](std::int64_t step) { return io::slice_path(path("slices"), label, step); };
  compare_with_checkpoints(report, expected, find, name);
  report_.files.push_back(std::move(report));
}

std::vector<std::string> Verifier::missing_slices(const std::string& label) const {
  std::error_code ignored;
  const std::string list = "slices/" + label + ".xdmf";
  if (!fs::is_regular_file(path(list), ignored)) return {};
  const std::string text = io::read_text(path(list));
  const std::size_t length = io::numbered_name(label, 0).size();
  std::vector<std::string> missing;
  for (std::size_t at = text.find(label + "_"); at != std::string::npos; at = text.find(label + "_", at + 1)) {
    const std::string name = text.substr(at, length);
    if (!name.ends_with(".h5") || exists("slices/" + name)) continue;
    if (missing.empty() || missing.back() != name) missing.push_back(name);
  }
  return missing;
}

std::int64_t Verifier::compare_slice(FileReport& report, const std::string& path, const std::string& label,
                                     std::int64_t step) const {
  const io::h5::File file = io::h5::File::open(path, ExitCode::restart);
  const io::Values root = io::check_root(file, io::format::slice);
  if (root.text("label") != label || root.integer("step") != step)
    add_problem(report, fmt::format("{}: its name does not fit what it holds, slice {} of step {}", path,
                                    root.text("label"), root.integer("step")));
  if (!checkpoints_.empty()) {
    const io::GridLines grid = io::read_grid_lines(file);
    const auto normal = static_cast<std::size_t>(root.text("normal").at(0) - 'x');
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (axis != normal && grid.node[axis] != checkpoints_.back().grid.node[axis])
        add_problem(report, fmt::format("{}: has another grid than {}", path, checkpoints_.back().path));
    }
  }
  return io::slice_hash(file);
}

}  // namespace sluice
