// A magnetic field normal to the walls, at a low magnetic Reynolds number: Hartmann flow.
#include "solver/physics/hartmann.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "solver/physics/force_loops.hpp"
#include "solver/physics/terms.hpp"

namespace sluice {

namespace {

/// Ha^2 nu, in units of U/h: the rate at which the force would stop a uniform flow.
double drag_rate(const FlowParameters& flow) {
  const double hartmann = flow.terms.of<MagneticFieldParameters>().hartmann;
  return hartmann * hartmann * flow.viscosity;
}

/// V: a view of a whole array, or what is around one row.
template <class V>
struct MagneticDrag {
  static constexpr int words() { return 2 + 2 * Forced::words; }
  V u, v;
  Forced force_u, force_v;
  real rate;
  SLUICE_INLINE void operator()(Cell c) const {
    force_u.add(c, -rate * u(c.i, c.j, c.k));
    force_v.add(c, -rate * v(c.i, c.j, c.k));
  }
};

struct MagneticKernels {
  static constexpr bool reads_velocity = true;
  real rate;

  template <Order, class V, class Action>
  void for_each(const ForceArrays<V>& a, const Action& action) const {
    action("magnetic force", MagneticDrag<V>{a.u, a.v, a.force_u, a.force_v, rate});
  }
};

/// The height of the first cell at a wall with shear, the higher one of two; 0 without such a wall.
double first_height(const FlowParameters& flow, const Grid& grid) {
  double height = 0;
  if (flow.bottom.drags()) height = grid.dz(0);
  if (flow.top.drags()) height = std::max(height, grid.dz(grid.cells()[2] - 1));
  return height;
}

class MagneticField final : public Term {
 public:
  std::string name() const override { return "magnetic field"; }
  bool active(const FlowParameters& flow) const override { return of(flow).active(); }

  std::vector<ParameterKey> keys() const override {
    using M = MagneticFieldParameters;
    return {
        {.path = "flow.magnetic_field",
         .value = ParameterValue{parameter_section<M>()},
         .words = {"none"},
         .fallback = "none",
         .meaning = "A uniform magnetic field normal to the walls, in an electrically conducting fluid at a low "
                    "magnetic Reynolds number. Its force is a drag on the velocity along x and y.",
         .commented = true},
        {.path = "flow.magnetic_field.hartmann",
         .value = ParameterValue{parameter(&M::hartmann)},
         .range = {.minimum = {0}, .above = true},
         .required = true,
         .unit = "1",
         .meaning =
             "The Hartmann number Ha = B h sqrt(sigma / (rho nu)) of the field B, with the conductivity sigma and "
             "the density rho of the fluid. The force per mass is -Ha^2 nu (u, v).",
         .example = "10",
         .commented = true},
    };
  }

  std::vector<Synonym> synonyms() const override {
    return {{"hartmann", "flow.magnetic_field.hartmann"},
            {"ha", "flow.magnetic_field.hartmann"},
            {"mhd", "flow.magnetic_field"},
            {"magnetic", "flow.magnetic_field"}};
  }
  std::vector<ValueSynonym> value_synonyms() const override {
    return {{"hartmann", "channel", "flow.magnetic_field"}, {"mhd", "channel", "flow.magnetic_field"}};
  }

  void check(const FlowParameters& flow, const RuleReport& report) const override {
    if (report.good("flow.magnetic_field") && active(flow) && mean_flow(flow).velocity_above)
      report.note("flow.magnetic_field",
                  "it brakes the flow far above the wall, where nothing but the Coriolis force balances the mean "
                  "pressure gradient of a geostrophic velocity; allowed: one of the two");
  }

  std::string mean_force(const FlowParameters& flow) const override {
    if (!active(flow)) return {};
    return "a magnetic field is a mean force, which brakes the flow beside the friction of the walls";
  }

  /// Ha^2 nu / 2.51: the force damps each velocity at this rate, on the negative real axis, as diffusion does.
  double rate(const FlowParameters& flow) const override { return drag_rate(flow) / 2.51; }

  std::unique_ptr<BodyForce> force(const Metrics& metrics, const FlowParameters& flow) const override {
    if (!active(flow)) return nullptr;
    return std::make_unique<LoopedForce<MagneticKernels>>(MagneticKernels{static_cast<real>(drag_rate(flow))}, metrics,
                                                          flow.order);
  }

  MeanOperator mean_operator(const FlowParameters& flow) const override { return {.factor = -drag_rate(flow)}; }

  /// The force vanishes for a fluid at rest: a flow between moving walls and its image, turned by half a turn, have the
  /// same force only if the mean of the wall velocities is 0.
  void describe(const FlowParameters& flow, MeanFlow& mean) const override {
    if (active(flow) && flow.bottom.constant_velocity(0) + flow.top.constant_velocity(0) != 0) mean.is_turned = false;
  }

  std::string check_line(const CheckedFlow& checked) const override {
    if (!active(checked.flow)) return {};
    const double hartmann = of(checked.flow).hartmann;
    std::string line = fmt::format("magnetic field  Ha {:.4g}, interaction parameter N {:.4g} (Ha^2/Re, Re = U h/nu)",
                                   hartmann, drag_rate(checked.flow));
    if (const double height = first_height(checked.flow, checked.grid); height > 0)
      line += fmt::format(", Hartmann layer h/Ha {:.4g} h, {:.3g} times the first dz", 1 / hartmann,
                          1 / (hartmann * height));
    return line;
  }

 private:
  static const MagneticFieldParameters& of(const FlowParameters& flow) {
    return flow.terms.of<MagneticFieldParameters>();
  }
};

}  // namespace

const Term& magnetic_field_term() {
  static const MagneticField term;
  return term;
}

}  // namespace sluice
