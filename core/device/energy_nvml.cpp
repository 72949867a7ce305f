// Energy of a GPU, read through NVML. The driver installs this library; it is loaded when it is needed, so that neither
// the build nor a run depends on it.
#include <dlfcn.h>
#include <fmt/format.h>

#include <limits>
#include <memory>

#include "core/device/energy_counters.hpp"
#include "core/support/error.hpp"

namespace sluice::device {

namespace {

/// The functions of NVML that are used, as nvml.h declares them: nvmlReturn_t is an int that is 0 if all is well,
/// nvmlDevice_t a pointer.
class Nvml {
 public:
  explicit Nvml(const std::string& library) : handle_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) throw Error(ExitCode::resources, fmt::format("NVML cannot be loaded: {}", dlerror()));
    find("nvmlInit_v2", initialize_);
    find("nvmlShutdown", shut_down_);
    find("nvmlErrorString", error_text_);
    find("nvmlDeviceGetHandleByPciBusId_v2", device_at_);
    find("nvmlDeviceGetTotalEnergyConsumption", energy_);
    check(initialize_(), "nvmlInit");
  }
  ~Nvml() { shut_down_(); }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  void* device_at(const std::string& bus) const {
    void* device = nullptr;
    check(device_at_(bus.c_str(), &device), "nvmlDeviceGetHandleByPciBusId");
    return device;
  }

  /// Since the driver was loaded.
  double joules(void* device) const {
    unsigned long long millijoules = 0;
    check(energy_(device, &millijoules), "nvmlDeviceGetTotalEnergyConsumption");
    return static_cast<double>(millijoules) * 1e-3;
  }

 private:
  struct Close {
    void operator()(void* handle) const noexcept { dlclose(handle); }
  };

  template <class Function>
  void find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(handle_.get(), name));
    if (function == nullptr) throw Error(ExitCode::resources, fmt::format("NVML has no function {}", name));
  }

  void check(int status, const char* what) const {
    if (status != 0) throw Error(ExitCode::resources, fmt::format("{}: {}", what, error_text_(status)));
  }

  std::unique_ptr<void, Close> handle_;
  int (*initialize_)() = nullptr;
  int (*shut_down_)() = nullptr;
  const char* (*error_text_)(int status) = nullptr;
  int (*device_at_)(const char* bus, void** device) = nullptr;
  int (*energy_)(void* device, unsigned long long* millijoules) = nullptr;
};

}  // namespace

EnergyCounters nvml_counters(const std::string& library, const std::string& bus) {
  const auto nvml = std::make_shared<const Nvml>(library);
  void* const device = nvml->device_at(bus);
  nvml->joules(device);  // GPUs before Volta have no counter
  return {"GPU", {{bus, [nvml, device] { return nvml->joules(device); }, std::numeric_limits<double>::infinity()}}};
}

}  // namespace sluice::device
