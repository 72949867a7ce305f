#pragma once
// The statistics of the flow, each with name, description and value: to add one, add a line here.
#include "solver/momentum/operators.hpp"
#include "solver/statistics/profile_table.hpp"
#include "solver/transport/scalar_terms.hpp"

namespace sluice {

/// Profiles at the centres. Moments of u and v need no interpolation along z. Moments of w are the mean of those on the
/// cell's two faces, so that interpolation loses no fluctuation; vorticity is formed on the edges and its moments
/// averaged likewise.
template <Order order>
struct CenterProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_center;

  op::In u, v, w, p;
  Metrics m;

  /// The quantities of one cell from which profiles are formed; `below` and `above`: at the cell's two z faces.
  struct Values {
    double u, v, p;
    double w_below, w_above;
    double uv;
    double omega_x_below, omega_x_above, omega_y_below, omega_y_above, omega_z;
    double uu, vv, ww_below, ww_above;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& c, Visitor& profile) {
    profile({"u", "streamwise velocity"}, c.u);
    profile({"v", "spanwise velocity"}, c.v);
    profile({"w", "wall-normal velocity"}, (c.w_below + c.w_above) / 2);
    profile({"p", "pressure"}, c.p);
    profile({"uu", "u squared"}, c.uu);
    profile({"vv", "v squared"}, c.vv);
    profile({"ww", "w squared, mean of the two faces"}, (c.ww_below + c.ww_above) / 2);
    profile({"uv", "u v, momentum flux on the edges"}, c.uv);
    profile({"pp", "pressure squared"}, c.p * c.p);
    profile({"uuu", "u cubed"}, c.uu * c.u);
    profile({"vvv", "v cubed"}, c.vv * c.v);
    profile({"www", "w cubed, mean of the two faces"}, (c.ww_below * c.w_below + c.ww_above * c.w_above) / 2);
    profile({"uuuu", "u to the fourth"}, c.uu * c.uu);
    profile({"vvvv", "v to the fourth"}, c.vv * c.vv);
    profile({"wwww", "w to the fourth, mean of the two faces"},
            (c.ww_below * c.ww_below + c.ww_above * c.ww_above) / 2);
    profile({"omega_x", "streamwise vorticity dw/dy - dv/dz"}, (c.omega_x_below + c.omega_x_above) / 2);
    profile({"omega_y", "spanwise vorticity du/dz - dw/dx"}, (c.omega_y_below + c.omega_y_above) / 2);
    profile({"omega_z", "wall-normal vorticity dv/dx - du/dy"}, c.omega_z);
    profile({"omega_xx", "streamwise vorticity squared"},
            (c.omega_x_below * c.omega_x_below + c.omega_x_above * c.omega_x_above) / 2);
    profile({"omega_yy", "spanwise vorticity squared"},
            (c.omega_y_below * c.omega_y_below + c.omega_y_above * c.omega_y_above) / 2);
    profile({"omega_zz", "wall-normal vorticity squared"}, c.omega_z * c.omega_z);
  }

  SLUICE_INLINE Values at(const CellType& c) const {
    Values at{};
    at.u = static_cast<double>(u(c.i, c.j, c.k));
    at.v = static_cast<double>(v(c.i, c.j, c.k));
    at.p = static_cast<double>(p(c.i, c.j, c.k));
    at.w_below = static_cast<double>(w(c.i, c.j, c.k - 1));
    at.w_above = static_cast<double>(w(c.i, c.j, c.k));
    at.uv = static_cast<double>(op::uv_at_xy_edge<order>(u, v, c));
    at.omega_x_below = omega_x(c, c.k - 1);
    at.omega_x_above = omega_x(c, c.k);
    at.omega_y_below = omega_y(c, c.k - 1);
    at.omega_y_above = omega_y(c, c.k);
    at.omega_z = static_cast<double>(op::ddx_center_to_face<order>(v, c, m) - op::ddy_center_to_face<order>(u, c, m));
    at.uu = at.u * at.u;
    at.vv = at.v * at.v;
    at.ww_below = at.w_below * at.w_below;
    at.ww_above = at.w_above * at.w_above;
    return at;
  }

  /// dw/dy - dv/dz on the edge at y face j and z face k.
  SLUICE_INLINE double omega_x(const CellType& c, int k) const {
    return static_cast<double>(op::difference_above<order>(op::along_y(w, c.i, c.j, k), 0) * m.inv_dy -
                               (v(c.i, c.j, k + 1) - v(c.i, c.j, k)) * m.inv_dz_center[k]);
  }
  /// du/dz - dw/dx on the edge at x face i and z face k.
  SLUICE_INLINE double omega_y(const CellType& c, int k) const {
    return static_cast<double>((u(c.i, c.j, k + 1) - u(c.i, c.j, k)) * m.inv_dz_center[k] -
                               op::difference_above<order>(op::along_x(w, c, c.j, k), 0) * m.inv_dx);
  }
};

/// Profiles on the z faces: the scheme's own momentum fluxes and viscous stress, so that the total stress closes.
/// Index k denotes the upper face of cell k; k = -1 is the bottom wall.
template <Order order>
struct FaceProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_face;
  static constexpr bool zero_on_walls = false;

  op::In u, v, w;
  Metrics m;
  real nu;

  struct Values {
    double uw, vw, tau_xz, tau_yz;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& c, Visitor& profile) {
    profile({"uw", "u w, the scheme's momentum flux through z faces"}, c.uw);
    profile({"vw", "v w, the scheme's momentum flux through z faces"}, c.vw);
    profile({"tau_xz", "viscous stress nu du/dz"}, c.tau_xz);
    profile({"tau_yz", "viscous stress nu dv/dz"}, c.tau_yz);
  }

  SLUICE_INLINE Values at(const CellType& c) const {
    return {static_cast<double>(op::uw_at_xz_edge<order>(u, w, c, c.k)),
            static_cast<double>(op::vw_at_yz_edge<order>(v, w, c, c.k)),
            static_cast<double>(nu * op::ddz_center_to_face(u, c, m)),
            static_cast<double>(nu * op::ddz_center_to_face(v, c, m))};
  }
};

/// Profiles of a scalar at the centres, labelled after it. Velocities are interpolated with the order of the scheme.
template <Order order>
struct ScalarProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_center;

  op::In u, v, c;

  struct Values {
    double u, v, c;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& at, Visitor& profile) {
    profile({"", ""}, at.c);
    profile({"_squared", ", squared"}, at.c * at.c);
    profile({"_cubed", ", cubed"}, at.c * at.c * at.c);
    profile({"_fourth", ", to the fourth power"}, at.c * at.c * at.c * at.c);
    profile({"_u", " times streamwise velocity"}, at.u * at.c);
    profile({"_v", " times spanwise velocity"}, at.v * at.c);
  }

  SLUICE_INLINE Values at(const CellType& at) const {
    return {static_cast<double>(op::sum_above<order>(op::along_x(u, at), -1)) / 2,
            static_cast<double>(op::sum_above<order>(op::along_y(v, at), -1)) / 2,
            static_cast<double>(c(at.i, at.j, at.k))};
  }
};

/// Its profiles on the z faces: the scheme's own fluxes, so that the total flux closes.
struct ScalarFaceProfiles {
  using CellType = Cell;
  static constexpr ProfileAxis axis = ProfileAxis::z_face;
  static constexpr bool zero_on_walls = false;

  op::In w, c;
  Metrics m;
  real kappa;

  struct Values {
    double wc, diffusion;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& at, Visitor& profile) {
    profile({"_w", " times wall-normal velocity, the scheme's flux through z faces"}, at.wc);
    profile({"_gradient_flux", ": kappa times its derivative along z"}, at.diffusion);
  }

  SLUICE_INLINE Values at(Cell at) const {
    return {static_cast<double>(op::wc_at_z_face(w(at.i, at.j, at.k), c, at.i, at.j, at.k)),
            static_cast<double>(kappa * op::ddz_center_to_face(c, at, m))};
  }
};

}  // namespace sluice
