#pragma once
// The physical parameters of a case, one definition for the case file and the solver.
#include <any>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "core/stencil/order.hpp"
#include "core/stencil/tridiagonal_method.hpp"
#include "model/formula.hpp"

namespace sluice {

/// The parameters of the terms of the equations, of the source of a scalar or of an actuation, a struct for each. They
/// belong to the terms: code that does not know a term cannot name them. A struct needs default values, which mean that
/// the term is absent, and ==.
class TermParameters {
 public:
  template <class Parameters>
  static TermParameters with(const Parameters& values) {
    TermParameters terms;
    terms.edit<Parameters>() = values;
    return terms;
  }

  /// The default values if none were set.
  template <class Parameters>
  const Parameters& of() const {
    static const Parameters none{};
    const auto found = parts_.find(typeid(Parameters));
    return found == parts_.end() ? none : *std::any_cast<Parameters>(&found->second.values);
  }

  template <class Parameters>
  Parameters& edit() {
    Part& part = parts_[typeid(Parameters)];
    if (!part.values.has_value()) {
      part.values = Parameters{};
      part.equal = [](const std::any& values, const TermParameters& other) {
        return *std::any_cast<Parameters>(&values) == other.of<Parameters>();
      };
    }
    return *std::any_cast<Parameters>(&part.values);
  }

  template <class Parameters>
  void remove() {
    parts_.erase(typeid(Parameters));
  }

  bool operator==(const TermParameters& other) const { return has_values_of(other) && other.has_values_of(*this); }

 private:
  struct Part {
    std::any values;
    bool (*equal)(const std::any& values, const TermParameters& other) = nullptr;
  };

  bool has_values_of(const TermParameters& other) const {
    for (const auto& [type, part] : other.parts_) {
      if (!part.equal(part.values, *this)) return false;
    }
    return true;
  }

  std::map<std::type_index, Part> parts_;
};

struct Actuation;

/// A type of control by a wall, such as oscillation: what the parameters of a flow hold of it. What each type does is
/// in solver/walls, a pair of files each.
class ActuationType {
 public:
  virtual ~ActuationType() = default;
  /// The word for it in case files.
  virtual std::string name() const = 0;
  /// One component of the velocity that it adds to that of the wall: of x, y and t, in outer units.
  virtual Formula velocity(const Actuation& /*actuation*/, std::size_t /*component*/) const { return 0.0; }
  /// Whether w on the wall follows the flow.
  virtual bool responds() const { return false; }

 protected:
  ActuationType() = default;
  ActuationType(const ActuationType&) = default;
  ActuationType& operator=(const ActuationType&) = default;
};

enum class ActuationUnits { outer, wall };

/// The re_tau of the wall units in which the case gives an actuation, for messages only: two actuations with the same
/// motion in outer units compare equal.
struct UnitsOfCase {
  double re_tau = 0;  ///< 0: outer units
  bool operator==(const UnitsOfCase&) const { return true; }
};

/// What one wall does.
struct Actuation {
  const ActuationType* type = nullptr;  ///< null: nothing
  double amplitude = 0;                 ///< its meaning depends on the type
  ActuationUnits units = ActuationUnits::outer;
  std::optional<double> re_tau = {};  ///< gives the wall units
  UnitsOfCase units_of_case{};
  TermParameters further{};  ///< parameters that only some types have

  bool active() const { return type != nullptr; }
  bool responds() const { return active() && type->responds(); }
  /// One component of the wall's velocity; 0 if it follows the flow.
  Formula velocity(std::size_t component) const { return active() ? type->velocity(*this, component) : Formula(0.0); }

  bool operator==(const Actuation&) const = default;
};

/// An actuation of this type, in outer units.
template <class Parameters>
Actuation make_actuation(const ActuationType& type, double amplitude, const Parameters& parameters) {
  Actuation actuation;
  actuation.type = &type;
  actuation.amplitude = amplitude;
  actuation.further.edit<Parameters>() = parameters;
  return actuation;
}

enum class WallKind { no_slip, free_slip, slip };

/// One wall: no-slip, free-slip or with a slip length, at rest or with a velocity. Its velocity is `velocity` plus that
/// of the actuation.
struct WallCondition {
  WallKind kind = WallKind::no_slip;
  std::array<Formula, 3> velocity{};  ///< u, v, w, each of x, y and t
  Actuation actuation = {};
  double slip_length = 0;  ///< of WallKind::slip: u - u_wall = slip_length du/dn, n into the fluid; v likewise

  /// Whether the wall exerts a shear stress.
  bool drags() const { return kind != WallKind::free_slip; }
  /// A component that is a number; 0 for one that varies.
  double constant_velocity(std::size_t n) const { return velocity[n].is_constant() ? velocity[n].constant() : 0; }
  /// The velocity of the wall, without what follows the flow.
  Formula total_velocity(std::size_t n) const;
  /// Whether a component of the velocity varies or passes through the wall.
  bool is_actuated() const;

  bool operator==(const WallCondition&) const = default;
};

/// Velocity of the top wall less that of the bottom wall along x and y; a component that varies counts as 0.
std::array<double, 2> velocity_difference(const WallCondition& bottom, const WallCondition& top);

enum class ForcingKind { none, bulk_velocity, pressure_gradient, power };
/// The word for each kind in case files and messages.
inline constexpr std::array<std::string_view, 4> forcing_words{"none", "bulk_velocity", "pressure_gradient", "power"};

/// What drives the mean flow along one axis.
struct ForcingParameters {
  ForcingKind kind = ForcingKind::none;
  /// Target of the volume mean of the velocity; the force -dp/dx; or the power of the force per volume.
  TimeFunction value;

  bool operator==(const ForcingParameters&) const = default;
};

/// How steps advance diffusion: all of it by RK3, or along z or in all directions by Crank-Nicolson.
enum class Diffusion { explicit_, implicit_z, implicit };

enum class ScalarWallKind { value, flux };

/// A scalar at one wall: its value, or its flux into the fluid, kappa dc/dn with n out of the fluid.
struct ScalarWall {
  ScalarWallKind kind = ScalarWallKind::flux;
  Formula value;  ///< of x, y and t

  bool operator==(const ScalarWall&) const = default;
};

/// A scalar that the flow transports: dc/dt + div(u c) = kappa lap c + source.
struct ScalarParameters {
  std::string name;
  double prandtl = 1;  ///< nu / kappa; for a concentration the Schmidt number
  ScalarWall bottom{}, top{};
  TermParameters source{};           ///< of its source (solver/physics/sources.hpp); empty: none
  std::optional<Formula> initial{};  ///< of x, y and z; none: the profile of conduction

  bool operator==(const ScalarParameters&) const = default;
};

/// All parameters of the equations in docs/equations.md, apart from grid and initial field.
struct FlowParameters {
  double viscosity = 0;
  bool periodic_z = false;  ///< no walls: bottom and top are then free-slip and without effect
  WallCondition bottom, top;
  ForcingParameters forcing;           ///< along x
  ForcingParameters spanwise_forcing;  ///< along y
  std::vector<ScalarParameters> scalars;
  TermParameters terms;
  Diffusion diffusion = Diffusion::explicit_;
  Order order = Order::fourth;
  TridiagonalMethod tridiagonal = TridiagonalMethod::ptdma;

  double diffusivity(const ScalarParameters& scalar) const { return viscosity / scalar.prandtl; }

  bool operator==(const FlowParameters&) const = default;
};

/// Error message: the mean of w on the bottom wall and on the top wall differ at this time.
std::string text_of_unbalanced_fluxes(double bottom, double top, double time);

}  // namespace sluice
