#include "io/files/checkpoint_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <system_error>
#include <utility>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/files/file_format.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/snapshot.hpp"
#include "io/files/xdmf.hpp"

namespace sluice::io {

namespace fs = std::filesystem;

namespace {

/// Rank 0 reads the directory, so that all ranks get the same list.
std::vector<std::int64_t> list_on_all(MPI_Comm comm, const std::string& directory) {
  std::vector<std::int64_t> steps;
  run_on_root(comm, [&] { steps = list_checkpoints(directory); });
  broadcast(steps, comm);
  return steps;
}

void remove_checkpoint(const std::string& path) {
  if (is_foreign(path, {format::checkpoint})) return;
  remove_file(xdmf_path(path));  // first: a kill must not leave it without a checkpoint
  remove_file(path);
}

/// Makes the file the checkpoint of that step in the directory.
void adopt_checkpoint(const std::string& directory, std::int64_t step, const std::string& file) {
  const std::string path = checkpoint_path(directory, step);
  std::error_code error;
  if (fs::equivalent(file, path, error)) return;
  UnfinishedFile adopted(path);
  remove_file(adopted.path());
  fs::create_hard_link(file, adopted.path(), error);
  if (error) fs::copy_file(file, adopted.path(), error);
  if (error) throw file_error(file, "copy to " + path, error.value());
  sync_file(adopted.path());
  adopted.commit();
}

}  // namespace

std::string checkpoint_path(const std::string& directory, std::int64_t step) {
  return directory + "/" + numbered_name(checkpoint_prefix, step);
}

std::vector<std::int64_t> list_checkpoints(const std::string& directory) {
  std::error_code error;
  std::vector<std::int64_t> steps = numbered_files(directory, checkpoint_prefix, error);
  if (error && error != std::errc::no_such_file_or_directory) {
    throw file_error(directory, "list", error.value());
  }
  return steps;
}

std::int64_t verify_checkpoint(MPI_Comm comm, const std::string& path) {
  const CheckpointReader reader(comm, path);
  reader.verify();
  return reader.step();
}

NewestIntact newest_intact(MPI_Comm comm, const std::string& directory) {
  NewestIntact result;
  const std::vector<std::int64_t> steps = list_on_all(comm, directory);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      const std::string path = checkpoint_path(directory, *step);
      const std::int64_t stored = verify_checkpoint(comm, path);
      if (stored != *step)
        throw Error(ExitCode::restart, path + ": its name does not fit its step, which is " + std::to_string(stored));
      result.path = path;
      return result;
    } catch (const Error& error) {
      result.warnings.push_back(std::string("passing over a checkpoint: ") + error.what());
    }
  }
  return result;
}

void go_back_to_checkpoint(const std::string& directory, std::int64_t step, const std::string& file) {
  std::vector<std::int64_t> steps = list_checkpoints(directory);
  if (steps.empty() || steps.back() <= step) return;
  adopt_checkpoint(directory, step, file);
  for (; !steps.empty() && steps.back() > step; steps.pop_back())
    remove_checkpoint(checkpoint_path(directory, steps.back()));
  sync_directory(directory);
}

void set_aside_later_checkpoints(const std::string& directory, std::int64_t step) {
  std::vector<std::int64_t> steps = list_checkpoints(directory);
  for (; !steps.empty() && steps.back() > step; steps.pop_back()) {
    const std::string path = checkpoint_path(directory, steps.back());
    rename_durably(path, path + skipped_suffix);
    remove_file(xdmf_path(path));
  }
}

std::vector<std::string> prune_checkpoints(const std::string& directory, std::int64_t step, int keep) {
  std::vector<std::string> warnings;
  const auto try_to = [&](const std::function<void()>& remove) {
    try {
      remove();
    } catch (const Error& error) {
      warnings.emplace_back(error.what());
    }
  };
  int kept = 0;
  const std::vector<std::int64_t> steps = list_checkpoints(directory);
  for (auto stored = steps.rbegin(); stored != steps.rend(); ++stored) {
    if (*stored <= step && kept < keep) {
      ++kept;
      continue;
    }
    try_to([&] { remove_checkpoint(checkpoint_path(directory, *stored)); });
  }
  try_to([&] { remove_numbered_files(directory, checkpoint_prefix, skipped_suffix); });
  return warnings;
}

CheckpointWriter::CheckpointWriter(MPI_Comm comm, CheckpointSpec spec, const LocalBlock& block)
    : comm_(comm),
      directory_(spec.directory),
      writer_(comm,
              {checkpoint_path(spec.directory, spec.step), format::checkpoint, spec.step, spec.time,
               std::move(spec.provenance), std::move(spec.grid), spec.type, std::move(spec.writer)},
              block) {}

std::vector<std::string> CheckpointWriter::tidy_up(int keep) const {
  const SnapshotSpec& spec = writer_.spec();
  std::vector<std::string> warnings;
  try {
    const std::string file = std::filesystem::path(spec.path).filename().string();
    write_xdmf(xdmf_path(spec.path), xdmf_document({file, spec.time, writer_.stored()}));
  } catch (const Error& error) {
    warnings.emplace_back(error.what());
  }
  std::ranges::move(prune_checkpoints(directory_, spec.step, keep), std::back_inserter(warnings));
  return warnings;
}

CheckpointWriter::Committed CheckpointWriter::commit(int keep) {
  SLUICE_REQUIRE(keep >= 1, "at least one checkpoint must be kept");
  writer_.commit();
  Committed result{writer_.spec().path, {}};
  run_on_root(comm_, [&] { result.warnings = tidy_up(keep); });
  return result;
}

}  // namespace sluice::io
