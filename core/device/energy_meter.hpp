#pragma once
// Energy that the devices of all ranks take.
#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "core/device/energy_counters.hpp"

namespace sluice {

/// A measured energy.
struct Energy {
  std::string fault;   ///< why it was not measured; empty if it was
  std::string device;  ///< what was measured: "GPU" or "CPU package"
  int devices = 0;     ///< how many of them
  double joules = 0;   ///< of all together
  double seconds = 0;  ///< in which they took it
};

/// Measures the energy of the devices on which the ranks of a communicator run. A device that several ranks share
/// counts once, with all that it does, for other processes too. `comm` must outlive the meter.
class EnergyMeter {
 public:
  /// `counters`: of this rank. What it throws as Error(resources) on any rank is the fault of every measurement.
  /// Collective.
  explicit EnergyMeter(MPI_Comm comm,
                       const std::function<device::EnergyCounters()>& counters = device::energy_counters);

  /// Begins a measurement. Local.
  void start();

  /// To be called often between start() and energy(), because counters start again from 0: those of CPU packages after
  /// minutes. Reads them if `interval` seconds have passed since the last time. Local.
  void update(double interval = 10);  // a package of 500 W with the smallest range, 65 kJ, takes two minutes

  /// Since start(). The same on every rank. Collective.
  Energy energy();

 private:
  struct Reading {
    device::EnergyCounter counter;
    double last = 0;  ///< J
  };

  void keep_first(const std::vector<device::EnergyCounter>& counters);
  /// Calls `read` for each counter that this rank reads; an error becomes the fault.
  void for_each(const std::function<void(Reading&)>& read);
  void add_readings();

  MPI_Comm comm_;
  std::string fault_;  ///< on this rank
  std::string device_;
  int devices_ = 0;                ///< of all ranks
  std::vector<Reading> readings_;  ///< of the devices that no lower rank reads
  double joules_ = 0;              ///< of these since start()
  double start_ = 0;               ///< wall_seconds()
  double read_ = 0;                ///< wall_seconds() of the last readings
};

}  // namespace sluice
