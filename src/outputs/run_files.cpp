#include "src/outputs/run_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <system_error>

#include "io/files/checkpoint_directory.hpp"
#include "io/files/file_format.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/probe_series.hpp"
#include "io/files/stored_blocks.hpp"
#include "io/files/time_series.hpp"
#include "io/files/xdmf.hpp"
#include "src/outputs/companions.hpp"
#include "src/run/stop_control.hpp"

namespace sluice {

namespace fs = std::filesystem;
namespace format = io::format;

namespace {

/// A name such as step_0001200.h5.tmp in its parts.
struct FileName {
  explicit FileName(std::string text) : name(std::move(text)) {
    for (const char* ending : {io::unfinished_suffix, io::skipped_suffix, io::left_out_suffix}) {
      if (!name.ends_with(ending)) continue;
      suffix = ending;
      name.erase(name.size() - suffix.size());
    }
  }
  bool is_hdf5() const { return name.ends_with(".h5"); }
  bool is_xdmf() const { return name.ends_with(".xdmf"); }
  std::string stem() const { return fs::path(name).stem().string(); }
  std::optional<io::NumberedName> numbered() const { return io::parse_numbered_name(stem(), ""); }

  std::string name;
  std::string suffix;  ///< what is appended to the name of a file that no reader takes; "" if nothing is
};

bool is_unfinished(const FileName& name, const fs::path& path) {
  if (name.suffix != io::unfinished_suffix) return false;
  return name.is_hdf5() ? io::is_unfinished_hdf5(path) : name.is_xdmf() && io::is_xdmf_of_ours(path);
}

bool is_checkpoint_name(const std::string& name) {
  const auto numbered = io::parse_numbered_name(name);
  return numbered && numbered->prefix == io::checkpoint_prefix;
}

/// Checkpoints and the flow of a failed run: names of ours alone.
bool is_checkpoint(const FileName& name, const fs::path& path) {
  return is_checkpoint_name(name.stem() + ".h5") &&
         (name.is_xdmf() || (name.is_hdf5() && !io::is_foreign(path, {format::checkpoint})));
}

bool is_fields(const FileName& name, const fs::path& path) {
  if (is_unfinished(name, path)) return true;
  if (!name.suffix.empty()) return false;
  return name.is_xdmf() ? io::is_xdmf_of_ours(path)
                        : name.is_hdf5() && name.numbered() && io::is_ours(path, {format::fields});
}

/// What joins the parts of a slice or a probe; also the slices of earlier versions.
bool is_joined(const FileName& name, const fs::path& path) {
  if (is_unfinished(name, path)) return true;
  if (!name.suffix.empty()) return false;
  return name.is_xdmf() ? io::is_xdmf_of_ours(path)
                        : name.is_hdf5() && io::is_ours(path, {format::probe, format::slice});
}

bool is_part(const FileName& name, const fs::path& path) {
  if (is_unfinished(name, path)) return true;
  return name.is_hdf5() && name.numbered() && io::is_ours(path, {format::probe_part});
}

/// A folder of files of ours.
struct Folder {
  const char* name;
  bool (*holds)(const FileName& name, const fs::path& path);
};

/// In the order of removal.
constexpr std::array<Folder, 7> folders{{{"checkpoints", is_checkpoint},
                                         {"fields", is_fields},
                                         {"probes/parts", is_part},
                                         {"probes", is_joined},
                                         {"slices/parts", is_part},
                                         {"slices", is_joined},
                                         {"diagnostics", is_checkpoint}}};
constexpr std::string_view folder_without_results = "diagnostics";

/// A text of ours has one of these near its beginning, or is empty: a run was killed before it wrote there.
bool has_one_of(const fs::path& path, std::initializer_list<std::string_view> marks) {
  constexpr std::size_t beginning = 65536;
  const std::string text = "\n" + io::first_bytes(path, beginning);
  const auto has = [&](std::string_view mark) { return text.find(mark) != std::string::npos; };
  return text.size() == 1 || std::ranges::any_of(marks, has);
}

/// Blocks that statistics.h5 or a file like it does not hold yet.
bool is_journal(const fs::path& path) {
  constexpr std::string_view beginning = "SluiceJL";
  const std::string bytes = io::first_bytes(path, beginning.size());
  return bytes == beginning.substr(0, bytes.size());  // a kill may cut it short
}

/// A file in the output directory itself.
struct SingleFile {
  std::string name;
  bool is_result;
  std::function<bool(const fs::path& path)> is_ours;
};

/// In the order of removal.
std::vector<SingleFile> single_files() {
  std::vector<SingleFile> files;
  for (const SampledOutput& output : sampled_outputs) {
    files.push_back(
        {output.file, true, [](const fs::path& path) { return !io::is_foreign(path, {format::statistics}); }});
    files.push_back({io::journal_path(output.file), false, is_journal});
  }
  files.push_back({"timeseries.csv", true, [](const fs::path& path) { return has_one_of(path, {"\nstep,time,dt,"}); }});
  files.push_back({"run.json", false, [](const fs::path& path) { return has_one_of(path, {"\"why_stopped\""}); }});
  files.push_back({"log.txt", false, [](const fs::path& path) {
                     return has_one_of(path, {"\nSluice: ", "\nwarning: "});
                   }});
  files.push_back({"resolved.yaml", true, [](const fs::path& path) { return has_one_of(path, {"\nflow:"}); }});
  return files;
}

/// The names in a folder, in order.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

void add_single(const fs::path& directory, const SingleFile& file, RunFiles& found) {
  const fs::path path = directory / file.name;
  const fs::path unfinished = path.string() + io::unfinished_suffix;
  std::error_code ignored;
  if (fs::is_regular_file(unfinished, ignored)) found.files.push_back(unfinished);
  if (!fs::exists(path, ignored)) return;
  const bool is_ours = fs::is_regular_file(path, ignored) && file.is_ours(path);
  if (is_ours) found.files.push_back(path);
  found.holds_results = found.holds_results || (is_ours && file.is_result);
  const bool is_appended = file.name == "log.txt";  // to what is there, a device too
  if (!is_ours && !is_appended) found.in_the_way.push_back(path);
}

}  // namespace

RunFiles find_run_files(const fs::path& directory) {
  RunFiles found;
  for (const Folder& folder : folders) {
    const std::size_t before = found.files.size();
    for (const std::string& text : names_in(directory / folder.name)) {
      const fs::path path = directory / folder.name / text;
      const FileName name(text);
      std::error_code ignored;
      const bool is_ours = fs::is_regular_file(path, ignored) && folder.holds(name, path);
      if (is_ours) found.files.push_back(path);
      if (!is_ours && folder.holds == is_checkpoint && is_checkpoint_name(text)) found.in_the_way.push_back(path);
    }
    if (folder.name != folder_without_results) found.holds_results = found.holds_results || found.files.size() > before;
  }
  for (const SingleFile& file : single_files()) add_single(directory, file, found);
  return found;
}

void require_results(const fs::path& directory) {
  const RunFiles found = find_run_files(directory);
  if (!found.holds_results && found.in_the_way.empty())
    throw Error(ExitCode::usage, directory.string() + ": the directory holds no results of a run");
}

void remove_run_files(const fs::path& directory, const RunFiles& found) {
  for (const fs::path& file : found.files) io::remove_file(file);
  for (const Folder& folder : folders) {
    const fs::path path = directory / folder.name;
    std::error_code ignored;  // such as one that is not empty
    if (fs::symlink_status(path, ignored).type() == fs::file_type::directory) fs::remove(path, ignored);
  }
}

std::vector<std::string> remove_old_requests(const fs::path& directory) {
  std::vector<std::string> warnings;
  for (const char* name : {stop_file_name, checkpoint_file_name}) {
    const fs::path path = directory / name;
    std::error_code error;
    if (fs::symlink_status(path, error).type() <= fs::file_type::not_found) continue;
    fs::remove(path, error);
    if (error)
      throw Error(ExitCode::io,
                  fmt::format("{}: the file was there before this run, which would obey it, and cannot be removed: {}; "
                              "move it away",
                              path.string(), error.message()));
    warnings.push_back(fmt::format("{}: the file was there before this run and is removed; to {}, create it again",
                                   path.string(), name == stop_file_name ? "stop this run" : "write a checkpoint"));
  }
  return warnings;
}

}  // namespace sluice
