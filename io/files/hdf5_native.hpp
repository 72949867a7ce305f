#pragma once
// Only for .cpp files of the HDF5 layer: this header needs HDF5's own.
#include <hdf5.h>

#include "io/files/hdf5.hpp"

namespace sluice::io::h5 {

/// HDF5's identifier of an element type.
hid_t native(Type type);

/// Stops HDF5 from printing its errors; ours include the reason. Repeated calls do no harm.
void silence();

}  // namespace sluice::io::h5
