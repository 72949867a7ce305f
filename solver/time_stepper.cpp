#include "solver/time_stepper.hpp"

#include <utility>

#include "solver/time_step_limit.hpp"

namespace sluice {

TimeStepper::TimeStepper(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                         const FlowParameters& flow, Exchange& exchange)
    : comm_(&comm),
      grid_(&grid),
      flow_(flow),
      device_metrics_(grid, decomposition.x_pencil(comm.rank())),
      metrics_(device_metrics_.view()),
      box_(decomposition.x_pencil(comm.rank())),
      walls_(box_, grid.cells()[2], flow.bottom, flow.top),
      halo_(comm, box_, PoissonSolver::row_length(grid.cells()[0]), 4),
      momentum_(metrics_, flow),
      forcing_(flow.forcing, grid, metrics_, comm.world()),
      projection_(comm, decomposition, grid, metrics_, walls_, halo_, flow.tridiagonal, exchange),
      star_(box_),
      tendency_(box_),
      response_(static_cast<std::size_t>(grid.cells()[2]), 1.0),
      added_host_(static_cast<std::size_t>(box_.extent(2))),
      added_(added_host_.size()) {
  if (flow.diffusion == Diffusion::implicit_z)
    implicit_.emplace(comm, decomposition, grid, walls_, flow.tridiagonal, exchange);
}

double TimeStepper::step(State& state, double dt) {
  double mean_force = 0;
  for (int k = 0; k < Rk3::substeps; ++k) mean_force += Rk3::gamma(k) * substep(state, dt, k);
  state.time += dt;
  ++state.step;
  return mean_force;
}

double TimeStepper::substep(State& state, double dt, int k) {
  const auto n = static_cast<std::size_t>(k);
  const double gamma_dt = Rk3::gamma(k) * dt;
  const double c = implicit_ ? gamma_dt * flow_.viscosity / 2 : 0;  // the Crank-Nicolson weight gamma dt nu/2

  // (1)  u* = u + dt [alpha R(u) + beta R(u_prev) - gamma grad p], or (5)'s right-hand side, with + c Lz u
  predict(state, {Rk3::alpha[n] * dt, Rk3::beta[n] * dt, gamma_dt, c});
  // (5)  (1 - c Lz) u* = right-hand side
  if (implicit_) solve_implicit_diffusion(c);
  // f, which keeps the bulk velocity; u* += gamma dt f g is divergence-free and is added together with (3)
  const double force = prepare_force(gamma_dt);
  // (2)  lap phi = div u* / (gamma dt)
  projection_.solve(star_, gamma_dt, timers_);
  // (3)  u = u* - gamma dt grad phi
  // (4)  p = p + phi, or (6)  p = p + phi - c Lz phi
  correct(state, gamma_dt, c);

  // u* has become u, R(u) the old tendency, and the old u is free for the next tendency.
  std::swap(state.velocity, star_);
  std::swap(star_, tendency_);
  const PhaseTimers::Scope scope(timers_, "halo exchange");
  fill_halos(state);
  return force;
}

void TimeStepper::predict(const State& state, const SubstepWeights& weights) {
  const PhaseTimers::Scope scope(timers_, "momentum");
  momentum_.predict(state, weights, tendency_, star_);
}

void TimeStepper::solve_implicit_diffusion(double c) {
  const PhaseTimers::Scope scope(timers_, "implicit diffusion");
  implicit_->prepare(c);
  implicit_->solve(star_);
  response_ = implicit_->response_to_uniform_force();  // g = (1 - c Lz)^-1 1
  response_mean_ = volume_mean(response_, *grid_);
}

double TimeStepper::prepare_force(double gamma_dt) {
  const PhaseTimers::Scope scope(timers_, "forcing");
  const double force = forcing_.force(star_.u, gamma_dt, response_mean_);
  upload_added(gamma_dt * force);
  return force;
}

void TimeStepper::upload_added(double factor) {
  for (std::size_t k = 0; k < added_host_.size(); ++k) {
    added_host_[k] = static_cast<real>(factor * response_[static_cast<std::size_t>(box_.lo[2]) + k]);
  }
  added_.upload(added_host_);
}

void TimeStepper::correct(State& state, double gamma_dt, double c) {
  const PhaseTimers::Scope scope(timers_, "correction");
  projection_.correct(star_, state.p, added_.data(), gamma_dt, c);
}

double TimeStepper::time_step_limit(const State& state) const {
  return sluice::time_step_limit(state.velocity, *grid_, metrics_, flow_, comm_->world());
}

void TimeStepper::project(State& state) {
  upload_added(0);
  walls_.apply_normal(state.velocity.w);
  projection_.solve(state.velocity, 1, timers_);
  // p must not change: it is corrected by a phi that is no pressure. The old tendency's place is free here.
  projection_.correct(state.velocity, star_.u, added_.data(), 1, 0);
  fill_halos(state);
}

void TimeStepper::fill_halos(State& state) {
  halo_.update({&state.velocity.u, &state.velocity.v, &state.velocity.w, &state.p});
  walls_.apply(state.velocity);
  walls_.apply_neumann(state.p);
}

Diagnostics TimeStepper::diagnose(const State& state) const {
  return sluice::diagnose(state.velocity, *grid_, metrics_, flow_, walls_, comm_->world());
}

}  // namespace sluice
