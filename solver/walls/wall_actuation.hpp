#pragma once
// What a type of actuation is: its keys, the wall velocity that it gives or its response to the flow, and what
// `sluice check` says of it. A type is a pair of files in this room and one entry of the list in actuations.cpp.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/parameters.hpp"
#include "model/physics.hpp"
#include "solver/walls/wall_response.hpp"

namespace sluice {

struct WallUnits {
  double velocity;  ///< u_tau
  double viscosity;
  double length() const { return viscosity / velocity; }
  double per_length() const { return velocity / viscosity; }
  double time() const { return length() / velocity; }
};

/// Binds keys to the actuation of one wall.
class KeysOfWall {
 public:
  explicit KeysOfWall(WallCondition FlowParameters::*side) : side_(side) {}

  /// A member that all actuations have, such as Actuation::amplitude.
  template <class T>
  ParameterMember<T> common(T Actuation::*member) const {
    return {.edit = [side = side_, member](FlowParameters& flow, std::size_t) -> T& {
              return (flow.*side).actuation.*member;
            },
            .get = [side = side_, member](const FlowParameters& flow, std::size_t) -> const T& {
              return (flow.*side).actuation.*member;
            }};
  }
  /// A member of the type's own parameters.
  template <class Parameters, class T>
  ParameterMember<T> parameter(T Parameters::*member) const {
    return {.edit = [side = side_, member](FlowParameters& flow, std::size_t) -> T& {
              return (flow.*side).actuation.further.template edit<Parameters>().*member;
            },
            .get = [side = side_, member](const FlowParameters& flow, std::size_t) -> const T& {
              return (flow.*side).actuation.further.template of<Parameters>().*member;
            }};
  }
  /// An enumeration among these, whose words are in the order of the enumerators.
  template <class Parameters, class Enum>
  ParameterChoice choice(Enum Parameters::*member, const std::vector<std::string>& words) const {
    return choice_of(parameter(member), words);
  }

 private:
  WallCondition FlowParameters::*side_;
};

/// A wall of which `sluice check` describes the actuation.
struct CheckedWall {
  const Grid& grid;
  Walls::Side side;
  const Actuation& actuation;
  WallUnits units;         ///< of the case, or of the expected friction velocity
  std::string units_name;  ///< "the expected u_tau, 0.0635"
};

class WallActuation : public ActuationType {
 public:
  /// What the wall does, for the documentation of its name: no full stop.
  virtual std::string meaning() const = 0;
  /// Its keys. The path is the name alone; `only_with` is filled in by the list. Types may share a key if they bind it
  /// to the same member. The first type documents it; a meaning that differs from its is added, "for NAME ...".
  virtual std::vector<ParameterKey> keys(const KeysOfWall& wall) const = 0;
  /// Names that users try, and the key inside of the section that they mean.
  virtual std::vector<Synonym> synonyms() const { return {}; }

  /// Turns the numbers of the case from wall units into outer ones.
  virtual void use_outer_units(Actuation& actuation, const WallUnits& units) const = 0;
  /// Computes what follows from the numbers, which have outer units.
  virtual void derive(Actuation& /*actuation*/, const CaseFacts& /*facts*/) const {}
  /// Reports contradictions between its keys. `path`: of the section.
  virtual void check(const Actuation& /*actuation*/, const std::string& /*path*/, const RuleReport& /*report*/) const {}

  /// The response of a type that responds to the flow; null for other types.
  virtual std::unique_ptr<WallResponse> response(const ResponseSetup& /*setup*/) const { return nullptr; }
  /// Bytes that its response holds in the memory of the device of a rank that owns `box`, beside w on the wall.
  virtual double memory(const Box3& /*box*/, Order /*order*/) const { return 0; }

  /// What `sluice check` says of it.
  virtual std::string check_text(const CheckedWall& wall) const = 0;
};

}  // namespace sluice
