#include "io/files/checkpoint_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/files/checkpoint_reader.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/xdmf.hpp"

namespace sluice::io {

namespace {

/// The step in "step_0001200.h5"; none for a name of another form.
std::optional<std::int64_t> step_of(const std::string& name) {
  constexpr std::string_view before = "step_";
  constexpr std::string_view after = ".h5";
  if (!name.starts_with(before) || !name.ends_with(after)) return std::nullopt;
  std::int64_t step = 0;
  const char* end = name.data() + name.size() - after.size();
  const auto result = std::from_chars(name.data() + before.size(), end, step);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return step;
}

/// Rank 0 reads the directory, so that all ranks get the same list.
std::vector<CheckpointFile> list_on_all(MPI_Comm comm, const std::string& directory) {
  std::vector<CheckpointFile> files;
  run_on_root(comm, [&] { files = list_checkpoints(directory); });
  std::vector<std::int64_t> steps;
  for (const CheckpointFile& file : files) steps.push_back(file.step);
  auto count = static_cast<int>(steps.size());
  MPI_Bcast(&count, 1, MPI_INT, 0, comm);
  steps.resize(static_cast<std::size_t>(count));
  MPI_Bcast(steps.data(), count, MPI_INT64_T, 0, comm);
  files.clear();
  for (const std::int64_t step : steps) files.push_back({step, directory + "/" + checkpoint_name(step)});
  return files;
}

}  // namespace

std::string checkpoint_name(std::int64_t step) {
  return fmt::format("step_{:07}.h5", step);
}

std::vector<CheckpointFile> list_checkpoints(const std::string& directory) {
  std::vector<CheckpointFile> files;
  std::error_code error;
  const std::filesystem::directory_iterator entries(directory, error);
  if (error && error != std::errc::no_such_file_or_directory) {
    throw Error(ExitCode::restart, directory + ": the checkpoints cannot be listed: " + error.message());
  }
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    const auto step = step_of(name);
    if (step && name == checkpoint_name(*step)) files.push_back({*step, directory + "/" + name});
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return files;
}

void verify_checkpoint(MPI_Comm comm, const std::string& path) {
  const CheckpointReader reader(comm, path);
  reader.grid();
  for (const std::string& group : reader.value_groups()) reader.values(group);
  for (const std::string& name : reader.fields()) reader.verify_field(name);
}

NewestIntact newest_intact(MPI_Comm comm, const std::string& directory) {
  NewestIntact result;
  std::vector<CheckpointFile> candidates = list_on_all(comm, directory);
  for (auto candidate = candidates.rbegin(); candidate != candidates.rend(); ++candidate) {
    try {
      verify_checkpoint(comm, candidate->path);
      result.checkpoint = *candidate;
      return result;
    } catch (const Error& error) {
      result.warnings.push_back(std::string("passing over a checkpoint: ") + error.what());
    }
  }
  return result;
}

std::vector<std::string> prune_checkpoints(const std::string& directory, std::int64_t step, int keep) {
  std::vector<std::string> warnings;
  int kept = 0;
  std::vector<CheckpointFile> files = list_checkpoints(directory);
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    if (file->step <= step && kept < keep) {
      ++kept;
      continue;
    }
    try {
      remove_file(file->path);
      remove_file(xdmf_path(file->path));
    } catch (const Error& error) {
      warnings.emplace_back(error.what());
    }
  }
  return warnings;
}

}  // namespace sluice::io
