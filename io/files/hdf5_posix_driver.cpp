#include <hdf5.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include "core/support/error.hpp"
#include "io/files/hdf5_drivers.hpp"

namespace sluice::io::h5 {

H5FD_class_t posix_driver() {
  // HDF5 exposes the table only through an open file.
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_sec2(access);
  H5FD_t* probe = H5FDopen("/dev/null", H5F_ACC_RDONLY, access, HADDR_UNDEF);
  H5Pclose(access);
  if (probe == nullptr) throw Error(ExitCode::internal, "HDF5: its POSIX file driver cannot be opened");
  const H5FD_class_t functions = *probe->cls;
  H5FDclose(probe);
  return functions;
}

}  // namespace sluice::io::h5
