#include "src/run/simulation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/device/memory.hpp"
#include "core/device/together.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "model/schedule.hpp"
#include "src/run/initial_profile.hpp"
#include "src/run/setup.hpp"
#include "src/run/time_step_estimate.hpp"

namespace sluice {

Simulation::Simulation(const io::Case& case_settings, Grid case_grid, const Layout& layout, MPI_Comm world)
    : settings(case_settings),
      comm(world, layout.processes),
      decomposition(settings.cells, comm.processes(), settings.z_blocks),
      grid(std::move(case_grid)),
      flow(settings.flow),
      exchanges(layout.exchange, world),
      stepper(comm, decomposition, grid, flow, exchanges.set()),
      advancing_(stepper.make_state()) {}

void Simulation::initialise() {
  state_replaced();
  State& state = this->state();
  switch (settings.initial.kind) {
    case io::InitialKind::turbulent:
      set_turbulent(state, stepper, grid, flow, initial_profile(settings, grid, comm.world()),
                    settings.initial.amplitude, settings.initial.seed, comm.world());
      break;
    case io::InitialKind::laminar:
      set_laminar(state, stepper, grid, flow);
      break;
    case io::InitialKind::formula:
      set_velocity(state, stepper, grid, settings.initial.velocity);
      break;
    default:
      set_zero(state, stepper);
  }
  set_scalars(state, stepper, grid, flow);
}

double Simulation::advective_rate() {
  if (!rate_) rate_ = has_stepped_ ? stepper.reduce_rate_of_step() : stepper.largest_rate(state());
  return *rate_;
}

double Simulation::stable_dt() {
  return stable_dt(advective_rate());
}

void Simulation::require_next_step(const State& now) const {
  stable_dt(stepper.largest_rate(now));
}

double Simulation::stable_dt(double rate) const {
  const double limit = stepper.time_step_limit(rate);
  if (!std::isfinite(limit)) {
    throw Error(ExitCode::numerics,
                fmt::format("the velocity is not finite after step {} (time {:g}): the run has blown up; {}", step(),
                            time(), blow_up_advice(settings, grid, time(), dt)));
  }
  constexpr double smallest = 1e-10;  // in units of h over the case's velocity
  if (!(limit > smallest)) {
    const auto better = better_diffusion(grid, flow, limit);
    const std::string why = better ? fmt::format("diffusion{} limits it; use time.diffusion: {}, or a coarser grid",
                                                 *better == Diffusion::implicit_z ? " along z" : "", io::name(*better))
                                   : "the run is blowing up; " + blow_up_advice(settings, grid, time(), dt);
    throw Error(ExitCode::numerics, fmt::format("the largest stable time step is only {:g} at step {} (time {:g}): {}",
                                                limit, step(), time(), why));
  }
  return limit;
}

bool Simulation::at_end() const {
  const io::TimeSpec& end = settings.time;
  return (end.end && is_reached(*end.end, time())) || (end.steps && step() >= *end.steps);
}

double Simulation::next_dt() {
  {
    const PhaseTimers::Scope scope(stepper.timers(), TimedPhase::time_step);
    dt_limit = stable_dt();
  }
  double next = settings.time.dt ? *settings.time.dt : settings.time.cfl.value_or(0) * dt_limit;
  if (settings.time.dt_max) next = std::min(next, *settings.time.dt_max);
  return next;
}

double Simulation::advance() {
  take_step();
  stepper.throw_failed_response();
  return dt;
}

double Simulation::take_step() {
  dt = next_dt();
  const auto step = [this] { forcing = stepper.advance(advancing_, dt); };
  if (comm.processes().size() == 1) {
    device::run_together({step});  // on a GPU, its launches cost less
  } else {
    step();
  }
  has_stepped_ = true;
  rate_.reset();
  return dt;
}

}  // namespace sluice
