#pragma once
// What the time step of a run will be, before it starts.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "io/case/case.hpp"
#include "model/parameters.hpp"
#include "solver/grid/grid.hpp"
#include "solver/physics/terms.hpp"

namespace sluice {

/// At this Re_tau a channel becomes laminar in a small box; in a large one turbulence lasts in oblique bands
/// (Tsukahara, Seki, Kawamura & Tochio 2005). The same value is taken for open channels.
inline constexpr double lowest_turbulent_re_tau = 60;

/// Turbulent Couette flow does not last below Re_w = U_w h/nu = 324 +- 1, whatever the size of the box, and consists of
/// oblique bands below 380 (Duguet, Schlatter & Henningson 2010). U_w: half the velocity difference of the walls, h:
/// half their distance. Experiments had found 360 before (Tillmark & Alfredsson 1992).
inline constexpr double lowest_turbulent_re_wall = 324;
inline constexpr double lowest_uniform_re_wall = 380;

/// The Reynolds number that decides, and the one at which turbulence begins to last.
struct TransitionReynolds {
  const char* name;  ///< Re_tau, Re_w or Re_D
  double value, threshold;
  double uniform;    ///< below, turbulence consists of bands; 0: not known
  bool is_estimate;  ///< `value` is by the law of the wall
};

/// Re_w for flows that the walls alone drive, that of a boundary layer for flows that are driven from above, Re_tau by
/// the law of the wall for all others.
TransitionReynolds transition_reynolds(const Grid& grid, const FlowParameters& flow);

/// With one cell along x or y: such a flow is not turbulent at any Reynolds number.
bool is_two_dimensional(const Grid& grid);

/// Whether a force or a wall drives a flow along x. Not so in a layer at rest that is heated from below.
bool has_mean_flow(const Grid& grid, const FlowParameters& flow);

bool is_turbulent(const Grid& grid, const FlowParameters& flow);

/// The advective part of 1/dt_lim (time_step_limit.hpp) that is expected of a developed flow. Turbulent flows: from the
/// mean profile and extreme values of the fluctuations, which were fitted to 20 runs. The time step of channels at
/// Re_tau 180 and 550 and of an open channel is within 15 % of what runs measured, that of Couette flow within 21 %.
double expected_advective_rate(const Grid& grid, const FlowParameters& flow);

/// The advective part of 1/dt_lim at time 0, of a velocity that formulas give, as far as samples of it show.
double initial_advective_rate(const Grid& grid, const FlowParameters& flow, const std::array<Formula, 3>& velocity);

/// The step that is expected of a run, and its limit with its parts.
struct ExpectedStep {
  double dt = 0;
  double advective = 0, diffusive = 0;  ///< of 1/limit
  std::vector<TermRate> of_terms{};
  double limit() const {
    double rate = advective + diffusive;
    for (const TermRate& term : of_terms) rate += term.rate;
    return 1 / rate;
  }
};

/// `settings`: with constants in place of forcings that depend on time.
ExpectedStep expected_step(const io::Case& settings, const Grid& grid);

/// The time at the end of a run that begins at time 0: that of the case, or its steps times the step that is expected
/// at the begin.
double expected_end(const io::Case& settings, const Grid& grid);

/// The values of a forcing at equal distances over the time from 0 to `end`: least, greatest, and the root mean square
/// with the sign of the mean, a constant that drives about the same flow.
struct ForcingRange {
  double least, greatest, typical;
};
ForcingRange forcing_range(const ForcingParameters& forcing, double end);

/// What to warn of if a table without a period is shorter than a run to the time `end`; else empty.
std::string table_warning(const std::string& axis, const ForcingParameters& forcing, double end);

/// The same flow with constants of that kind in place of forcings that depend on time, for estimates.
FlowParameters with_typical_forcing(FlowParameters flow, double end);

/// What to do about a run that blows up: mend the formula that is not finite around this time, or else change the key
/// that sets the time step. `dt`: of the last step.
std::string blow_up_advice(const io::Case& settings, const Grid& grid, double time, double dt);

/// How many times as large the limit of the time step would be with this kind of diffusion.
double gain_of(Diffusion diffusion, const Grid& grid, FlowParameters flow, double dt_limit);
/// The kind of diffusion that makes the limit more than twice as large, if there is one: implicit_z where that is
/// enough.
std::optional<Diffusion> better_diffusion(const Grid& grid, const FlowParameters& flow, double dt_limit);

/// A velocity for a grid at rest under a turbulent mean flow, and the factor by which steps then become longer where
/// advection limits them. None if a moving grid gains little.
struct GridVelocityAdvice {
  double velocity, factor;
};
std::optional<GridVelocityAdvice> grid_velocity_advice(const Grid& grid, const FlowParameters& flow);

}  // namespace sluice
