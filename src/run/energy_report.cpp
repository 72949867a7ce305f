#include "src/run/energy_report.hpp"

#include <fmt/format.h>

namespace sluice {

namespace {

double watts(const Energy& energy) {
  return energy.seconds > 0 ? energy.joules / energy.seconds : 0;
}

double nj_per_point_per_step(const Energy& energy, const EnergyUse& use) {
  return use.point_steps > 0 ? energy.joules / use.point_steps * 1e9 : 0;
}

/// 0 if it is not known.
double joules_per_friction_time(const Energy& energy, const EnergyUse& use) {
  return use.time > 0 && use.u_tau > 0 ? energy.joules / (use.time * use.u_tau) : 0;
}

}  // namespace

std::string energy_text(const Energy& energy, const EnergyUse& use) {
  if (!energy.fault.empty()) return fmt::format("energy: not measured ({})", energy.fault);
  std::string text = fmt::format("energy of {} {}{}: {:.4g} J in {:.1f} s ({:.4g} W), {:.4g} nJ per point and step",
                                 energy.devices, energy.device, energy.devices == 1 ? "" : "s", energy.joules,
                                 energy.seconds, watts(energy), nj_per_point_per_step(energy, use));
  if (const double joules = joules_per_friction_time(energy, use); joules > 0)
    text += fmt::format(", {:.4g} J per h/u_tau at u_tau = {:.4g}", joules, use.u_tau);
  return text;
}

nlohmann::ordered_json energy_entry(const Energy& energy, const EnergyUse& use) {
  if (!energy.fault.empty()) return {{"not_measured", energy.fault}};
  nlohmann::ordered_json entry{
      {"device", energy.device}, {"devices", energy.devices},
      {"joules", energy.joules}, {"seconds", energy.seconds},
      {"watts", watts(energy)},  {"nj_per_point_per_step", nj_per_point_per_step(energy, use)},
  };
  if (const double joules = joules_per_friction_time(energy, use); joules > 0) {
    entry["joules_per_h_over_u_tau"] = joules;
    entry["u_tau"] = use.u_tau;
  }
  return entry;
}

}  // namespace sluice
