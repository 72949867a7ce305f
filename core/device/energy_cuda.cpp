// The energy counter of this rank's GPU.
#include <array>

#include "core/device/check_cuda.hpp"
#include "core/device/energy_counters.hpp"
#include "core/support/error.hpp"

namespace sluice::device {

EnergyCounters energy_counters() {
#ifdef __HIP_PLATFORM_AMD__
  throw Error(ExitCode::resources, "Sluice does not read the energy counters of AMD GPUs");
#else
  const int device = cuda::current_device();
  std::array<char, 32> bus{};
  check_cuda(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device), "cudaDeviceGetPCIBusId");
  return nvml_counters("libnvidia-ml.so.1", bus.data());
#endif
}

}  // namespace sluice::device
