// The rotation of the frame of reference, and the Ekman layer that a geostrophic flow above a wall causes.
#include "solver/physics/rotation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solver/physics/force_loops.hpp"

namespace sluice {

namespace {

// The Coriolis force one axis at a time: each component of Omega turns two components of the velocity. V: a view of a
// whole array, or what is around one row.

template <Order order, class V>
struct CoriolisAboutX {
  using CellType = op::CellFor<order>;
  static constexpr int words() { return 2 + 2 * Forced::words; }
  V v, w;
  Forced force_v, force_w;
  Metrics m;
  real twice_rate, geostrophic_v;
  SLUICE_INLINE void operator()(CellType c) const {
    force_v.add(c, twice_rate * op::w_at_y_face<order>(w, c));
    force_w.add(c, -twice_rate * (op::v_at_z_face<order>(v, c, m) - geostrophic_v));
  }
};

template <Order order, class V>
struct CoriolisAboutY {
  using CellType = op::CellFor<order>;
  static constexpr int words() { return 2 + 2 * Forced::words; }
  V u, w;
  Forced force_u, force_w;
  Metrics m;
  real twice_rate, geostrophic_u;
  SLUICE_INLINE void operator()(CellType c) const {
    force_u.add(c, -twice_rate * op::w_at_x_face<order>(w, c));
    force_w.add(c, twice_rate * (op::u_at_z_face<order>(u, c, m) - geostrophic_u));
  }
};

template <Order order, class V>
struct CoriolisAboutZ {
  using CellType = op::CellFor<order>;
  static constexpr int words() { return 2 + 2 * Forced::words; }
  V u, v;
  Forced force_u, force_v;
  real twice_rate, geostrophic_u, geostrophic_v;
  SLUICE_INLINE void operator()(CellType c) const {
    force_u.add(c, twice_rate * (op::v_at_x_face<order>(v, c) - geostrophic_v));
    force_v.add(c, -twice_rate * (op::u_at_y_face<order>(u, c) - geostrophic_u));
  }
};

struct CoriolisKernels {
  static constexpr bool reads_velocity = true;
  RotationParameters rotation;

  template <Order order, class V, class Action>
  void for_each(const ForceArrays<V>& a, const Action& action) const {
    const auto& [rate_x, rate_y, rate_z] = rotation.rate;
    const auto u = static_cast<real>(rotation.geostrophic[0]);
    const auto v = static_cast<real>(rotation.geostrophic[1]);
    const auto twice = [](double rate) { return static_cast<real>(2 * rate); };
    if (rate_x != 0)
      action("Coriolis force about x", CoriolisAboutX<order, V>{a.v, a.w, a.force_v, a.force_w, a.m, twice(rate_x), v});
    if (rate_y != 0)
      action("Coriolis force about y", CoriolisAboutY<order, V>{a.u, a.w, a.force_u, a.force_w, a.m, twice(rate_y), u});
    if (rate_z != 0)
      action("Coriolis force about z", CoriolisAboutZ<order, V>{a.u, a.v, a.force_u, a.force_v, twice(rate_z), u, v});
  }
};

/// u_tau/G of the geostrophic drag law of smooth walls. delta+ = u_tau^2/(f nu), and phi is the angle between the wall
/// stress and the geostrophic velocity:
///   (G/u_tau) cos(phi) = ln(delta+)/kappa + A,   sin(phi) = B u_tau/G
/// The form follows from matching a logarithmic layer to an outer layer of depth u_tau/f (Rossby-number similarity).
/// A and B were chosen for small Re_D: the law is within 2 % of u_tau/G = 0.0652 at Re_D = 400 (Coleman, Ferziger &
/// Spalart, J. Fluid Mech. 213, 313, 1990) and 0.0531 at 1000 (Coleman, J. Atmos. Sci. 56, 891, 1999).
double drag_law(double re_d) {
  constexpr double kappa = 0.41;
  constexpr double offset = 0.3;
  constexpr double sine = 5.57;
  double low = 0;
  double high = 1 / sine;
  for (int n = 0; n < 60; ++n) {
    const double ratio = (low + high) / 2;
    const double cosine = std::sqrt(1 - std::pow(sine * ratio, 2));
    const double delta_plus = std::pow(ratio * re_d, 2) / 2;
    (cosine / ratio > std::log(delta_plus) / kappa + offset ? low : high) = ratio;
  }
  return (low + high) / 2;
}

/// Below this Re_D = G D/nu, with the geostrophic speed G and the depth D = sqrt(nu/|Omega_z|), a laminar Ekman layer
/// is stable to small disturbances (Leibovich & Lele, J. Fluid Mech. 150, 41, 1985).
constexpr double lowest_unstable_re_ekman = 54.2;

std::vector<ParameterKey> rotation_keys() {
  using R = RotationParameters;
  return {
      {.path = "flow.rotation",
       .value = ParameterValue{parameter_section<R>()},
       .words = {"none"},
       .fallback = "none",
       .meaning = "A frame that rotates at a constant rate about any axis. Velocities are relative to the frame.",
       .commented = true},
      {.path = "flow.rotation.number",
       .value = ParameterValue{parameter(&R::number)},
       .required = true,
       .unit = "1",
       .meaning = "The rotation number Ro = 2 Omega h / U; Omega > 0 is a right-handed rotation about the axis. "
                  "About a spanwise axis (y), Ro > 0 pushes a flow along +x towards the top wall, which is then the "
                  "pressure side; Ro < 0 makes the bottom wall the pressure side.",
       .example = "0.5",
       .commented = true},
      {.path = "flow.rotation.axis",
       .value =
           ParameterValue{.bound = parameter(&R::axis),
                          .names = {{"streamwise", {1, 0, 0}}, {"spanwise", {0, 1, 0}}, {"wall_normal", {0, 0, 1}}}},
       .words = {"streamwise", "spanwise", "wall_normal"},
       .fallback = "spanwise",
       .unit = "1",
       .meaning = "Direction of the axis: streamwise (x), spanwise (y), wall_normal (z), or a vector of any length.",
       .commented = true},
      {.path = "flow.rotation.geostrophic",
       .value = ParameterValue{parameter(&R::geostrophic)},
       .fallback = "[0, 0]",
       .unit = "U",
       .meaning = "Velocity along x and y whose Coriolis force the mean pressure gradient balances: that far above "
                  "an Ekman layer. Needs an axis with a wall-normal component, and drives the flow in place of "
                  "flow.forcing.",
       .commented = true},
  };
}

class Rotation final : public Term {
 public:
  std::string name() const override { return "rotation"; }
  bool active(const FlowParameters& flow) const override { return of(flow).active(); }

  std::vector<ParameterKey> keys() const override { return rotation_keys(); }
  std::vector<Synonym> synonyms() const override {
    return {{"ro", "flow.rotation.number"},
            {"rossby", "flow.rotation.number"},
            {"coriolis", "flow.rotation"},
            {"omega", "flow.rotation.number"},
            {"wind", "flow.rotation.geostrophic"}};
  }

  std::vector<ValueSynonym> value_synonyms() const override {
    return {{"ekman", "open_channel", "flow.rotation.geostrophic"},
            {"ekman_layer", "open_channel", "flow.rotation.geostrophic"},
            {"rotating_channel", "channel", "flow.rotation"}};
  }

  void derive(FlowParameters& flow, const CaseFacts& /*facts*/) const override {
    if (of(flow) == RotationParameters{}) return;
    RotationParameters& rotation = flow.terms.edit<RotationParameters>();
    const double length = std::hypot(rotation.axis[0], rotation.axis[1], rotation.axis[2]);
    rotation.rate = rotation.axis;
    for (double& component : rotation.rate) component = length > 0 ? rotation.number / 2 * (component / length) : 0;
  }

  void check(const FlowParameters& flow, const RuleReport& report) const override {
    const RotationParameters& rotation = of(flow);
    if (!report.good("flow.rotation") || rotation == RotationParameters{}) return;
    const auto drives = [](const ForcingParameters& forcing) { return forcing.kind != ForcingKind::none; };
    if (flow.periodic_z && report.good("flow.type") &&
        ((rotation.rate[1] != 0 && drives(flow.forcing)) || (rotation.rate[0] != 0 && drives(flow.spanwise_forcing))))
      report.note("flow.rotation",
                  "flow.type periodic has no walls, so no pressure would balance a Coriolis force along z on a driven "
                  "flow; allowed: a rotation and a forcing that cause none");
    if (rotation.axis == std::array<double, 3>{})
      report.note("flow.rotation.axis", "a vector of length 0 is no axis; allowed: one with a component other than 0");
    if (!rotation.has_geostrophic()) return;
    if (rotation.rate[2] == 0)
      report.note("flow.rotation.geostrophic",
                  "the rotation has no wall-normal component, so a mean pressure gradient cannot balance "
                  "the Coriolis force of a velocity along x and y; allowed: [0, 0]");
    if (drives(flow.forcing) || drives(flow.spanwise_forcing))
      report.note("flow.rotation.geostrophic",
                  "it is the mean pressure gradient, as flow.forcing is; allowed: one of the two");
  }

  bool drives_from_above(const FlowParameters& flow) const override { return of(flow).has_geostrophic(); }

  std::string mean_force(const FlowParameters& flow) const override {
    if (of(flow).rate[2] == 0) return {};
    return "rotation about a wall-normal axis is a mean force, which adds to the friction of the walls";
  }

  /// 2 |Omega| / sqrt(3): the eigenvalues of the Coriolis force are imaginary, and interpolation makes none of them
  /// larger.
  double rate(const FlowParameters& flow) const override {
    const std::array<double, 3>& rate = of(flow).rate;
    return 2 * std::hypot(rate[0], rate[1], rate[2]) / std::sqrt(3.0);
  }

  bool is_in_scalar_budgets(const FlowParameters& flow) const override { return active(flow); }
  std::unique_ptr<BodyForce> force(const Metrics& metrics, const FlowParameters& flow) const override {
    if (!active(flow)) return nullptr;
    return std::make_unique<LoopedForce<CoriolisKernels>>(CoriolisKernels{of(flow)}, metrics, flow.order);
  }

  MeanOperator mean_operator(const FlowParameters& flow) const override {
    const RotationParameters& rotation = of(flow);
    const std::complex<double> geostrophic(rotation.geostrophic[0], rotation.geostrophic[1]);
    return {.factor = {0, -2 * rotation.rate[2]},
            .source = std::complex<double>(0, 2 * rotation.rate[2]) * geostrophic};
  }

  std::optional<BoundaryLayer> boundary_layer(const FlowParameters& flow) const override {
    const RotationParameters& rotation = of(flow);
    if (!rotation.has_geostrophic()) return {};
    const double speed = std::hypot(rotation.geostrophic[0], rotation.geostrophic[1]);
    const double coriolis = 2 * std::abs(rotation.rate[2]);
    const double depth = std::sqrt(2 * flow.viscosity / coriolis);
    const double reynolds = speed * depth / flow.viscosity;
    const double laminar = std::sqrt(std::numbers::sqrt2 / reynolds);  // exact: u_tau^2 = sqrt(2) nu G/D
    const double friction_velocity = speed * std::max(laminar, drag_law(reynolds));
    return BoundaryLayer{.velocity = rotation.geostrophic,
                         .speed = speed,
                         .depth = depth,
                         .reynolds_name = "Re_D",
                         .reynolds = reynolds,
                         .lowest_unstable = lowest_unstable_re_ekman,
                         .period = 2 * std::numbers::pi / coriolis,
                         .friction_law = "the geostrophic drag law",
                         .friction_velocity = friction_velocity,
                         .eddies = friction_velocity / coriolis};
  }

  void describe(const FlowParameters& flow, MeanFlow& mean) const override {
    const RotationParameters& rotation = of(flow);
    const auto& [x, y, z] = rotation.rate;
    if (x != 0 || y != 0) mean.is_mirrored = false;
    if (x != 0 || z != 0) mean.is_turned = false;
    if (z != 0) mean.changes_direction = true;
  }

  std::string check_line(const CheckedFlow& checked) const override {
    const RotationParameters& rotation = of(checked.flow);
    if (!rotation.active()) return {};
    if (const auto layer = boundary_layer(checked.flow))
      return fmt::format("Ekman layer     depth D {:.4g} h, Re_D {:.4g} (G D/nu), domain {:.3g} D high", layer->depth,
                         layer->reynolds, checked.grid.length_z() / layer->depth);
    std::string line = fmt::format("rotation        2 Omega h/U {:.4g}", rotation.number);
    if (checked.flow.periodic_z) return line;
    if (checked.friction_velocity > 0)
      line += fmt::format(", 2 Omega h/u_tau {:.3g}", rotation.number / checked.friction_velocity);
    if (rotation.rate[1] != 0 && !checked.couette)
      line += fmt::format("; the {} wall is the pressure side", rotation.rate[1] > 0 ? "top" : "bottom");
    return line;
  }

 private:
  static const RotationParameters& of(const FlowParameters& flow) { return flow.terms.of<RotationParameters>(); }
};

}  // namespace

const Term& rotation_term() {
  static const Rotation term;
  return term;
}

}  // namespace sluice
