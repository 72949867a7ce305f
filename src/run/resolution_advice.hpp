#pragma once
// Whether a grid is fine enough for wall turbulence.
#include <array>
#include <string>
#include <vector>

#include "core/stencil/order.hpp"
#include "model/parameters.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// Largest spacings, in wall units, with which statistics come close to those of spectral simulations.
struct ResolutionLimit {
  Order order;
  double dx_plus;
  double dy_plus;
};

/// Order 2: practice of second-order simulations (Vreman & Kuerten 2014). Order 4: practice of spectral simulations;
/// its derivative of a wave on four points is as accurate as that of order 2 with half the spacing, that of longer
/// waves more accurate.
inline constexpr std::array resolution_limits{
    ResolutionLimit{Order::second, 6, 4},
    ResolutionLimit{Order::fourth, 12, 6},
};

/// Along z, for both orders. At a wall: first centre at z+ = 0.5. Elsewhere: Kolmogorov lengths at the centre of a
/// channel, (0.4 Re_tau)^(1/4) wall units (Pirozzoli & Orlandi 2021); that of spectral simulations is about 2.
inline constexpr double wall_dz_plus_limit = 1;
inline constexpr double center_dz_limit = 2;

/// Spacings above so many limits do not represent the eddies at all.
inline constexpr double limits_of_far_too_coarse = 3;

enum class Verdict { fine, coarse, far_too_coarse };
const char* name(Verdict verdict);

/// The friction velocity is known to a few per cent only, so spacings up to 3 % above a limit are fine.
Verdict verdict_on(double spacing, double limit);

/// A spacing of the grid and its limit, both in wall units.
struct Resolution {
  char axis;
  std::string place;  ///< along z: " at the wall", " at the centre", or " at the surface" opposite to a single wall
  double spacing, limit;

  Verdict verdict() const { return verdict_on(spacing, limit); }
};

/// Of x, y, z at the no-slip walls, and z where it is widest.
std::vector<Resolution> resolutions(const Grid& grid, const FlowParameters& flow, double viscous_length);

/// What is too coarse for the order, and what to change; empty if nothing is.
std::string resolution_advice(const Grid& grid, const FlowParameters& flow, double viscous_length);

/// What to change if the grid at the walls is so fine that points and steps are wasted; empty if it is not.
std::string excess_advice(const Grid& grid, const FlowParameters& flow, double viscous_length);

}  // namespace sluice
