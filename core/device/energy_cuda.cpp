// The energy counter of this rank's GPU.
#include <array>

#include "core/device/check_cuda.hpp"
#include "core/device/energy_counters.hpp"

namespace sluice::device {

EnergyCounters energy_counters() {
  int device = 0;
  std::array<char, 32> bus{};
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device), "cudaDeviceGetPCIBusId");
  return nvml_counters("libnvidia-ml.so.1", bus.data());
}

}  // namespace sluice::device
