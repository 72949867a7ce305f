#pragma once
// File drivers of HDF5: its own POSIX driver with some functions replaced.
#include <cstdint>

namespace sluice::io::h5 {

/// Selects the driver for reading in a file access property list (an hid_t). It refuses damaged global heaps, where
/// HDF5 stores the texts of attributes: they have no checksums, and HDF5 1.10 searches some damaged ones forever. Files
/// with a hash of their metadata do not need it. Local. Throws Error(internal) if HDF5 refuses.
void use_read_driver(std::int64_t access_list);

/// Selects the driver for writing in a file access property list (an hid_t). HDF5 1.10 cannot survive a failed write:
/// closing such a file fails, and the library then crashes at program end (in parallel it also reports success for data
/// that is not there). This driver records a failed write and reports success to HDF5; the code that closes the file
/// checks for the error afterwards. Opening a file with it clears earlier write errors, so only one file may be written
/// at a time. Local. Throws Error(internal) if HDF5 refuses.
void use_write_driver(std::int64_t access_list);

/// The errno value of the first write to the current file that failed, or 0.
int write_error();

}  // namespace sluice::io::h5
