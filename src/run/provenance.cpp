#include "src/run/provenance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <ctime>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/hdf5_parallel.hpp"
#include "poisson/fft/fft.hpp"
#include "src/run/precisions.hpp"
#include "src/run/version.hpp"

namespace sluice {

std::string version() {
  return SLUICE_VERSION;
}
std::string git_revision() {
  return SLUICE_GIT_REVISION;
}

std::string compiler() {
  return SLUICE_COMPILER;
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  check_mpi(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
  const std::string full(text, length);
  return full.substr(0, full.find_first_of(",\n"));
}

std::string hdf5_library() {
  return io::h5::library_version() + (io::h5::is_parallel() ? " parallel" : " serial");
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string version_text() {
  return fmt::format(
      "Sluice {} ({})\ncompiler   {}\nMPI        {}\nHDF5       {}\nFFT        {}\ndevice     {}\nprecision  {}",
      version(), git_revision(), compiler(), mpi_library(), hdf5_library(), fft_library(),
      device::is_gpu() ? "NVIDIA GPU" : "CPU", fmt::join(precisions(), ", "));
}

}  // namespace sluice
