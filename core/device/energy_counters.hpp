#pragma once
// Counters of energy in the hardware that runs the loops.
#include <functional>
#include <string>
#include <vector>

namespace sluice::device {

/// Counts the energy of one device.
struct EnergyCounter {
  std::string name;                ///< of the device, unique on its host
  std::function<double()> joules;  ///< since an arbitrary moment, modulo `range`. Throws Error(resources)
  double range = 0;                ///< in J; infinite if the counter never starts again from 0
};

struct EnergyCounters {
  std::string device;  ///< what they count: "GPU" or "CPU package"
  std::vector<EnergyCounter> list;
};

/// In a GPU build the counter of this rank's GPU, memory included; otherwise those of all CPU packages of the host,
/// without memory. Throws Error(resources) if the energy cannot be read. Local.
EnergyCounters energy_counters();

/// The counter of NVML for the GPU with this PCI bus address. `library`: file of NVML, which the driver installs.
EnergyCounters nvml_counters(const std::string& library, const std::string& bus);

/// CPU build: the counters of the packages that Linux has in such a folder (/sys/class/powercap).
EnergyCounters package_counters(const std::string& folder);

}  // namespace sluice::device
