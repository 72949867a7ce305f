#pragma once
// Budgets formed from one sample of the statistics as docs/equations.md says.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/direct_sums.hpp"

namespace sluice::test {

using Profile = std::vector<double>;

/// The terms of a budget; those that it does not have are empty.
struct Budget {
  Profile production, transport, pressure_strain, pressure_transport, diffusion, dissipation;
  Profile source, coriolis, buoyancy;
  double sum(std::size_t k) const {
    const auto at = [k](const Profile& term) { return term.empty() ? 0 : term[k]; };
    return at(production) + at(transport) + at(pressure_strain) + at(pressure_transport) + at(diffusion) -
           at(dissipation) + at(source) + at(coriolis) + at(buoyancy);
  }
};

/// Budgets of stresses from profiles. Number f of a face profile is the face below centre f.
class Budgets {
 public:
  Budgets(const Flow& flow, const Profiles& profiles) : flow_(flow), of_(profiles), nz_(flow.settings.cells[2]) {}

  /// At the centres, of uu or vv.
  Budget along(const std::string& c) const {
    const bool is_u = c == "u";
    const Profile& mean = of_.at(c);
    const Profile& flux = of_.at(c + "w");
    const Profile& jump = of_.at(c + "w_jump");
    const Profile& stress = of_.at(is_u ? "tau_xz" : "tau_yz");
    Budget b;
    for (std::int64_t k = 0; k < nz_; ++k) {
      const double dz = flow_.grid.dz(k);
      const double inner_below = k > 0 ? at(mean, k) - at(mean, k - 1) : 0;  // w is 0 on the walls
      const double inner_above = k + 1 < nz_ ? at(mean, k + 1) - at(mean, k) : 0;
      b.production.push_back(
          -(inner_above * (at(flux, k + 1) - at(jump, k + 1)) + inner_below * (at(flux, k) + at(jump, k))) / dz);
      b.transport.push_back(-(triple(c, k + 1) - triple(c, k)) / dz);
      b.pressure_strain.push_back(2 * at(of_.at(is_u ? "p_dudx" : "p_dvdy"), k));
      b.diffusion.push_back((diffusive_flux(c, k + 1) - diffusive_flux(c, k)) / dz);
      const auto gradient =
          [&](std::int64_t f) {  // variance of the derivative along z, times the distance of the centres
            const double of_mean = at(stress, f) / nu();
            return (at(of_.at("d" + c + "dz_squared"), f) - of_mean * of_mean) * flow_.grid.dz_center(f - 1);
          };
      b.dissipation.push_back(2 * nu() *
                                  (at(of_.at("d" + c + "dx_squared"), k) + at(of_.at("d" + c + "dy_squared"), k)) +
                              nu() * (gradient(k + 1) + gradient(k)) / dz);
    }
    return b;
  }

  /// Of ww on the inner faces; entry 0 is face 1.
  Budget of_ww() const {
    Budget b;
    for (std::int64_t f = 1; f < nz_; ++f) {
      const double dz = flow_.grid.dz_center(f - 1);
      const double above = flow_.grid.dz(f);
      const double below = flow_.grid.dz(f - 1);
      const auto jump = [&](const char* name) { return at(of_.at(name), f) - at(of_.at(name), f - 1); };
      const auto around = [&](const char* name) {
        return above * at(of_.at(name), f) + below * at(of_.at(name), f - 1);
      };
      const Profile& ww = of_.at("ww_face");
      b.transport.push_back(-jump("www_flux") / dz);
      b.pressure_strain.push_back(around("p_dwdz") / dz);
      b.pressure_transport.push_back(-2 * jump("pw") / dz);
      b.diffusion.push_back(nu() * ((at(ww, f + 1) - at(ww, f)) / above - (at(ww, f) - at(ww, f - 1)) / below) / dz);
      b.dissipation.push_back(2 * nu() * (at(of_.at("dwdx_squared"), f) + at(of_.at("dwdy_squared"), f)) +
                              nu() * around("dwdz_squared") / dz);
    }
    return b;
  }

  /// Of uw on the inner faces; entry 0 is face 1.
  Budget of_uw() const {
    Budget b;
    for (std::int64_t f = 1; f < nz_; ++f) {
      const double dz = flow_.grid.dz_center(f - 1);
      const auto jump = [&](const char* name) { return at(of_.at(name), f) - at(of_.at(name), f - 1); };
      const double mean_u = (at(of_.at("u"), f - 1) + at(of_.at("u"), f)) / 2;
      const double mean_p = (at(of_.at("p"), f - 1) + at(of_.at("p"), f)) / 2;
      const double shear = jump("u") / dz;
      const double production = -at(of_.at("ww_face"), f) * shear;
      const double strain = at(of_.at("p_strain_xz"), f) - mean_p * shear;
      const double dissipation = at(of_.at("uw_dissipation_z"), f) - at(of_.at("uw_viscous_xy"), f);
      b.production.push_back(production);
      b.transport.push_back(at(of_.at("uw_advection"), f) + mean_u * jump("ww_flux") / dz - production);
      b.pressure_strain.push_back(strain);
      b.pressure_transport.push_back(at(of_.at("uw_pressure"), f) + mean_u * jump("p") / dz - strain);
      b.dissipation.push_back(dissipation);
      b.diffusion.push_back(at(of_.at("uw_viscous_z"), f) + at(of_.at("uw_dissipation_z"), f));
    }
    return b;
  }

 private:
  static double at(const Profile& profile, std::int64_t k) { return profile[static_cast<std::size_t>(k)]; }
  double nu() const { return flow_.settings.flow.viscosity; }
  double variance(const std::string& c, std::int64_t k) const {
    return at(of_.at(c + c), k) - std::pow(at(of_.at(c), k), 2);
  }

  /// <c' c' w'> on face f, of c below and above.
  double triple(const std::string& c, std::int64_t f) const {
    if (f == 0 || f == nz_) return 0;
    const Profile& mean = of_.at(c);
    const double flux = at(of_.at(c + "w"), f);
    const double jump = at(of_.at(c + "w_jump"), f);
    return at(of_.at(c + c + "w_flux"), f) - at(mean, f - 1) * (flux + jump) - at(mean, f) * (flux - jump);
  }
  /// No flux through the walls, where fluctuations vanish.
  double diffusive_flux(const std::string& c, std::int64_t f) const {
    if (f == 0 || f == nz_) return 0;
    return nu() * (variance(c, f) - variance(c, f - 1)) / flow_.grid.dz_center(f - 1);
  }

  const Flow& flow_;
  const Profiles& of_;
  std::int64_t nz_;
};

}  // namespace sluice::test
