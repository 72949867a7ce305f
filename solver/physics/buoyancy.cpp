// Buoyancy: the Boussinesq force of a scalar, its rules, and what it means for the mean flow.
#include "solver/physics/buoyancy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/plain_text.hpp"
#include "solver/physics/force_loops.hpp"
#include "solver/physics/terms.hpp"

namespace sluice {

namespace {

const BuoyancyParameters& buoyancy_of(const FlowParameters& flow) {
  return flow.terms.of<BuoyancyParameters>();
}

/// Null if the flow does not have it.
const ScalarParameters* find_buoyant_scalar(const FlowParameters& flow) {
  const auto scalar = std::ranges::find(flow.scalars, buoyancy_of(flow).scalar, &ScalarParameters::name);
  return scalar == flow.scalars.end() ? nullptr : &*scalar;
}

int number_of_buoyant_scalar(const FlowParameters& flow) {
  const ScalarParameters* scalar = find_buoyant_scalar(flow);
  SLUICE_REQUIRE(scalar != nullptr, "buoyancy needs a scalar of the flow");
  return static_cast<int>(scalar - flow.scalars.data());
}

/// The force per unit of c - reference along one axis, eq. (13): g beta (c - reference), interpolated. The weights
/// along z are those of the flux of the scalar: the work of buoyancy is then exactly what the flux takes from the
/// potential energy.
template <Order order, Location at>
struct BuoyancyAlongAxis {
  using CellType = op::CellFor<order>;
  static constexpr int words() { return 1 + Forced::words; }
  View3<const real> c;
  Forced force;
  real factor, reference;
  SLUICE_INLINE void operator()(CellType here) const {
    force.add(here, factor * (op::scalar_at_face<order, at>(c, here) - reference));
  }
};

struct BuoyancyKernels {
  static constexpr bool reads_velocity = false;
  BuoyancyParameters buoyancy;

  template <Order order, class V, class Action>
  void for_each(const ForceArrays<V>& a, const Action& action) const {
    const auto reference = static_cast<real>(buoyancy.reference);
    const auto factor = [&](std::size_t axis) {
      return static_cast<real>(-buoyancy.coefficient * buoyancy.direction[axis]);
    };
    if (factor(0) != 0)
      action("buoyancy", BuoyancyAlongAxis<order, Location::x_face>{a.c, a.force_u, factor(0), reference});
    if (factor(1) != 0)
      action("buoyancy", BuoyancyAlongAxis<order, Location::y_face>{a.c, a.force_v, factor(1), reference});
    if (factor(2) != 0)
      action("buoyancy", BuoyancyAlongAxis<order, Location::z_face>{a.c, a.force_w, factor(2), reference});
  }
};

/// 1 if a scalar is even about the centre plane of a flow that is its own mirror image, -1 if it is odd, else 0.
int mirror_parity(const ScalarParameters& scalar) {
  const ScalarWall& bottom = scalar.bottom;
  const ScalarWall& top = scalar.top;
  if (bottom == top) return 1;
  if (scalar.source != TermParameters{} || bottom.kind != top.kind) return 0;
  if (!bottom.value.is_constant() || !top.value.is_constant()) return 0;
  const bool opposite =
      bottom.kind == ScalarWallKind::value || bottom.value.constant() == -top.value.constant();  // about its middle
  return opposite ? -1 : 0;
}

/// Whether the forces on the mirror image of a flow are the mirror images of the forces.
bool is_mirrored(const FlowParameters& flow) {
  const ScalarParameters* scalar = find_buoyant_scalar(flow);
  const int parity = scalar == nullptr ? 0 : mirror_parity(*scalar);
  const auto& gravity = buoyancy_of(flow).direction;
  const bool along_walls = gravity[0] != 0 || gravity[1] != 0;
  return (gravity[2] == 0 || parity == -1) && (!along_walls || parity == 1);
}

/// u_tau^2 of a flow that a constant pressure gradient drives: the force on the fluid over the area of the walls that
/// drag. Only where why_friction_is_unknown finds nothing.
double friction_velocity_squared(const FlowParameters& flow, double height) {
  const int walls = (flow.bottom.drags() ? 1 : 0) + (flow.top.drags() ? 1 : 0);
  return walls > 0 ? flow.forcing.value.at_time(0) * height / walls : 0;
}

/// Why the friction velocity does not follow from the forces on the fluid; empty if it does.
std::string why_friction_is_unknown(const FlowParameters& flow) {
  const ForcingParameters& forcing = flow.forcing;
  if (forcing.kind != ForcingKind::pressure_gradient)
    return fmt::format("with flow.forcing {} the friction velocity is a result",
                       forcing_words.at(static_cast<std::size_t>(forcing.kind)));
  if (!forcing.value.is_constant()) return "the pressure gradient varies, and with it the friction velocity";
  if (forcing.value.at_time(0) <= 0) return "a pressure gradient that is not above 0 drives no flow along x";
  if (flow.spanwise_forcing.kind != ForcingKind::none) return "flow.spanwise_forcing adds to the friction of the walls";
  if (std::string reason = mean_force(flow); !reason.empty()) return reason;
  if (!flow.bottom.drags() && !flow.top.drags()) return "free-slip walls have no friction";
  return {};
}

/// The Rayleigh number above which a layer between walls of given temperature is not at rest (Chandrasekhar,
/// Hydrodynamic and Hydromagnetic Stability, 1961, section 15).
std::string onset_of_convection(const FlowParameters& flow) {
  const auto is = [](const WallCondition& wall, WallKind kind) { return wall.kind == kind; };
  int no_slip = 0;
  for (const WallCondition* wall : {&flow.bottom, &flow.top}) {
    if (is(*wall, WallKind::no_slip)) ++no_slip;
    if (!is(*wall, WallKind::no_slip) && !is(*wall, WallKind::free_slip)) return "";
  }
  constexpr std::array<double, 3> onset{657.5, 1101, 1708};
  return fmt::format(", at rest below {:g}", onset[static_cast<std::size_t>(no_slip)]);
}

/// What the buoyancy of a scalar with walls of constant values does between them.
std::string stratification(const CheckedFlow& checked, const ScalarParameters& scalar) {
  const auto has_number = [](const ScalarWall& wall) {
    return wall.kind == ScalarWallKind::value && wall.value.is_constant();
  };
  if (!has_number(scalar.bottom) || !has_number(scalar.top)) return {};
  const FlowParameters& flow = checked.flow;
  const BuoyancyParameters& buoyancy = buoyancy_of(flow);
  const double u_tau = checked.friction_velocity;
  const double difference = scalar.top.value.constant() - scalar.bottom.value.constant();
  const double pull = buoyancy.coefficient * -buoyancy.direction[2] * difference;
  if (pull == 0) return {};
  std::string text = fmt::format("; {} between its walls", pull > 0 ? "stable" : "unstable");
  if (u_tau > 0)
    text += fmt::format(": Ri_tau {:.3g}", pull / (u_tau * u_tau));
  else if (pull < 0)
    text += fmt::format(": Rayleigh {:.4g} of the layer{}",
                        -pull * std::pow(checked.grid.length_z(), 3) / (flow.viscosity * flow.diffusivity(scalar)),
                        onset_of_convection(flow));
  return text;
}

/// The key of one way to give the strength.
struct StrengthKey {
  BuoyancyKind kind;
  const char* word;
  const char* example;
  const char* meaning;
};

constexpr std::array<StrengthKey, 4> strength_keys{{
    {BuoyancyKind::richardson, "richardson", "0.1", "Ri = g beta C h/U^2."},
    {BuoyancyKind::friction_richardson, "friction_richardson", "18",
     "Ri_tau = g beta C h/u_tau^2; only where a constant pressure gradient along x alone drives the flow, which sets "
     "u_tau."},
    {BuoyancyKind::grashof, "grashof", "1.0e+5", "Gr = g beta C (2h)^3/nu^2."},
    {BuoyancyKind::rayleigh, "rayleigh", "1.0e+5", "Ra = g beta C (2h)^3/(nu kappa)."},
}};

ParameterKey row_of(const StrengthKey& key) {
  ParameterKey row = empty_key();
  row.path = std::string("flow.buoyancy.") + key.word;
  row.value = ParameterValue{parameter(&BuoyancyParameters::strength, key.kind)};
  row.required = key.kind == BuoyancyKind::richardson;
  row.unit = "1";
  row.meaning = key.meaning;
  for (const StrengthKey& other : strength_keys) {
    if (other.kind != key.kind) row.excludes.emplace_back(other.word);
  }
  row.example = key.example;
  row.commented = true;
  return row;
}

std::vector<ParameterKey> buoyancy_keys() {
  using B = BuoyancyParameters;
  std::vector<ParameterKey> keys{
      {.path = "flow.buoyancy",
       .value = ParameterValue{parameter_section<B>()},
       .words = {"none"},
       .fallback = "none",
       .meaning = "The Boussinesq force of a scalar: fluid with more of it than the reference rises against gravity; "
                  "g beta is the acceleration per unit C of the scalar.",
       .commented = true},
      {.path = "flow.buoyancy.scalar",
       .value = ParameterValue{parameter(&B::scalar)},
       .fallback_note = "the first of scalars",
       .meaning = "Name of the scalar.",
       .example = "temperature",
       .commented = true},
      {.path = "flow.buoyancy.direction",
       .value = ParameterValue{parameter(&B::direction)},
       .fallback = "[0, 0, -1]",
       .unit = "1",
       .meaning = "Direction of gravity, a vector of any length: [0, 0, -1] is down, [-1, 0, 0] makes a vertical "
                  "channel whose flow along x rises.",
       .commented = true},
      {.path = "flow.buoyancy.reference",
       .value = ParameterValue{parameter(&B::reference)},
       .fallback = "0",
       .unit = "C",
       .meaning = "Value of the scalar at which there is no force. It matters where gravity has a component along x or "
                  "y; along z the mean pressure balances it.",
       .commented = true},
  };
  std::vector<ParameterKey> strengths;
  for (const StrengthKey& key : strength_keys) strengths.push_back(row_of(key));
  keys.insert(keys.begin() + 2, strengths.begin(), strengths.end());
  return keys;
}

class Buoyancy final : public Term {
 public:
  std::string name() const override { return "buoyancy"; }
  bool active(const FlowParameters& flow) const override { return buoyancy_of(flow).active(); }

  std::vector<ParameterKey> keys() const override { return buoyancy_keys(); }
  std::vector<Synonym> synonyms() const override {
    return {{"ri", "flow.buoyancy.richardson"},     {"ri_tau", "flow.buoyancy.friction_richardson"},
            {"gr", "flow.buoyancy.grashof"},        {"ra", "flow.buoyancy.rayleigh"},
            {"gravity", "flow.buoyancy.direction"}, {"boussinesq", "flow.buoyancy"}};
  }
  std::vector<ValueSynonym> value_synonyms() const override {
    return {{"stratified_channel", "channel", "flow.buoyancy"}};
  }

  /// Completes the scalar, g beta, and gravity as a unit vector.
  void derive(FlowParameters& flow, const CaseFacts& facts) const override {
    if (buoyancy_of(flow).strength.kind == BuoyancyKind::none) return flow.terms.remove<BuoyancyParameters>();
    BuoyancyParameters& buoyancy = flow.terms.edit<BuoyancyParameters>();
    if (buoyancy.scalar.empty() && !flow.scalars.empty()) buoyancy.scalar = flow.scalars.front().name;
    const ScalarParameters* scalar = find_buoyant_scalar(flow);
    const double nu = flow.viscosity;
    const double kappa = scalar == nullptr ? nu : flow.diffusivity(*scalar);
    constexpr double height_cubed = 8;  // (2h)^3
    const auto [kind, value] = buoyancy.strength;
    switch (kind) {
      case BuoyancyKind::none:
      case BuoyancyKind::richardson:
        buoyancy.coefficient = value;
        break;
      case BuoyancyKind::friction_richardson:
        buoyancy.coefficient = value * friction_velocity_squared(flow, facts.size[2]);
        break;
      case BuoyancyKind::grashof:
        buoyancy.coefficient = value * nu * nu / height_cubed;
        break;
      case BuoyancyKind::rayleigh:
        buoyancy.coefficient = value * nu * kappa / height_cubed;
        break;
    }
    auto& direction = buoyancy.direction;
    const double length = std::hypot(direction[0], direction[1], direction[2]);
    for (double& component : direction) component = length > 0 ? component / length : 0;
  }

  void check(const FlowParameters& flow, const RuleReport& report) const override {
    const BuoyancyParameters& buoyancy = buoyancy_of(flow);
    const std::string path = "flow.buoyancy";
    if (flow.periodic_z && report.good("flow.type") && report.good(path + ".direction") && !buoyancy.scalar.empty() &&
        buoyancy.direction[2] != 0)
      report.note(path + ".direction",
                  "flow.type periodic has no walls; allowed: no component along z, since no wall would carry the mean "
                  "weight");
    if (!report.good(path) || !report.good("scalars") || buoyancy.strength.kind == BuoyancyKind::none) return;
    if (flow.scalars.empty()) {
      report.note(path, "the case has no scalar that could make fluid light or heavy; allowed: with scalars only");
    } else if (find_buoyant_scalar(flow) == nullptr) {
      std::string names;
      for (const ScalarParameters& scalar : flow.scalars) names += (names.empty() ? "" : ", ") + scalar.name;
      report.note(path + ".scalar",
                  fmt::format("'{}' is no scalar of the case; allowed: one of {}", shortened(buoyancy.scalar), names));
    }
    if (buoyancy.direction == std::array<double, 3>{})
      report.note(path + ".direction",
                  "a vector of length 0 has no direction; allowed: one with a component other than 0");
    if (buoyancy.strength.kind == BuoyancyKind::friction_richardson) check_friction_velocity(flow, report);
  }

  std::string motion(const FlowParameters& flow) const override { return active(flow) ? "convection" : ""; }

  std::string mean_force(const FlowParameters& flow) const override {
    const auto& direction = buoyancy_of(flow).direction;
    if (direction[0] == 0 && direction[1] == 0) return {};
    return "gravity along x or y is a mean force, which adds to the friction of the walls";
  }

  bool is_in_scalar_budgets(const FlowParameters& flow) const override { return active(flow); }
  bool reads_scalars() const override { return true; }
  std::unique_ptr<BodyForce> force(const Metrics& metrics, const FlowParameters& flow) const override {
    if (!active(flow)) return nullptr;
    return std::make_unique<LoopedForce<BuoyancyKernels>>(BuoyancyKernels{buoyancy_of(flow)}, metrics, flow.order,
                                                          number_of_buoyant_scalar(flow));
  }

  void describe(const FlowParameters& flow, MeanFlow& mean) const override {
    if (!active(flow)) return;
    if (!is_mirrored(flow)) mean.is_mirrored = false;
    mean.is_turned = false;
  }

  std::string check_line(const CheckedFlow& checked) const override {
    const FlowParameters& flow = checked.flow;
    const BuoyancyParameters& buoyancy = buoyancy_of(flow);
    const ScalarParameters* scalar = find_buoyant_scalar(flow);
    if (!buoyancy.active() || scalar == nullptr) return {};
    const double strength = 8 * buoyancy.coefficient / flow.viscosity;  // of a height of 2 h
    return fmt::format("buoyancy        richardson {:.4g}, grashof {:.4g}, rayleigh {:.4g} per unit of {}",
                       buoyancy.coefficient, strength / flow.viscosity, strength / flow.diffusivity(*scalar),
                       scalar->name) +
           stratification(checked, *scalar);
  }

 private:
  void check_friction_velocity(const FlowParameters& flow, const RuleReport& report) const {
    for (const char* needed : {"flow.forcing", "flow.spanwise_forcing", "walls", "domain.size"}) {
      if (!report.good(needed)) return;
    }
    for (const Physics* term : all_terms()) {
      if (term == this) continue;
      for (const ParameterKey& key : term->keys()) {
        if (!report.good(key.path)) return;
      }
    }
    if (const std::string reason = why_friction_is_unknown(flow); !reason.empty())
      report.note("flow.buoyancy.friction_richardson",
                  reason +
                      "; allowed: with a constant flow.forcing.pressure_gradient > 0 as the only mean force, or "
                      "richardson");
  }
};

}  // namespace

BuoyantForce BuoyantForce::of(const FlowParameters& flow, const State& state, op::In any_scalar) {
  const BuoyancyParameters& buoyancy = buoyancy_of(flow);
  const op::In c = buoyancy.active()
                       ? state.transported[static_cast<std::size_t>(number_of_buoyant_scalar(flow))].field.view()
                       : any_scalar;
  return {c, static_cast<real>(-buoyancy.coefficient * buoyancy.direction[0]),
          static_cast<real>(-buoyancy.coefficient * buoyancy.direction[2])};
}

const Term& buoyancy_term() {
  static const Buoyancy term;
  return term;
}

}  // namespace sluice
