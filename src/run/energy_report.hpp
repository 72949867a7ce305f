#pragma once
// The energy of steps, for logs and JSON.
#include <nlohmann/json.hpp>
#include <string>

#include "core/device/energy_meter.hpp"

namespace sluice {

/// What an energy was taken for.
struct EnergyUse {
  double point_steps = 0;  ///< grid points times steps
  double time = 0;         ///< simulated, h/U; 0: not of interest
  double u_tau = 0;        ///< U; 0: unknown
};

/// Such as "energy of 2 GPUs: 120600 J in 90.0 s (1340 W), 95.3 nJ per point and step, 812 J per h/u_tau at u_tau =
/// 0.0637", or "energy: not measured (reason)".
std::string energy_text(const Energy& energy, const EnergyUse& use);

/// The same as JSON (docs/file-formats.md).
nlohmann::ordered_json energy_entry(const Energy& energy, const EnergyUse& use);

}  // namespace sluice
