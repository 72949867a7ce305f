#include "src/run/time_step_advice.hpp"

#include <fmt/format.h>

#include "solver/time_step_limit.hpp"

namespace sluice {

std::string blow_up_advice(const io::TimeSpec& time) {
  return fmt::format("use a smaller {}, or a finer grid", time.dt ? "time.dt" : "time.cfl");
}

bool is_limited_by_z_diffusion(const Grid& grid, FlowParameters flow, double dt_limit) {
  const double rate = diffusive_rate(grid, flow, transport_equations(flow));
  flow.diffusion = Diffusion::implicit_z;
  const double rate_if_implicit = diffusive_rate(grid, flow, transport_equations(flow));
  return rate - rate_if_implicit > 0.5 / dt_limit;
}

}  // namespace sluice
