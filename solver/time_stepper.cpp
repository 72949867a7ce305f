// A step: three substeps, each of which calls the parts of eqs. (1) to (6) in order.
#include "solver/time_stepper.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/decomp/field_copy.hpp"
#include "core/device/together.hpp"
#include "core/support/collective.hpp"
#include "solver/physics/terms.hpp"
#include "solver/time_step_limit.hpp"

namespace sluice {

/// Lends a State to a step as a flow that advances. The destructor returns it, also if the step throws.
class TimeStepper::Loan {
 public:
  explicit Loan(State& state) : state_(state), flow_(std::move(state)) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    static_assert(std::is_nothrow_move_assignable_v<State>);
    state_ = std::move(flow_.state_);
  }
  AdvancingState& flow() { return flow_; }

 private:
  State& state_;
  AdvancingState flow_;
};

TimeStepper::TimeStepper(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                         const FlowParameters& flow, const ExchangeSet& exchanges)
    : comm_(&comm),
      grid_(&grid),
      flow_(flow),
      device_metrics_(grid, decomposition.x_pencil(comm.rank())),
      metrics_(device_metrics_.view()),
      box_(decomposition.x_pencil(comm.rank())),
      walls_(grid, box_, flow.bottom, flow.top, scalar_fields(flow), comm.world(), flow.periodic_z),
      wall_responses_(comm, decomposition, grid, flow_, walls_),
      wall_functions_(comm, walls_, grid),
      halo_(comm, box_, exchanges.halos, flow.periodic_z),
      halo_method_(&exchanges.halos),
      momentum_(metrics_, flow),
      body_forces_(metrics_, flow),
      projection_(comm, decomposition, grid, metrics_, walls_, halo_, flow, exchanges),
      transport_(comm, decomposition, grid, metrics_, walls_, flow, exchanges.columns, projection_.poisson()),
      constant_rate_(diffusive_rate(grid, flow) + rate_of_terms(flow)),
      forcing_(flow.forcing, "flow.forcing", grid, comm.world()),
      spanwise_forcing_(flow.spanwise_forcing, "flow.spanwise_forcing", grid, comm.world()),
      correction_sweep_(box_, metrics_, flow.order),
      star_(box_, flow.order),
      tendency_(box_, flow.order),
      response_(box_),
      impulse_(2),
      no_impulse_(2) {
  SLUICE_REQUIRE(!flow.periodic_z || flow.diffusion != Diffusion::implicit_z, "periodic in z: no z-implicit diffusion");
  const std::vector velocity(base_fields().begin(), base_fields().begin() + pressure_field);
  if (flow.diffusion != Diffusion::explicit_) pressure_increment_.emplace(projection_.make_phi());
  if (flow.diffusion == Diffusion::implicit)
    implicit_.emplace(grid, metrics_, walls_, flow.order, flow.periodic_z, velocity, projection_.poisson());
  if (flow.diffusion == Diffusion::implicit_z) {
    implicit_z_.emplace(comm, decomposition, grid, walls_, velocity, flow.tridiagonal, exchanges.columns);
    if (sweep_updates_pressure && can_leave_corrections(flow, body_forces_, loops_on_gpu))
      updated_pressure_.emplace(make_field(base_fields()[pressure_field], box_, flow.order));
  }
}

MemoryNeed TimeStepper::need_of(const Decomposition& decomposition, int rank, const FlowParameters& flow, bool on_gpu) {
  const Box3 box = decomposition.x_pencil(rank);
  const std::vector<FieldDescriptor> scalars = scalar_fields(flow);
  MemoryNeed need{.held = 3 * VectorField::memory(box, flow.order)};  // u, u* and R
  need.held += PoissonSolver::field_memory(decomposition, rank, flow.order);
  need.held += Walls::memory(box, flow.bottom, flow.top, scalars) + WallResponses::memory(box, flow);
  for (const FieldDescriptor& scalar : scalars) need.held += field_memory(scalar, box, flow.order);
  need += Transport::memory(decomposition, rank, flow);
  need += Projection::memory(decomposition, rank, flow, on_gpu);
  if (flow.diffusion == Diffusion::implicit_z) {
    const bool second = on_gpu && can_leave_corrections(flow, BodyForces({}, flow), on_gpu);
    need.held += (second ? 2 : 1) * field_memory(base_fields()[pressure_field], box, flow.order);
    need += ImplicitDiffusion::memory(decomposition, rank, pressure_field, flow.tridiagonal);
  }
  if (flow.diffusion == Diffusion::implicit) {
    need.held += field_memory(base_fields()[pressure_field], box, flow.order);
    need += DiffusionInAllDirections::memory(decomposition, rank, true, flow.tridiagonal, flow.periodic_z);
  }
  std::vector<HaloWidth> all;
  for (const FieldDescriptor& field : fields_of(flow)) all.push_back(halo_of(field, flow.order));
  if (flow.diffusion == Diffusion::explicit_) all[pressure_field] = PoissonSolver::halo(flow.order);
  std::vector<HaloWidth> advanced = all;
  advanced.erase(advanced.begin() + pressure_field);
  need += {.halos = HaloExchange::memory(decomposition, rank, all, flow.periodic_z)};
  if (Projection::fills_ahead(decomposition, flow))  // fill_halos_after_correction()
    need += {.halos = HaloExchange::memory_ahead(decomposition, rank, advanced,
                                                 flow.diffusion == Diffusion::implicit_z ? all : advanced)};
  return need;
}

std::vector<double> TimeStepper::memory(const Decomposition& decomposition, const FlowParameters& flow,
                                        const ExchangeMethods& methods, bool on_gpu) {
  std::vector<MemoryNeed> needs;
  for (int rank = 0; rank < decomposition.processes().size(); ++rank)
    needs.push_back(need_of(decomposition, rank, flow, on_gpu));
  // Memory that ranks share is as large on each as on the one that needs most.
  for (const auto& [method, kind] :
       {std::pair{&ExchangeMethods::halos, &MemoryNeed::halos}, std::pair{&ExchangeMethods::rows, &MemoryNeed::rows},
        std::pair{&ExchangeMethods::columns, &MemoryNeed::columns}}) {
    if (array_moves(methods.*method) != ArrayMoves::shared) continue;
    for (double ExchangeNeed::*part : {&ExchangeNeed::transposed, &ExchangeNeed::messages, &ExchangeNeed::background}) {
      double largest = 0;
      for (const MemoryNeed& need : needs) largest = std::max(largest, (need.*kind).*part);
      for (MemoryNeed& need : needs) (need.*kind).*part = largest;
    }
  }
  std::vector<double> bytes;
  for (const MemoryNeed& need : needs) bytes.push_back(need.bytes(methods));
  return bytes;
}

PhaseWords TimeStepper::words(const std::array<std::int64_t, 3>& cells, const ProcessGrid& processes,
                              const FlowParameters& flow, LineStrategy lines, bool on_gpu) {
  const bool implicit_z = flow.diffusion == Diffusion::implicit_z;
  const bool implicit = flow.diffusion == Diffusion::implicit;
  const BodyForces forces({}, flow);
  const bool corrects = can_leave_corrections(flow, forces, on_gpu);
  PhaseWords words;
  const auto add = [&](const PhaseWords& part) {
    for (const auto& [phase, count] : part) words[phase] += count;
  };
  for (int k = 0; k < Rk3::substeps; ++k) {
    const bool first = k == 0;
    const bool last = k + 1 == Rk3::substeps;
    words[TimedPhase::momentum] += Momentum::words(flow.diffusion, first, last, corrects, on_gpu);
    if (on_gpu) words[TimedPhase::momentum] += forces.words();  // a CPU has most of what they need in cache
    add(Transport::words(cells, processes, flow, lines, first, last, corrects, on_gpu));
    if (implicit_z) words[TimedPhase::implicit_diffusion] += ImplicitDiffusion::words(lines, pressure_field);
    if (implicit) {
      add(DiffusionInAllDirections::words(cells, processes, lines, pressure_field));
      words[TimedPhase::correction] += CorrectionSweep::words_with_divergence;
    }
    add(Projection::words(cells, processes, flow, lines));
    if (!corrects) words[TimedPhase::correction] += CorrectionSweep::words(implicit_z);
    if (corrects && implicit_z && !on_gpu) words[TimedPhase::correction] += CorrectionSweep::words_of_pressure;
  }
  return words;
}

void TimeStepper::add(std::shared_ptr<BodyForce> force, double rate) {
  SLUICE_REQUIRE(force != nullptr, "a force is needed");
  SLUICE_REQUIRE(rate >= 0, "the rate of a force cannot be negative");
  body_forces_.append(std::move(force), rate);
  ++added_.forces;
}

void TimeStepper::remove(const BodyForce& force) {
  body_forces_.remove(force);
  --added_.forces;
}

void TimeStepper::add_source(std::size_t scalar, std::shared_ptr<SourceLoop> source, double rate) {
  SLUICE_REQUIRE(source != nullptr, "a source is needed");
  SLUICE_REQUIRE(rate >= 0, "the rate of a source cannot be negative");
  transport_.add_source(scalar, std::move(source), rate);
  ++added_.sources;
}

void TimeStepper::remove_source(const SourceLoop& source) {
  transport_.remove_source(source);
  --added_.sources;
}

void TimeStepper::respond(Walls::Side side, WallFunction function, bool remove_mean) {
  wall_functions_.set(side, std::move(function), reach_of(flow_.order), remove_mean);
}

TimeStepper::AddedCode TimeStepper::added_code() const {
  AddedCode code = added_;
  code.responses_bottom = has_response(Walls::Side::bottom) ? 1 : 0;
  code.responses_top = has_response(Walls::Side::top) ? 1 : 0;
  return code;
}

void TimeStepper::accept_prescribed_walls() {
  walls_.balance_prescribed();
  fill_prescribed_walls();
}

/// Their y halos.
void TimeStepper::fill_prescribed_walls() {
  const HaloExchange::Fields planes = walls_.prescribed();
  if (planes.empty()) return;
  if (!wall_halo_) wall_halo_.emplace(*comm_, planes.front()->box(), *halo_method_);
  wall_halo_->update_y(planes);
}

State TimeStepper::make_state() const {
  // With explicit diffusion the solve uses p itself as phi.
  Field p = pressure_increment_ ? make_field(base_fields()[pressure_field], box_, flow_.order) : projection_.make_phi();
  return {std::move(p), scalar_fields(flow_), flow_.order};
}

MeanForce TimeStepper::step(State& state, double dt) {
  Loan loan(state);
  const MeanForce mean_force = advance(loan.flow(), dt);
  this->state(loan.flow());
  throw_failed_response();
  return mean_force;
}

MeanForce TimeStepper::advance(AdvancingState& flow, double dt) {
  State& state = flow.state_;
  require_drive(state, dt);
  for (int k = 0; k < Rk3::substeps; ++k) substep(flow, dt, k, Correcting::in_next_substep);
  state.equal_steps = state.equal_steps.after_step(state.time, dt);
  state.time = state.equal_steps.end();
  ++state.step;
  MeanForce mean;
  for (int k = 0; k < Rk3::substeps; ++k) mean.add(Rk3::gamma(k), mean_force(k));
  return mean;
}

State& TimeStepper::state(AdvancingState& flow) const {
  if (flow.left_) {
    require_phi(flow);
    correction_sweep_.complete(flow.state_.velocity, flow.state_.p, *flow.left_, phi_of(flow.state_).view(),
                               response_.values());
    flow.left_.reset();
  }
  return flow.state_;
}

VelocityToCorrect TimeStepper::velocity(const AdvancingState& flow) const {
  if (!flow.left_) return flow.state_;
  require_phi(flow);
  return {flow.state_.velocity, {phi_of(flow.state_).view(), response_.values(), *flow.left_}};
}

void TimeStepper::require_phi(const AdvancingState& flow) const {
  SLUICE_REQUIRE(flow.by_ == this && flow.generation_ == generation_,
                 "the correction of this flow is lost: its stepper has stepped another flow meanwhile, or another "
                 "stepper has deferred it");
}

void TimeStepper::require_drive(const State& state, double dt) {
  for (int k = 0; k < Rk3::substeps; ++k) {
    const Substep times{k, state.time, dt, state.equal_steps.after_step(state.time, dt).end()};
    forcing_.require_finite(times);
    spanwise_forcing_.require_finite(times);
    if (walls_.pump()) walls_.set_time(times.end());
  }
}

MeanForce TimeStepper::substep(State& state, double dt, int k) {
  Loan loan(state);
  substep(loan.flow(), dt, k, Correcting::now);
  return mean_force(k);
}

void TimeStepper::substep(AdvancingState& flow, double dt, int k, Correcting when) {
  State& state = flow.state_;
  const auto n = static_cast<std::size_t>(k);
  const Phase phase(Rk3::names[n]);
  const Substep times{k, state.time, dt, state.equal_steps.after_step(state.time, dt).end()};
  const double gamma_dt = times.length();
  const double c = implicit_z_ ? gamma_dt * flow_.viscosity / 2 : 0;  // the Crank-Nicolson weight gamma dt nu/2

  if (k == 0 && forcing_.needs_mean_before())
    forcing_.set_mean_before(volume_mean(velocity(flow).corrected().u, box_.local(), *grid_, metrics_, comm_->world()));
  // On entry star_ holds R(u_prev); predict() reads it and overwrites it with u*.
  wall_responses_.respond(velocity(flow), metrics_);
  body_forces_.set_time(times.start());
  transport_.set_time(times.start());
  if (wall_functions_.respond([&] { return velocity(flow); }, metrics_)) fill_prescribed_walls();
  walls_.set_time(times.end());  // for the end of the substep; the halos of u hold that of its start
  // (1)  u* = u + dt [alpha R(u) + beta R(u_prev)], for transported fields too; z-implicit: right-hand side of (5),
  // which adds c Lz u - gamma dt grad p; implicit: without diffusion, less gamma dt grad p. In the three substeps alpha
  // = 8/15, 5/12, 3/4, beta = 0, -17/60, -5/12, and gamma = alpha + beta.
  const bool last = k + 1 == Rk3::substeps;
  predict(flow, {Rk3::alpha[n] * dt, Rk3::beta[n] * dt, gamma_dt, c, !last}, last ? &largest_rate_ : nullptr);
  device::issue_queued();  // a GPU begins with these loops while the host prepares the next ones
  // (5)  (1 - c Lz) u* = right-hand side; implicit: (5a)  (1 - c L) u* = right-hand side, to which it adds c L u
  solve_implicit_diffusion(state, gamma_dt);
  finish_scalars(state, gamma_dt);
  // (2)  lap phi = div u* / (gamma dt); with explicit diffusion phi is the pressure itself
  // Meanwhile u* may be exchanged, so that halos can be corrected like cells.
  // Also f, for example (target - <u*>) / (gamma dt <g>) for a given bulk velocity; u* += gamma dt f g, which is
  // divergence-free, is applied together with (3). g = 1 with explicit diffusion
  const auto find_mean_force = [&] {
    forcing_.find(projection_.u_star_sum(), times, response_, impulse_.data());
    spanwise_forcing_.find(projection_.v_star_sum(), times, response_, impulse_.data() + 1);
  };
  if (forcing_.needs_sum_on_host() || spanwise_forcing_.needs_sum_on_host()) {
    projection_.solve(star_, gamma_dt, phi_of(state), timers_, fields_ahead());
    find_mean_force();
  } else {
    projection_.solve(star_, gamma_dt, phi_of(state), timers_, fields_ahead(), find_mean_force);
  }
  // (3)  u = u* - gamma dt grad phi; z-implicit also (6)  p = p + phi - c Lz phi, implicit (6a)  p = p + phi - c L phi,
  // where L phi = div u* / (gamma dt). The next substep can form u while it reads u*: then only the cells that halos
  // and walls need get it here.
  correct(
      flow,
      {.gamma_dt = static_cast<real>(gamma_dt), .half_nu_gamma_dt = static_cast<real>(c), .impulse = impulse_.data()},
      when);

  // star_ now holds the new u, or u* where its correction is pending, and tendency_ R(u), unless this was the last
  // substep. After the swaps the velocity is the new u, star_ holds the next substep's R(u_prev), and the next R(u)
  // overwrites the old u.
  std::swap(state.velocity, star_);
  std::swap(star_, tendency_);
  transport_.accept(state.transported);
  fill_halos_after_correction(state);
}

void TimeStepper::predict(AdvancingState& flow, const SubstepWeights& weights, Deferred<double>* largest_rate) {
  State& state = flow.state_;
  const VelocityToCorrect before = velocity(flow);
  {
    const PhaseTimers::Scope scope(timers_, TimedPhase::momentum);
    // One sweep that calls predict (momentum_terms.hpp) for u, v and w: Sweep on a CPU, MarchInZ on a GPU. On a CPU
    // it also adds the body forces and updates the scalars, row by row.
    Field* const updated_pressure = updated_pressure_ ? &*updated_pressure_ : nullptr;
    momentum_.predict(before, state.p, weights, tendency_, star_,
                      {row_tasks(before, state.transported, weights), largest_rate, updated_pressure});
    if (!Momentum::runs_tasks && body_forces_.active())
      body_forces_.add(before, state.transported, weights.alpha_dt, tendency_, star_);
  }
  if (!Momentum::runs_tasks && !transport_.empty()) {
    const PhaseTimers::Scope scope(timers_, TimedPhase::scalars);
    transport_.predict(before, state.transported, weights);
  }
  if (flow.left_ && flow.left_->with_pressure) std::swap(state.p, *updated_pressure_);
  ++generation_;  // left_ belongs to the old velocity and must not be applied again
}

RowTasks TimeStepper::row_tasks(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars,
                                const SubstepWeights& weights) {
  RowTasks tasks;
  if (!Momentum::runs_tasks) return tasks;
  body_forces_.append_tasks(scalars, weights.alpha_dt, tendency_, star_, tasks);
  transport_.add_row_tasks(velocity, scalars, weights, tasks);
  return tasks;
}

void TimeStepper::solve_implicit_diffusion(const State& state, double gamma_dt) {
  const double c = gamma_dt * flow_.viscosity / 2;
  const std::vector<Field*> stars{&star_.u, &star_.v, &star_.w};
  if (implicit_) {
    const auto& [u, v, w] = state.velocity;
    implicit_->solve({&u, &v, &w}, stars, c, *pressure_increment_, timers_);
    implicit_->find(response_);
  }
  if (implicit_z_) {
    const PhaseTimers::Scope scope(timers_, TimedPhase::implicit_diffusion);
    implicit_z_->solve(stars, c);
    implicit_z_->find(response_);
  }
}

void TimeStepper::finish_scalars(const State& state, double gamma_dt) {
  if (transport_.empty()) return;
  if (implicit_) transport_.diffuse(state.transported, gamma_dt, *pressure_increment_, timers_);
  const PhaseTimers::Scope scope(timers_, TimedPhase::scalars);
  transport_.finish(gamma_dt);
}

MeanForce TimeStepper::mean_force(int k) {
  const auto [x, power] = forcing_.found(k);
  return {x, spanwise_forcing_.found(k).force, power};
}

void TimeStepper::correct(AdvancingState& flow, const CorrectionNumbers& numbers, Correcting when) {
  const PhaseTimers::Scope scope(timers_, TimedPhase::correction);
  const Field& phi = phi_of(std::as_const(flow.state_));
  const Correction correction{phi.view(), response_.values(), numbers};
  if (implicit_) correction_sweep_.update_pressure(flow.state_.p, phi, star_, flow_.viscosity / 2);
  Field* const p = implicit_z_ ? &flow.state_.p : nullptr;
  const Field* const old_p = flow.left_ && flow.left_->with_pressure ? &*updated_pressure_ : p;  // see predict()
  if (when == Correcting::in_next_substep && can_defer(flow.state_, phi)) {
    flow.left_ = correction_sweep_.correct_rim(star_, sweep_updates_pressure ? p : nullptr, correction);
    flow.by_ = this;
    flow.generation_ = generation_;
    if (p != nullptr && !sweep_updates_pressure) correction_sweep_.update_pressure(*p, correction);
  } else {
    flow.left_.reset();
    correction_sweep_.correct(star_, p, correction);
  }
  if (projection_.fills_ahead())
    correction_sweep_.correct_halos(star_, p, old_p, correction, halo_, projection_.beyond());
}

/// The fields whose z halos are exchanged before they are corrected; none if that comes after the correction.
HaloExchange::Fields TimeStepper::fields_ahead() {
  if (!projection_.fills_ahead()) return {};
  HaloExchange::Fields fields{&star_.u, &star_.v, &star_.w};
  for (Field* scalar : transport_.advanced()) fields.push_back(scalar);
  return fields;
}

/// Whether all that reads the velocity at the start of the next substep can correct it meanwhile.
bool TimeStepper::can_defer(const State& state, const Field& phi) {
  return can_leave_corrections(flow_, body_forces_, loops_on_gpu) &&
         momentum_.can_correct(state, phi, tendency_, star_);
}

double TimeStepper::largest_rate(const State& state) const {
  return sluice::largest_rate(state.velocity, metrics_, flow_.order, comm_->world());
}

double TimeStepper::reduce_rate_of_step() {
  return global_max(largest_rate_.value(), comm_->world());
}

double TimeStepper::time_step_limit(double largest_rate) const {
  return sluice::time_step_limit(largest_rate, constant_rate_ + body_forces_.added_rate() + transport_.added_rate());
}

double TimeStepper::time_step_limit(const State& state) const {
  return time_step_limit(largest_rate(state));
}

void TimeStepper::project(State& state) {
  walls_.set_time(state.time);
  accept_prescribed_walls();
  walls_.apply_normal(state.velocity.w);
  Field& phi = phi_of(state);
  // Save p: this phi is not the pressure. star_.u is free because no old tendency is needed here.
  if (!pressure_increment_) copy_cells(state.p, star_.u);
  ++generation_;
  projection_.solve(state.velocity, 1, phi, timers_);
  correction_sweep_.correct(state.velocity, nullptr,
                            {phi.view(), response_.values(), {.gamma_dt = 1, .impulse = no_impulse_.data()}});
  if (!pressure_increment_) copy_cells(star_.u, state.p);
  fill_halos(state);
}

void TimeStepper::fill_halos(State& state) {
  walls_.set_time(state.time);
  fill_prescribed_walls();
  fill_halos(state.fields(), ZHalos::to_fill);
}

void TimeStepper::fill_halos(const std::vector<Described<Field>>& fields, ZHalos z) {
  std::vector<Field*> list;
  for (const auto& [descriptor, field] : fields) list.push_back(&field);
  if (z == ZHalos::to_fill) {
    halo_.update(list);
  } else {
    halo_.update_y(list);
  }
  const device::Independent independent;
  for (const auto& [descriptor, field] : fields) walls_.apply(descriptor, field);
}

void TimeStepper::fill_halos_after_correction(State& state) {
  const PhaseTimers::Scope scope(timers_, TimedPhase::halo_exchange);
  // With explicit diffusion (2) has filled the halos of p.
  fill_halos(pressure_increment_ ? state.fields() : state.prognostic_fields(),
             projection_.fills_ahead() ? ZHalos::filled : ZHalos::to_fill);
}

void TimeStepper::sample(State& state, double forcing, Spectra& spectra) {
  if (pressure_increment_) {
    ++generation_;
    spectra.sample(state, forcing, {projection_.poisson(), *pressure_increment_, &state.p});
    return;
  }
  // Between steps tendency_ holds an old velocity, which the next step overwrites.
  Field& saved = tendency_.u;
  copy_with_halo(state.p, saved);
  spectra.sample(state, forcing, {projection_.poisson(), state.p, nullptr});
  copy_with_halo(saved, state.p);
}

Diagnostics TimeStepper::diagnose(const State& state) const {
  return sluice::diagnose(state, *grid_, metrics_, flow_, walls_, comm_->world());
}

}  // namespace sluice
