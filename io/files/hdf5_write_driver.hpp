#pragma once
// A file driver for writing. HDF5 1.10 cannot survive a failed write: closing such a file fails, and the library then
// crashes at program end (in parallel it also reports success for data that is not there). This driver records a failed
// write and reports success to HDF5; the code that closes the file checks for the error afterwards.
#include <cstdint>

namespace sluice::io::h5 {

/// Selects the driver in a file access property list (an hid_t). Opening a file with it clears earlier write errors, so
/// only one file may be written at a time. Local. Throws Error(internal) if HDF5 refuses.
void use_write_driver(std::int64_t access_list);

/// The errno value of the first write to the current file that failed, or 0.
int write_error();

}  // namespace sluice::io::h5
