#pragma once
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "io/case/writer_spec.hpp"
#include "io/files/field_writer.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/posix_file.hpp"

namespace sluice::io {

/// A new file with distributed arrays, which replaces an old one of its name once it is complete on disk. All functions
/// are collective unless they say otherwise; a failure on any rank is thrown on all.
///
/// Rank 0 builds the HDF5 file without the arrays' elements and reserves space for them; every rank then writes its
/// share (FieldWriter). With WriterKind::direct, HDF5 itself never waits for another rank. With WriterKind::hdf5, the
/// ranks open the file a second time, through MPI-IO, for each array. Both writers make the same file.
class SharedFile {
 public:
  /// Starts PATH.tmp. Its folder must exist.
  SharedFile(MPI_Comm comm, const std::string& path, WriterSpec writer);
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  /// The file without its arrays, on rank 0 until commit.
  h5::File& on_root() { return *file_; }

  /// Writes an array as a dataset: `shape` ends in the three extents of the array, after extents of 1. `describe` sets
  /// its attributes, on rank 0. `data`: this rank's block in host memory, which may be reused on return. Returns the
  /// hash of the array, which is also stored with it.
  std::uint64_t write(const std::string& dataset, const h5::Shape& shape, h5::Type type, FieldWriter& writer,
                      const void* data, const std::function<void(h5::Dataset&)>& describe);

  /// Closes and synchronises the file, lets all ranks verify it as it reads back, renames it, and synchronises the
  /// folder. `verify` is collective, and throws if the file of the given path does not have its hashes.
  void commit(const std::function<void(const std::string& path)>& verify);

 private:
  std::uint64_t lay_out(const std::string& dataset, const h5::Shape& shape, h5::Type type, std::size_t bytes,
                        const std::function<void(h5::Dataset&)>& describe);
  void write_elements(const std::string& dataset, std::uint64_t address, FieldWriter& writer, const void* data);

  MPI_Comm comm_;
  std::string unfinished_path_;
  WriterSpec spec_;
  std::optional<UnfinishedFile> unfinished_;  ///< rank 0: removes PATH.tmp if it is not committed
  std::optional<h5::File> file_;              ///< rank 0, until it is closed
  std::optional<PosixFile> data_;             ///< every rank: the same file, for the arrays
};

}  // namespace sluice::io
