#include <hdf5.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <cerrno>

#include "core/support/error.hpp"
#include "io/files/hdf5_drivers.hpp"

namespace sluice::io::h5 {

namespace {

/// HDF5 calls the driver's functions without an argument of ours; hence one state per process.
struct DriverState {
  H5FD_class_t posix{};   ///< HDF5's own POSIX driver
  H5FD_class_t driver{};  ///< a copy of it with three functions replaced
  hid_t id = H5I_INVALID_HID;
  int error = 0;
};

DriverState& state() {
  static DriverState instance;
  return instance;
}

herr_t remember_failure(herr_t status) {
  if (status < 0 && state().error == 0) state().error = errno != 0 ? errno : EIO;
  return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, const void* data) {
  errno = 0;
  return remember_failure(state().posix.write(file, type, transfer, address, size, data));
}

herr_t truncate(H5FD_t* file, hid_t transfer, hbool_t closing) {
  errno = 0;
  return remember_failure(state().posix.truncate(file, transfer, closing));
}

herr_t close(H5FD_t* file) {
  errno = 0;
  return remember_failure(state().posix.close(file));
}

void register_driver() {
  DriverState& s = state();
  s.posix = posix_driver();
  s.driver = s.posix;
  s.driver.name = "sluice";
  s.driver.write = write;
  s.driver.truncate = truncate;
  s.driver.close = close;
  s.id = H5FDregister(&s.driver);
  if (s.id < 0) throw Error(ExitCode::internal, "HDF5: the file driver cannot be registered");
}

}  // namespace

void use_write_driver(std::int64_t access_list) {
  if (state().id < 0) register_driver();
  state().error = 0;
  if (H5Pset_driver(access_list, state().id, nullptr) < 0) {
    throw Error(ExitCode::internal, "HDF5: the file driver cannot be used");
  }
}

int write_error() {
  return state().error;
}

}  // namespace sluice::io::h5
