#include "src/run/time_step_advice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "solver/forcing.hpp"
#include "solver/initial.hpp"
#include "solver/time_step_limit.hpp"
#include "src/run/formula_check.hpp"
#include "src/run/time_step_estimate.hpp"

namespace sluice {

std::string blow_up_advice(const io::Case& settings, const Grid& grid, double time, double dt) {
  constexpr double steps = 10;  // within which a value that is not finite is noticed
  const FormulaFindings found = check_formulas(settings, grid, std::max(0.0, time - steps * dt), time);
  for (const auto& list : {found.faults, found.failures})
    if (!list.empty()) return list.front();
  return fmt::format("use a smaller {}, or a finer grid", settings.time.dt ? "time.dt" : "time.cfl");
}

double gain_of_implicit_z(const Grid& grid, FlowParameters flow, double dt_limit) {
  const double rate = diffusive_rate(grid, flow);
  flow.diffusion = Diffusion::implicit_z;
  return 1 / (1 - (rate - diffusive_rate(grid, flow)) * dt_limit);
}

std::optional<GridVelocityAdvice> grid_velocity_advice(const Grid& grid, const FlowParameters& flow) {
  if (grid.velocity() != 0 || !is_turbulent(grid, flow)) return std::nullopt;
  const double bulk = volume_mean(turbulent_profile(grid, flow).u, grid);
  const double velocity = std::stod(fmt::format("{:.1g}", 0.6 * bulk));
  const Grid moving(grid.cells(), grid.length_x(), grid.length_y(), grid.z_nodes(), velocity);
  const double factor = expected_advective_rate(grid, flow) / expected_advective_rate(moving, flow);
  if (factor < 1.1) return std::nullopt;
  return GridVelocityAdvice{velocity, factor};
}

}  // namespace sluice
