#pragma once
// The header of HDF5 as one without MPI has it, for what is compiled differently with that.
#include_next <hdf5.h>
#undef H5_HAVE_PARALLEL
