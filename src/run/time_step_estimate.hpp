#pragma once
// What the time step of a run will be, before it starts.
#include "core/flow/parameters.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// Below, the turbulence of a channel or an open channel dies out (Iida & Nagano 1998).
inline constexpr double lowest_turbulent_re_tau = 60;

/// The same for Couette flow, in terms of half the velocity difference of the walls and half their distance:
/// Re_w = U_w h/nu = 360 +- 10 (Tillmark & Alfredsson 1992), where Re_tau is about 30. With the whole difference and
/// the whole distance it is 1440.
inline constexpr double lowest_turbulent_re_wall = 360;

/// The Reynolds number that decides, and the one at which turbulence begins to last.
struct TransitionReynolds {
  const char* name;  ///< Re_tau or Re_w
  double value, threshold;
  bool is_estimate;  ///< `value` is by the law of the wall
};

/// Re_w for flows that the walls alone drive, Re_tau by the law of the wall for all others.
TransitionReynolds transition_reynolds(const Grid& grid, const FlowParameters& flow);

bool is_turbulent(const Grid& grid, const FlowParameters& flow);

/// The advective part of 1/dt_lim (time_step_limit.hpp) that is expected of a developed flow. Turbulent flows: from the
/// mean profile and extreme values of the fluctuations, which were fitted to 20 runs. The time step of channels at
/// Re_tau 180 and 550 and of an open channel is within 15 % of what runs measured, that of Couette flow within 21 %.
double expected_advective_rate(const Grid& grid, const FlowParameters& flow);

}  // namespace sluice
