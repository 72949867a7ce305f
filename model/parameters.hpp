#pragma once
// The physical parameters of a case, one definition for the case file and the solver.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/stencil/order.hpp"
#include "core/stencil/tridiagonal_method.hpp"
#include "model/actuation.hpp"
#include "model/formula.hpp"
#include "model/term_parameters.hpp"
#include "model/time_function.hpp"

namespace sluice {

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

enum class Diffusion { explicit_, implicit_z };

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
