#pragma once
// The physical parameters of a case, one definition for the case file and the solver.
#include <array>

#include "core/flow/order.hpp"
#include "core/flow/tridiagonal_method.hpp"

namespace sluice {

enum class WallKind { no_slip, free_slip };

/// One wall: no-slip, moving in its own plane, or free-slip.
struct WallCondition {
  WallKind kind = WallKind::no_slip;
  std::array<double, 3> velocity{};  ///< u, v, w; w is 0

  bool operator==(const WallCondition&) const = default;
};

enum class ForcingKind { none, bulk_velocity, pressure_gradient };

struct ForcingParameters {
  ForcingKind kind = ForcingKind::none;
  double value = 0;  ///< target of the volume mean of u, or the force -dp/dx

  bool operator==(const ForcingParameters&) const = default;
};

enum class Diffusion { explicit_, implicit_z };

/// All parameters of the equations in docs/equations.md, apart from grid and initial field.
struct FlowParameters {
  double viscosity = 0;
  WallCondition bottom, top;
  ForcingParameters forcing;
  Diffusion diffusion = Diffusion::explicit_;
  Order order = Order::fourth;
  TridiagonalMethod tridiagonal = TridiagonalMethod::ptdma;

  bool operator==(const FlowParameters&) const = default;
};

}  // namespace sluice
