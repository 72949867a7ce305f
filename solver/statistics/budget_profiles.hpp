#pragma once
// What the budgets of uu, vv, ww and uw need beyond the profiles of flow_profiles.hpp (docs/equations.md, Budgets):
// products of the scheme's own fluxes and differences, so that the terms of a budget add up to what the scheme does.
#include "solver/momentum/operators.hpp"
#include "solver/statistics/profile_table.hpp"

namespace sluice {

/// For the budgets of uu, vv and ww, at the centres.
template <Order order>
struct EnergyCenterProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_center;

  op::In u, v, w, p;
  Metrics m;

  struct Values {
    double p, w_below, w_above;
    double ux, uy, vx, vy, wz;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& c, Visitor& profile) {
    const double w = (c.w_below + c.w_above) / 2;
    profile({"ww_flux", "w w, the scheme's momentum flux through the centres"}, w * w);
    profile({"www_flux", "w at both faces times their mean: the scheme's flux of w squared"},
            c.w_below * c.w_above * w);
    profile({"pw", "pressure times the mean of w on the two faces"}, c.p * w);
    profile({"p_dudx", "pressure times du/dx"}, c.p * c.ux);
    profile({"p_dvdy", "pressure times dv/dy"}, c.p * c.vy);
    profile({"p_dwdz", "pressure times dw/dz"}, c.p * c.wz);
    profile({"dudx_squared", "du/dx squared"}, c.ux * c.ux);
    profile({"dudy_squared", "du/dy squared"}, c.uy * c.uy);
    profile({"dvdx_squared", "dv/dx squared"}, c.vx * c.vx);
    profile({"dvdy_squared", "dv/dy squared"}, c.vy * c.vy);
    profile({"dwdz_squared", "dw/dz squared"}, c.wz * c.wz);
  }

  SLUICE_INLINE Values at(const CellType& c) const {
    return {static_cast<double>(p(c.i, c.j, c.k)),
            static_cast<double>(w(c.i, c.j, c.k - 1)),
            static_cast<double>(w(c.i, c.j, c.k)),
            static_cast<double>(op::ddx_face_to_center<order>(u, c, m)),
            static_cast<double>(op::ddy_center_to_face<order>(u, c, m)),
            static_cast<double>(op::ddx_center_to_face<order>(v, c, m)),
            static_cast<double>(op::ddy_face_to_center<order>(v, c, m)),
            static_cast<double>(op::ddz_face_to_center(w, c, m))};
  }
};

/// The same, on the z faces.
template <Order order>
struct EnergyFaceProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_face;
  static constexpr bool zero_on_walls = false;

  op::In u, v, w;
  Metrics m;

  struct Values {
    double u_below, u_above, v_below, v_above;
    double w, w_of_u, w_of_v;  ///< at its own point, and interpolated to where it carries u and v
    double uz, vz, wx, wy;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& c, Visitor& profile) {
    profile({"uw_jump", "half the difference of u above and below the face, times w"},
            (c.u_above - c.u_below) / 2 * c.w_of_u);
    profile({"vw_jump", "half the difference of v above and below the face, times w"},
            (c.v_above - c.v_below) / 2 * c.w_of_v);
    profile({"uuw_flux", "u below times u above the face, times w: the scheme's flux of u squared"},
            c.u_below * c.u_above * c.w_of_u);
    profile({"vvw_flux", "v below times v above the face, times w: the scheme's flux of v squared"},
            c.v_below * c.v_above * c.w_of_v);
    profile({"ww_face", "w squared on the face"}, c.w * c.w);
    profile({"dudz_squared", "du/dz squared"}, c.uz * c.uz);
    profile({"dvdz_squared", "dv/dz squared"}, c.vz * c.vz);
    profile({"dwdx_squared", "dw/dx squared"}, c.wx * c.wx);
    profile({"dwdy_squared", "dw/dy squared"}, c.wy * c.wy);
  }

  SLUICE_INLINE Values at(const CellType& c) const {
    const auto w_along_x = op::along_x(w, c);
    const auto w_along_y = op::along_y(w, c);
    return {static_cast<double>(u(c.i, c.j, c.k)),
            static_cast<double>(u(c.i, c.j, c.k + 1)),
            static_cast<double>(v(c.i, c.j, c.k)),
            static_cast<double>(v(c.i, c.j, c.k + 1)),
            static_cast<double>(w(c.i, c.j, c.k)),
            static_cast<double>(op::sum_above<order>(w_along_x, 0)) / 2,
            static_cast<double>(op::sum_above<order>(w_along_y, 0)) / 2,
            static_cast<double>(op::ddz_center_to_face(u, c, m)),
            static_cast<double>(op::ddz_center_to_face(v, c, m)),
            static_cast<double>(op::difference_above<order>(w_along_x, 0) * m.inv_dx),
            static_cast<double>(op::difference_above<order>(w_along_y, 0) * m.inv_dy)};
  }
};

/// The terms of the momentum equation of u, each times w interpolated to x face i on the z face above the cell, and on
/// the one below. Combined with those of StressFaceProfiles into profiles of the budget of uw.
template <Order order>
struct StressCenterProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_center;

  op::In u, v, w, p;
  Metrics m;
  real nu;

  struct Values {
    double w_below, w_above;
    double advection, pressure, viscous_xy, viscous_z;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& c, Visitor& profile) {
    visit_products(c, c.w_above, profile);
    visit_products(c, c.w_below, profile);
  }

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit_products(const Values& c, double w, Visitor& profile) {
    profile({"", ""}, -c.advection * w);
    profile({"", ""}, -c.pressure * w);
    profile({"", ""}, c.viscous_xy * w);
    profile({"", ""}, c.viscous_z * w);
  }

  SLUICE_INLINE Values at(const CellType& c) const {
    return {static_cast<double>(op::sum_above<order>(op::along_x(w, c, c.j, c.k - 1), 0)) / 2,
            static_cast<double>(op::sum_above<order>(op::along_x(w, c), 0)) / 2,
            static_cast<double>(op::advection<order, Location::x_face>(
                op::transports_of<order, Location::x_face>(u, v, c, m), u, w, c, m)),
            static_cast<double>(op::ddx_center_to_face<order>(p, c, m)),
            static_cast<double>(nu * (op::d2dx2<order>(u, c, m) + op::d2dy2<order>(u, c, m))),
            static_cast<double>(nu * op::d2dz2_center(u, c, m))};
  }
};

/// The terms of the momentum equation of w, each times u interpolated to the centre of the face; and for the budget of
/// uw, pressure times strain rate and the part of dissipation from derivatives along z.
template <Order order>
struct StressFaceProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_face;
  static constexpr bool zero_on_walls = true;

  op::In u, v, w, p;
  Metrics m;
  real nu;

  struct Values {
    double u;
    double advection, pressure, viscous_xy, viscous_z;
    double p_strain, dissipation_z;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& c, Visitor& profile) {
    profile({"uw_advection", "advection in the balance of u w"}, -c.advection * c.u);
    profile({"uw_pressure", "pressure gradient in the balance of u w"}, -c.pressure * c.u);
    profile({"uw_viscous_xy", "viscous term along x and y in the balance of u w"}, c.viscous_xy * c.u);
    profile({"uw_viscous_z", "viscous term along z in the balance of u w"}, c.viscous_z * c.u);
    profile({"p_strain_xz", "pressure times du/dz + dw/dx"}, c.p_strain);
    profile({"uw_dissipation_z", "2 nu du/dz dw/dz"}, c.dissipation_z);
  }

  SLUICE_INLINE Values at(const CellType& c) const {
    const auto w_above = op::sum_above<order>(op::along_x(w, c, c.j, c.k + 1), 0) / 2;
    const auto w_below = op::sum_above<order>(op::along_x(w, c, c.j, c.k - 1), 0) / 2;
    const real uz = op::ddz_center_to_face(u, c, m);
    const real wx = op::difference_above<order>(op::along_x(w, c), 0) * m.inv_dx;
    const real pressure =
        op::sum_above<order>(op::along_x(p, c), 0) + op::sum_above<order>(op::along_x(p, c, c.j, c.k + 1), 0);
    const real u_sum =
        op::sum_above<order>(op::along_x(u, c), -1) + op::sum_above<order>(op::along_x(u, c, c.j, c.k + 1), -1);
    return {static_cast<double>(u_sum) / 4,
            static_cast<double>(op::advection<order, Location::z_face>(
                op::transports_of<order, Location::z_face>(u, v, c, m), w, w, c, m)),
            static_cast<double>(op::ddz_center_to_face(p, c, m)),
            static_cast<double>(nu * (op::d2dx2<order>(w, c, m) + op::d2dy2<order>(w, c, m))),
            static_cast<double>(nu * op::d2dz2_face(w, c, m)),
            static_cast<double>(pressure) / 4 * static_cast<double>(uz + wx),
            static_cast<double>(nu * uz * (w_above - w_below) * m.inv_dz_center[c.k])};
  }
};

}  // namespace sluice
