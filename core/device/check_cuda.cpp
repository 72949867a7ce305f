#include "core/device/check_cuda.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "core/support/error.hpp"
#include "core/support/host_name.hpp"

namespace sluice {

namespace {

#ifdef __HIP_PLATFORM_AMD__
constexpr const char* in_kernel_log = "amdgpu";
#else
constexpr const char* in_kernel_log = "Xid";
#endif

/// Whether the hardware or the driver failed, rather than a program that used them wrongly. A GPU that the driver has
/// lost shows as a failed launch or as an unknown error.
bool gpu_failed(cudaError_t status) {
  switch (status) {
#ifdef SLUICE_HIP
    case hipErrorNotInitialized:
    case hipErrorInsufficientDriver:
    case hipErrorNoDevice:
    case hipErrorECCNotCorrectable:
    case hipErrorLaunchTimeOut:
    case hipErrorLaunchFailure:
    case hipErrorUnknown:
#else
    case cudaErrorInitializationError:
    case cudaErrorInsufficientDriver:
    case cudaErrorDevicesUnavailable:
    case cudaErrorStartupFailure:
    case cudaErrorNoDevice:
    case cudaErrorDeviceUninitialized:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
#if CUDART_VERSION >= 13000
    case cudaErrorContained:
#endif
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown:
#endif
      return true;
    default:
      return false;
  }
}

/// Names this rank's GPU by its host and by its bus address, as `nvidia-smi` and the kernel log show it.
std::string name_of_gpu() {
  int device = 0;
  std::array<char, 32> bus{};
  const bool known = cudaGetDevice(&device) == cudaSuccess &&
                     cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device) == cudaSuccess;
  return fmt::format("{} of host {}", known ? bus.data() : std::to_string(device), host_name());
}

}  // namespace

void throw_cuda_error(cudaError_t status, const char* what) {
  cuda::clear_error();
  const std::string text = fmt::format("{}: {} ({})", what, cudaGetErrorString(status), cudaGetErrorName(status));
  if (status == cudaErrorMemoryAllocation) throw Error(ExitCode::resources, text + "; use more GPUs or a coarser grid");
  if (gpu_failed(status)) {
    throw Error(ExitCode::resources, fmt::format("GPU {} failed: {}; the kernel's log may say more (dmesg | grep {}). "
                                                 "Continue without this GPU with --restart auto",
                                                 name_of_gpu(), text, in_kernel_log));
  }
  throw Error(ExitCode::internal, text + "; this is a defect of Sluice: please report it, with the case file");
}

}  // namespace sluice
