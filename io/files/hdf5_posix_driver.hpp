#pragma once

struct H5FD_class_t;

namespace sluice::io::h5 {

/// The function table of HDF5's own POSIX driver, from which drivers that replace some functions are made. Throws
/// Error(internal) if HDF5 refuses.
H5FD_class_t posix_driver();

}  // namespace sluice::io::h5
