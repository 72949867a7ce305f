#pragma once
// Fields in HDF5 files that other programs wrote, and parts of fields for interpolation from another grid.
#include <mpi.h>

#include <string>

#include "io/files/hdf5.hpp"
#include "io/files/local_block.hpp"
#include "io/files/precision.hpp"

namespace sluice::io {

/// The extents of a dataset, slowest first. Local. Throws Error(restart).
h5::Shape dataset_shape(const std::string& file, const std::string& dataset);

/// Reads a box of a floating-point dataset of any rank and precision, as double, row-major. Local. Throws
/// Error(restart).
void read_block(const std::string& file, const std::string& dataset, const h5::Shape& start, const h5::Shape& count,
                double* data);

/// Reads this rank's block of a dataset of shape (nz, ny, nx), of any floating-point type, converted to
/// `precision`. Ranks may hold empty blocks. Collective. Throws Error(restart) on every rank if the dataset
/// is missing or of another shape or type.
void read_foreign_field(MPI_Comm comm, const std::string& file, const std::string& dataset, const LocalBlock& block,
                        Precision precision, void* data);

}  // namespace sluice::io
