#pragma once
// What a wall does to control the flow. Here is what the parameters of a flow hold of it; what each type does is in
// solver/walls, a pair of files each.
#include <cstddef>
#include <optional>
#include <string>

#include "model/formula.hpp"
#include "model/term_parameters.hpp"

namespace sluice {

struct Actuation;

/// A type of actuation, such as oscillation. solver/walls/wall_actuation.hpp has the rest.
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

}  // namespace sluice
