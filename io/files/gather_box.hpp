#pragma once
#include <mpi.h>

#include <cstddef>
#include <vector>

#include "core/support/box3.hpp"
#include "io/files/hdf5.hpp"

namespace sluice::io {

/// Collects a box of a distributed array, row-major. `piece`: the rank's part of the box, which may be empty; `data`:
/// its elements in host memory, contiguous, of type float32 or float64. With `samples` > 1, so many states of the array
/// one after the other, in `data` and in the result. Collective; the result is on rank 0, empty elsewhere. Throws
/// Error(io) on every rank if there are more than 2^31 values.
std::vector<std::byte> gather_box(MPI_Comm comm, const Box3& box, const Box3& piece, h5::Type type, const void* data,
                                  std::int64_t samples = 1);

}  // namespace sluice::io
