#pragma once
// What the budgets of a scalar c need beyond the profiles of flow_profiles.hpp: those of the variance cc and of the
// fluxes uc and wc (docs/equations.md, Budgets of scalars). Labelled after the scalar. c at u is c interpolated to the
// x face, u at c is u interpolated to the centre, both with the order of the scheme; c at w is the mean of both sides.
#include "solver/momentum/operators.hpp"
#include "solver/physics/buoyancy.hpp"
#include "solver/physics/rotation.hpp"
#include "solver/state/state.hpp"
#include "solver/statistics/profile_table.hpp"
#include "solver/transport/scalar_terms.hpp"

namespace sluice {

/// What the equations of u and c have in common, for the tables below.
struct ScalarBudgetArrays {
  op::In u, v, w, p, c;
  Metrics m;
  real nu, kappa, streamwise_source;
};

/// For the budgets of cc and uc, at the centres: the terms of the equation of u times c at u, and of c times u at c.
template <Order order>
struct ScalarBudgetCenterProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_center;

  ScalarBudgetArrays a;

  struct Values {
    double cx, cy;
    double c_at_u, u_at_c;
    double advection_u, advection_c, pressure, viscous_xy, diffusion_xy, source;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& at, Visitor& profile) {
    profile({"_dx_squared", ": derivative along x, squared"}, at.cx * at.cx);
    profile({"_dy_squared", ": derivative along y, squared"}, at.cy * at.cy);
    profile({"_u_advection", ": advection in the balance of its product with u"},
            -(at.advection_u * at.c_at_u + at.advection_c * at.u_at_c));
    profile({"_u_pressure", ": pressure gradient in the balance of its product with u"}, -at.pressure * at.c_at_u);
    profile({"_u_diffusion_xy", ": diffusion along x and y in the balance of its product with u"},
            at.viscous_xy * at.c_at_u + at.diffusion_xy * at.u_at_c);
    profile({"_u_source", ": its source along the flow times u"}, at.source * at.u_at_c);
  }

  SLUICE_INLINE Values at(const CellType& at) const {
    const real u_at_c = op::sum_above<order>(op::along_x(a.u, at), -1) / 2;
    return {static_cast<double>(op::ddx_center_to_face<order>(a.c, at, a.m)),
            static_cast<double>(op::ddy_center_to_face<order>(a.c, at, a.m)),
            static_cast<double>(op::sum_above<order>(op::along_x(a.c, at), 0)) / 2,
            static_cast<double>(u_at_c),
            static_cast<double>(op::advection<order, Location::x_face>(
                op::transports_of<order, Location::x_face>(a.u, a.v, at, a.m), a.u, a.w, at, a.m)),
            static_cast<double>(op::advection_of_scalar<order>(a.u, a.v, a.w, a.c, at, a.m)),
            static_cast<double>(op::ddx_center_to_face<order>(a.p, at, a.m)),
            static_cast<double>(a.nu * (op::d2dx2<order>(a.u, at, a.m) + op::d2dy2<order>(a.u, at, a.m))),
            static_cast<double>(a.kappa * (op::d2dx2<order>(a.c, at, a.m) + op::d2dy2<order>(a.c, at, a.m))),
            static_cast<double>(a.streamwise_source * u_at_c)};
  }
};

/// The same, on the z faces.
template <Order order>
struct ScalarBudgetFaceProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_face;
  static constexpr bool zero_on_walls = false;

  ScalarBudgetArrays a;

  struct Values {
    double c_below, c_above, w;
    double cz, uz, c_at_u_z;
    double diffusion, diffusivities;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& at, Visitor& profile) {
    profile({"_w_jump", ": half its difference above and below the face, times w"},
            (at.c_above - at.c_below) / 2 * at.w);
    profile({"_squared_w_flux", " below times above the face, times w: the scheme's flux of its square"},
            at.c_below * at.c_above * at.w);
    profile({"_dz_squared", ": derivative along z, squared"}, at.cz * at.cz);
    profile({"_u_diffusion_z", " times nu du/dz plus u times kappa times its derivative along z"}, at.diffusion);
    profile({"_u_dissipation_z", ": nu + kappa times du/dz times its derivative along z"},
            at.diffusivities * at.uz * at.c_at_u_z);
  }

  SLUICE_INLINE Values at(const CellType& at) const {
    const real c_at_u_below = op::sum_above<order>(op::along_x(a.c, at), 0) / 2;
    const real c_at_u_above = op::sum_above<order>(op::along_x(a.c, at, at.j, at.k + 1), 0) / 2;
    const real u_at_c_below = op::sum_above<order>(op::along_x(a.u, at), -1) / 2;
    const real u_at_c_above = op::sum_above<order>(op::along_x(a.u, at, at.j, at.k + 1), -1) / 2;
    const real cz = op::ddz_center_to_face(a.c, at, a.m);
    const real uz = op::ddz_center_to_face(a.u, at, a.m);
    return {static_cast<double>(a.c(at.i, at.j, at.k)),
            static_cast<double>(a.c(at.i, at.j, at.k + 1)),
            static_cast<double>(a.w(at.i, at.j, at.k)),
            static_cast<double>(cz),
            static_cast<double>(uz),
            static_cast<double>((c_at_u_above - c_at_u_below) * a.m.inv_dz_center[at.k]),
            static_cast<double>(a.nu * uz) * static_cast<double>(c_at_u_below + c_at_u_above) / 2 +
                static_cast<double>(a.kappa * cz) * static_cast<double>(u_at_c_below + u_at_c_above) / 2,
            static_cast<double>(a.nu + a.kappa)};
  }
};

/// For the budget of wc: the terms of the equation of c, each times w on the face above the cell, and on the one below.
/// Combined with the first of ScalarFluxFaceProfiles.
template <Order order>
struct ScalarFluxCenterProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_center;

  ScalarBudgetArrays a;

  struct Values {
    double w_below, w_above;
    double advection, diffusion_xy, diffusion_z;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& at, Visitor& profile) {
    visit_products(at, at.w_above, profile);
    visit_products(at, at.w_below, profile);
  }

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit_products(const Values& at, double w, Visitor& profile) {
    profile({"", ""}, -at.advection * w);
    profile({"", ""}, at.diffusion_xy * w);
    profile({"", ""}, at.diffusion_z * w);
  }

  SLUICE_INLINE Values at(const CellType& at) const {
    return {static_cast<double>(a.w(at.i, at.j, at.k - 1)), static_cast<double>(a.w(at.i, at.j, at.k)),
            static_cast<double>(op::advection_of_scalar<order>(a.u, a.v, a.w, a.c, at, a.m)),
            static_cast<double>(a.kappa * (op::d2dx2<order>(a.c, at, a.m) + op::d2dy2<order>(a.c, at, a.m))),
            static_cast<double>(a.kappa * op::d2dz2_center(a.c, at, a.m))};
  }
};

/// The terms of the equation of w, each times c at w; and pressure times the gradient of c, and the part of dissipation
/// from derivatives along z.
template <Order order>
struct ScalarFluxFaceProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_face;
  static constexpr bool zero_on_walls = true;

  ScalarBudgetArrays a;

  struct Values {
    double c;
    double advection, viscous_xy, viscous_z, pressure;
    double p_gradient, dissipation_z;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& at, Visitor& profile) {
    profile({"_w_advection", ": advection in the balance of its product with w"}, -at.advection * at.c);
    profile({"_w_diffusion_xy", ": diffusion along x and y in the balance of its product with w"},
            at.viscous_xy * at.c);
    profile({"_w_diffusion_z", ": diffusion along z in the balance of its product with w"}, at.viscous_z * at.c);
    profile({"_w_pressure", ": pressure gradient in the balance of its product with w"}, -at.pressure * at.c);
    profile({"_p_gradient", ": pressure times its derivative along z"}, at.p_gradient);
    profile({"_w_dissipation_z", ": nu + kappa times dw/dz times its derivative along z"}, at.dissipation_z);
  }

  SLUICE_INLINE Values at(const CellType& at) const {
    const real cz = op::ddz_center_to_face(a.c, at, a.m);
    const real wz = (a.w(at.i, at.j, at.k + 1) - a.w(at.i, at.j, at.k - 1)) / 2 * a.m.inv_dz_center[at.k];
    return {static_cast<double>(op::scalar_at_face<order, Location::z_face>(a.c, at)),
            static_cast<double>(op::advection<order, Location::z_face>(
                op::transports_of<order, Location::z_face>(a.u, a.v, at, a.m), a.w, a.w, at, a.m)),
            static_cast<double>(a.nu * (op::d2dx2<order>(a.w, at, a.m) + op::d2dy2<order>(a.w, at, a.m))),
            static_cast<double>(a.nu * op::d2dz2_face(a.w, at, a.m)),
            static_cast<double>(op::ddz_center_to_face(a.p, at, a.m)),
            static_cast<double>(op::scalar_at_face<order, Location::z_face>(a.p, at)) * static_cast<double>(cz),
            static_cast<double>((a.nu + a.kappa) * cz * wz)};
  }
};

/// The forces of terms, but for their constant parts, eqs. (11) and (13); in flows that have any.
struct ScalarForceArrays {
  op::In c;
  CoriolisForce coriolis;
  BuoyantForce buoyancy;

  /// For the scalar of this number.
  static ScalarForceArrays of(const State& state, const Metrics& metrics, const FlowParameters& flow,
                              std::size_t number) {
    const op::In c = state.transported[number].field.view();
    const VectorField& velocity = state.velocity;
    return {c, CoriolisForce::of(flow, velocity.u.view(), velocity.v.view(), velocity.w.view(), metrics),
            BuoyantForce::of(flow, state, c)};
  }
};

/// c at u times the forces on u.
template <Order order>
struct ScalarForceCenterProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_center;

  ScalarForceArrays a;

  struct Values {
    double c, coriolis, buoyancy;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& at, Visitor& profile) {
    profile({"_u_coriolis", " times the Coriolis force on u"}, at.c * at.coriolis);
    profile({"_u_buoyancy", " times buoyancy along x"}, at.c * at.buoyancy);
  }

  SLUICE_INLINE Values at(const CellType& at) const {
    return {static_cast<double>(op::scalar_at_face<order, Location::x_face>(a.c, at)),
            a.coriolis.template on_u<order>(at), a.buoyancy.template on_u<order>(at)};
  }
};

/// c at w times the forces on w.
template <Order order>
struct ScalarForceFaceProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_face;
  static constexpr bool zero_on_walls = true;

  ScalarForceArrays a;

  struct Values {
    double c, coriolis, buoyancy;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& at, Visitor& profile) {
    profile({"_w_coriolis", " times the Coriolis force on w"}, at.c * at.coriolis);
    profile({"_w_buoyancy", " times buoyancy along z"}, at.c * at.buoyancy);
  }

  SLUICE_INLINE Values at(const CellType& at) const {
    return {static_cast<double>(op::scalar_at_face<order, Location::z_face>(a.c, at)),
            a.coriolis.template on_w<order>(at), a.buoyancy.template on_w<order>(at)};
  }
};

}  // namespace sluice
