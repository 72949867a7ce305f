#pragma once
// For the .cpp files of the HDF5 layer only: this header needs HDF5's own.
#include <hdf5.h>

#include "io/files/hdf5.hpp"

namespace sluice::io::h5 {

/// HDF5's name of an element type.
hid_t native(Type type);

/// Stops HDF5 from printing its errors; ours carry the reason. Once is enough, more does no harm.
void silence();

}  // namespace sluice::io::h5
