#include "io/files/checkpoint_writer.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "core/support/collective.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/xdmf.hpp"

namespace sluice::io {

CheckpointWriter::CheckpointWriter(MPI_Comm comm, CheckpointSpec spec, const LocalBlock& block)
    : comm_(comm),
      directory_(spec.directory),
      writer_(comm,
              {checkpoint_path(spec.directory, spec.step), format::checkpoint, spec.step, spec.time,
               std::move(spec.provenance), std::move(spec.grid), spec.type},
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
