#pragma once
// A file driver for reading. It refuses damaged global heaps, where HDF5 stores the texts of attributes: they have no
// checksums, and HDF5 1.10 searches some damaged ones forever. Files with a hash of their metadata do not need it.
#include <cstdint>

namespace sluice::io::h5 {

/// Selects the driver in a file access property list (an hid_t). Local. Throws Error(internal) if HDF5 refuses.
void use_read_driver(std::int64_t access_list);

}  // namespace sluice::io::h5
