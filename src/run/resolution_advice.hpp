#pragma once
// Whether a grid is fine enough along x and y for wall turbulence.
#include <array>
#include <string>

#include "core/flow/order.hpp"
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

/// What is too coarse along x and y for the order, and what to change; empty if nothing is. The friction velocity is
/// known to a few per cent only, so spacings up to 3 % above a limit pass.
std::string resolution_advice(const Grid& grid, Order order, double viscous_length);

}  // namespace sluice
