#pragma once
#include <array>

#include "solver/momentum/operators.hpp"
#include "solver/physics/term.hpp"

namespace sluice {

/// A rotating frame. The Coriolis force is -2 Omega x (u - geostrophic), eq. (11).
struct RotationParameters {
  double number = 0;                    ///< as given: 2 Omega h/U
  std::array<double, 3> axis{};         ///< as given, of any length
  std::array<double, 3> rate{};         ///< Omega in U/h, which follows from both
  std::array<double, 2> geostrophic{};  ///< velocity along x and y whose Coriolis force the mean pressure balances

  bool active() const { return rate != std::array<double, 3>{}; }
  bool has_geostrophic() const { return geostrophic != std::array<double, 2>{}; }
  bool operator==(const RotationParameters&) const = default;
};

const Term& rotation_term();

/// The Coriolis force but for its constant part, at the places of u and of w; for the budgets of scalars.
struct CoriolisForce {
  op::In u, v, w;
  Metrics m;
  real twice_rate_x, twice_rate_y, twice_rate_z;

  static CoriolisForce of(const FlowParameters& flow, op::In u, op::In v, op::In w, const Metrics& m) {
    const std::array<double, 3>& rate = flow.terms.of<RotationParameters>().rate;
    return {u, v, w, m, static_cast<real>(2 * rate[0]), static_cast<real>(2 * rate[1]), static_cast<real>(2 * rate[2])};
  }

  template <Order order>
  SLUICE_INLINE double on_u(const op::CellFor<order>& at) const {
    return static_cast<double>(twice_rate_z * op::v_at_x_face<order>(v, at) -
                               twice_rate_y * op::w_at_x_face<order>(w, at));
  }
  template <Order order>
  SLUICE_INLINE double on_w(const op::CellFor<order>& at) const {
    return static_cast<double>(twice_rate_y * op::u_at_z_face<order>(u, at, m) -
                               twice_rate_x * op::v_at_z_face<order>(v, at, m));
  }
};

}  // namespace sluice
