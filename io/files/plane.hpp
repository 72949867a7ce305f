#pragma once
// A plane of a distributed field, collected on one rank.
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "io/files/grid_lines.hpp"
#include "io/files/local_block.hpp"
#include "io/files/precision.hpp"

namespace sluice::io {

/// Axis number of a normal 'x', 'y' or 'z' in file order: 2, 1, 0.
std::size_t file_axis(char normal);

/// Collects the plane of cells `index` normal to the axis, row-major in file order, converted to double. `data`: this
/// rank's block in host memory, contiguous, in `precision`. Collective; the result is on rank 0, empty elsewhere.
/// Throws Error(io) on every rank if the plane has more than 2^31 values.
std::vector<double> gather_plane(MPI_Comm comm, const LocalBlock& block, Precision precision, const void* data,
                                 char normal, std::int64_t index);

/// The coordinates of that plane of cells: one cell along the normal.
GridLines plane_of(const GridLines& grid, char normal, std::int64_t index);

}  // namespace sluice::io
