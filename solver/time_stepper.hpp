#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/decomp/halo_exchange.hpp"
#include "core/device/buffer.hpp"
#include "core/device/deferred.hpp"
#include "core/device/timers.hpp"
#include "model/parameters.hpp"
#include "solver/correction/advancing_state.hpp"
#include "solver/correction/correction_sweep.hpp"
#include "solver/correction/velocity.hpp"
#include "solver/diagnostics.hpp"
#include "solver/diffusion/implicit_diffusion.hpp"
#include "solver/diffusion/uniform_response.hpp"
#include "solver/forcing.hpp"
#include "solver/grid/grid.hpp"
#include "solver/momentum/momentum.hpp"
#include "solver/physics/body_force.hpp"
#include "solver/projection.hpp"
#include "solver/rk3.hpp"
#include "solver/state/state.hpp"
#include "solver/statistics/spectra.hpp"
#include "solver/transport/transport.hpp"
#include "solver/walls/actuations.hpp"
#include "solver/walls/wall_function.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

/// Advances a flow. Allocates all work arrays on construction: a step allocates no fields, and only the first step
/// allocates buffers for halo exchanges and scratch memory for reductions.
class TimeStepper {
 public:
  /// `comm`, `decomposition`, `grid` and the exchanges must outlive the stepper.
  TimeStepper(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
              const FlowParameters& flow, const ExchangeSet& exchanges);

  /// Bytes of device memory that a stepper and a State hold on each rank of a decomposition, which need not be the one
  /// that runs. on_gpu: with the second p of a GPU build; all else is that of this build. Tables with a number for each
  /// row, column or plane, and what a CPU keeps in its cache during a step, are left out. Local.
  static std::vector<double> memory(const Decomposition& decomposition, const FlowParameters& flow,
                                    const ExchangeMethods& methods, bool on_gpu = loops_on_gpu);

  /// What a step moves, where the momentum sweep can correct the velocity, as on all but odd grids. `lines`: how those
  /// along z are solved. Local.
  static PhaseWords words(const std::array<std::int64_t, 3>& cells, const ProcessGrid& processes,
                          const FlowParameters& flow, LineStrategy lines, bool on_gpu = loops_on_gpu);

  /// Adds a force per mass to those of the flow's terms, from the next step on; LoopedForce (physics/force_loops.hpp)
  /// makes one from a kernel of one cell. rate: its part of 1/dt_lim (time_step_limit.hpp): r/2.51 for a drag -r u,
  /// omega/sqrt(3) for a force that turns or swings the velocity at the angular frequency omega, 0 for one that does
  /// not depend on the flow. A force that depends on the velocity must say so (BodyForce::reads_velocity): on GPUs
  /// steps then defer no corrections. Call it on every rank, between steps; after advance(), call state() first. The
  /// force is not part of laminar profiles, budgets, memory() and words(). Local.
  void add(std::shared_ptr<BodyForce> force, double rate = 0);
  /// Removes a force that add() has added; called as add(). Local.
  void remove(const BodyForce& force);

  /// Adds a source to the scalar of this number, from the next step on: a FunctionOfScalar (physics/source_loops.hpp),
  /// a GivenSource (physics/given_force.hpp) or another. rate: its part of 1/dt_lim. All that add() says of forces
  /// holds for sources. Local.
  void add_source(std::size_t scalar, std::shared_ptr<SourceLoop> source, double rate = 0);
  /// Removes a source that add_source() has added. Local.
  void remove_source(const SourceLoop& source);

  /// After changes of planes of Walls::prescribe: checks that the fluxes balance, and fills the y halos. The next
  /// substeps end with these velocities. Call it between steps. Throws like Walls::balance_prescribed. Collective.
  void accept_prescribed_walls();

  /// From the next step on, `function` sets w of a wall at the start of every substep; null removes it, and w keeps its
  /// values. If it throws in a step, or the fluxes through the walls do not balance, the step is completed with the w
  /// that the wall has; then step() throws that Error on all ranks. advance() does not: call throw_failed_response().
  /// Call it on every rank, between steps. Throws like Walls::prescribe.
  /// remove_mean: the mean over the wall is subtracted from what the function has written.
  void respond(Walls::Side side, WallFunction function, bool remove_mean = false);
  void throw_failed_response() { wall_functions_.throw_failure(); }
  bool has_response(Walls::Side side) const { return wall_functions_.has(side); }

  /// How much code of other programs the steps call. Checkpoints have these numbers, and not the code.
  struct AddedCode {
    std::int64_t forces = 0, sources = 0, responses_bottom = 0, responses_top = 0;

    bool any() const { return *this != AddedCode(); }
    bool operator==(const AddedCode&) const = default;
  };
  AddedCode added_code() const;

  /// What drives the mean flow along x and y, for Forcing::set between steps, on every rank.
  Forcing& forcing() { return forcing_; }
  Forcing& spanwise_forcing() { return spanwise_forcing_; }
  const Forcing& forcing() const { return forcing_; }
  const Forcing& spanwise_forcing() const { return spanwise_forcing_; }

  /// A flow at rest with the fields that the stepper needs.
  State make_state() const;

  /// One step of length dt. Returns the mean force of the step, sum_k gamma_k f_k. Collective.
  MeanForce step(State& state, double dt);

  /// The same, but the last correction (3) may be deferred to the next step, which applies it while it reads the
  /// velocity. The bits of later steps are the same whether state() is called in between or not. Until then this
  /// stepper must not step or project another flow: state() and the next step would throw.
  MeanForce advance(AdvancingState& flow, double dt);

  /// Applies the correction that the last step has deferred. The state is valid until the next step of the flow. Local.
  State& state(AdvancingState& flow) const;

  /// The velocity at the start of the next step, for kernels that apply the correction while they read it. Local.
  VelocityToCorrect velocity(const AdvancingState& flow) const;

  /// Substep k (0, 1, 2) of such a step, of length gamma_k dt; does not change state.time and state.step. A step runs
  /// the three in order: R_prev comes from the preceding substep. Returns the force f_k. Public for tests of one
  /// equation. Collective.
  MeanForce substep(State& state, double dt, int k);

  /// dt_lim for this state; see time_step_limit.hpp. Collective.
  double time_step_limit(const State& state) const;

  /// The largest advective rate of this state; see time_step_limit.hpp. Collective.
  double largest_rate(const State& state) const;
  /// Reduces over the ranks what the last substep of the last step found without another read: the largest advective
  /// rate of the velocity at its start. Collective.
  double reduce_rate_of_step();
  /// dt_lim for this advective rate.
  double time_step_limit(double largest_rate) const;

  /// Makes any velocity field divergence-free and fills all halos, those of p too. Collective.
  void project(State& state);

  /// Fills every halo of every field, walls included. Collective.
  void fill_halos(State& state);

  Diagnostics diagnose(const State& state) const;

  /// Adds a sample of the state to `spectra`, between steps: with the arrays and transforms of the Poisson solver. With
  /// explicit diffusion its array is that of p, which is put aside meanwhile; afterwards the state is as before.
  /// Collective.
  void sample(State& state, double forcing, Spectra& spectra);

  const Metrics& metrics() const { return metrics_; }
  const Walls& walls() const { return walls_; }
  /// For Walls::move, before the halos of the first state are filled, and Walls::prescribe, between steps.
  Walls& walls() { return walls_; }
  const WallResponses& wall_responses() const { return wall_responses_; }
  const Momentum& momentum() const { return momentum_; }
  PhaseTimers& timers() { return timers_; }

 private:
  class Loan;
  static MemoryNeed need_of(const Decomposition& decomposition, int rank, const FlowParameters& flow, bool on_gpu);
  /// When a substep applies eq. (3).
  enum class Correcting { now, in_next_substep };
  /// Called before a step. Throws Error(numerics) if a formula or table of the forcing is not finite during the step,
  /// or if inflow and outflow through the walls differ. An error within the step would leave an incomplete state.
  void require_drive(const State& state, double dt);
  void substep(AdvancingState& flow, double dt, int k, Correcting when);
  void predict(AdvancingState& flow, const SubstepWeights& weights, Deferred<double>* largest_rate);
  RowTasks row_tasks(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars,
                     const SubstepWeights& weights);
  void solve_implicit_diffusion(const State& state, double gamma_dt);
  void finish_scalars(const State& state, double gamma_dt);
  void correct(AdvancingState& flow, const CorrectionNumbers& numbers, Correcting when);
  bool can_defer(const State& state, const Field& phi);
  Field& phi_of(State& state) { return pressure_increment_ ? *pressure_increment_ : state.p; }
  const Field& phi_of(const State& state) const { return pressure_increment_ ? *pressure_increment_ : state.p; }
  void require_phi(const AdvancingState& flow) const;
  /// What drives the mean flow in substep k of the present step. Waits for it.
  MeanForce mean_force(int k);
  HaloExchange::Fields fields_ahead();
  void fill_halos_after_correction(State& state);
  void fill_prescribed_walls();
  /// filled: z halos are valid, but for their edges in the y halo.
  enum class ZHalos { to_fill, filled };
  void fill_halos(const std::vector<Described<Field>>& fields, ZHalos z);

  const Communicator* comm_;
  const Grid* grid_;
  FlowParameters flow_;
  DeviceMetrics device_metrics_;
  Metrics metrics_;
  Box3 box_;
  Walls walls_;
  WallResponses wall_responses_;
  WallFunctions wall_functions_;
  AddedCode added_;  ///< without responses
  HaloExchange halo_;
  Exchange* halo_method_;
  std::optional<HaloExchange> wall_halo_;  ///< of planes that are prescribed, once there are any
  Momentum momentum_;
  BodyForces body_forces_;
  Projection projection_;
  Transport transport_;
  double constant_rate_;      ///< of dt_lim: the part that does not depend on the velocity
  Forcing forcing_;           ///< along x
  Forcing spanwise_forcing_;  ///< along y
  CorrectionSweep correction_sweep_;
  std::uint64_t generation_ = 0;  ///< counts changes of phi and g; a correction deferred at an earlier count is lost
  std::optional<ImplicitDiffusion> implicit_z_;
  std::optional<DiffusionInAllDirections> implicit_;
  VectorField star_;  ///< u*; between substeps the old tendency
  VectorField tendency_;
  Deferred<double> largest_rate_;            ///< of the velocity at the start of the last substep
  std::optional<Field> pressure_increment_;  ///< phi, with implicit diffusion
  std::optional<Field> updated_pressure_;    ///< where the momentum sweep writes p
  UniformResponse response_;                 ///< g, of u*
  Buffer<real> impulse_;                     ///< gamma dt f along x and y in the last substep
  Buffer<real> no_impulse_;
  PhaseTimers timers_;
};

}  // namespace sluice
