#pragma once
// What a user can change about the time step.
#include <optional>
#include <string>

#include "io/case/case.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// What to do about a run that blows up: mend the formula that is not finite around this time, or else change the key
/// that sets the time step. `dt`: of the last step.
std::string blow_up_advice(const io::Case& settings, const Grid& grid, double time, double dt);

/// How many times as large the limit of the time step would be if the diffusion along z were implicit.
double gain_of_implicit_z(const Grid& grid, FlowParameters flow, double dt_limit);

/// A velocity for a grid at rest under a turbulent mean flow, and the factor by which steps then become longer where
/// advection limits them. None if a moving grid gains little.
struct GridVelocityAdvice {
  double velocity, factor;
};
std::optional<GridVelocityAdvice> grid_velocity_advice(const Grid& grid, const FlowParameters& flow);

}  // namespace sluice
