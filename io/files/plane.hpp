#pragma once
// A plane of a distributed field, collected on one rank.
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "io/files/grid_lines.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/local_block.hpp"

namespace sluice::io {

/// The plane of cells `index` normal to an axis (0, 1, 2 for x, y, z) of an array of this shape.
Box3 plane_box(const Extents& global, std::size_t axis, std::int64_t index);

/// Collects a box of a distributed array, row-major. `piece`: the rank's part of the box, which may be empty; `data`:
/// its elements in host memory, contiguous, of type float32 or float64. Collective; the result is on rank 0, empty
/// elsewhere. Throws Error(io) on every rank if the box has more than 2^31 values.
std::vector<std::byte> gather_box(MPI_Comm comm, const Box3& box, const Box3& piece, h5::Type type, const void* data);

/// The coordinates of a plane of cells: one cell along the axis.
GridLines plane_of(const GridLines& grid, std::size_t axis, std::int64_t index);

}  // namespace sluice::io
