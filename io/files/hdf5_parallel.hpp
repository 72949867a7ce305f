#pragma once
// Collective writing through parallel HDF5 and MPI-IO. Where HDF5 was built without MPI, is_parallel() is false, and
// the rest throws Error(usage).
#include <mpi.h>

#include <string>
#include <vector>

#include "core/support/box3.hpp"
#include "io/case/writer_spec.hpp"
#include "io/files/hdf5.hpp"

namespace sluice::io::h5 {

bool is_parallel();

/// What to say where it is not.
inline constexpr const char* no_parallel_hdf5 = "this build of Sluice has an HDF5 library without MPI";

/// Whether some ranks, not all, have a file open through MPI-IO, after an error that all know. HDF5 would close it in
/// MPI_Finalize and wait there for the others: end the processes with MPI_Abort.
bool is_stuck();

/// Creates an empty file through MPI-IO, which sets the striping of a file when it creates it. Local. Throws Error(io).
void create_with_hints(const std::string& path, const std::vector<MpiIoHint>& hints);

/// A file that all ranks have open, to write into datasets that it has already. The process that created it must have
/// flushed it, and changes nothing else meanwhile. All functions are collective and throw the same Error on every rank.
/// If a rank fails within a call of HDF5 or MPI, others may wait there: docs/reliability.md lists what was seen.
class ParallelFile {
 public:
  ParallelFile(MPI_Comm comm, const std::string& path, const std::vector<MpiIoHint>& hints);

  /// Writes the ranks' boxes of a field, whose shape is (nz, ny, nx), by one collective write. `data`: this rank's box,
  /// which may be empty, in the type of the file.
  void write(const std::string& dataset, const Box3& box, const void* data);
  void close();  ///< the destructor closes without a check

 private:
  Turn turn_;  ///< first: until everything is closed
  MPI_Comm comm_;
  FileContext context_;
  Handle file_;
};

}  // namespace sluice::io::h5
