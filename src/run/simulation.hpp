#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/exchange/exchanges.hpp"
#include "io/case/case.hpp"
#include "solver/initial.hpp"
#include "solver/statistics/statistics.hpp"
#include "solver/time_stepper.hpp"
#include "src/run/autotune.hpp"

namespace sluice {

/// A case set up on the ranks of a communicator: grid, pencils, stepper and state. Shared by `sluice run`, `sluice
/// bench` and the tests of whole runs. Construction is collective and allocates the fields;
/// the first step allocates buffers of halo exchanges and reductions.
class Simulation {
 public:
  Simulation(const io::Case& settings, Grid grid, const Layout& layout, MPI_Comm world);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// The initial field, for types turbulent, laminar and zero; start_from_initial() serves all types. Collective.
  void initialise();

  /// The state, until the next step.
  State& state() { return stepper.state(advancing_); }
  /// The velocity that state() has, for kernels that correct it while they read it.
  VelocityToCorrect velocity() const { return stepper.velocity(advancing_); }
  std::int64_t step() const { return advancing_.step(); }
  double time() const { return advancing_.time(); }
  const EqualSteps& equal_steps() const { return advancing_.equal_steps(); }
  const Box3& box() const { return advancing_.box(); }  ///< the rank's x pencil

  /// The largest advective rate for the next step (solver/time_step_limit.hpp): found by the last step, restored from a
  /// checkpoint, or computed from the state. The first call after a step reduces it over the ranks, later ones return
  /// it. Collective.
  double advective_rate();

  /// dt_lim for the next step. Throws Error(numerics) if the velocity is not finite or dt_lim has collapsed.
  /// Collective.
  double stable_dt();

  /// Throws like stable_dt() if no further step is possible from the state `now`. advective_rate() is not
  /// enough for this: it is the rate one substep earlier, and a flow that blows up grows by orders of magnitude in a
  /// substep. Collective.
  void require_next_step(const State& now) const;

  /// Whether the end of the case is reached, its time or its number of steps. Local.
  bool at_end() const;

  /// The length of the next step: the fixed dt, or cfl times dt_lim; at most dt_max. Throws as stable_dt(). Collective.
  double next_dt();

  /// One step; returns its length. Throws as TimeStepper::step; if a wall function has failed, after the step.
  /// Collective.
  double advance();
  /// The same, but the caller asks stepper.throw_failed_response() afterwards.
  double take_step();

  /// Call after any external change of the state: discards what the last step computed from it.
  void state_replaced() { restored_at({}); }
  /// The same, with the advective rate that a checkpoint stored.
  void restored_at(std::optional<double> rate) {
    has_stepped_ = false;
    rate_ = rate;
  }

  const io::Case settings;
  const Communicator comm;
  const Decomposition decomposition;
  const Grid grid;
  const FlowParameters flow;
  const Exchanges exchanges;
  TimeStepper stepper;
  double dt = 0;        ///< length of the last step
  double dt_limit = 0;  ///< dt_lim of the last step
  MeanForce forcing;    ///< of the last step
  /// The code that acted when the checkpoint was written from which the run goes on; none after the first step.
  TimeStepper::AddedCode code_of_checkpoint;
  /// Returns the velocities of walls that a program has set for the next step, which takes them over: checkpoints hold
  /// them. Null: none. Collective.
  std::function<std::vector<PrescribedWall>()> next_walls;

 private:
  /// dt_lim for this rate; throws as stable_dt(). Local.
  double stable_dt(double rate) const;

  AdvancingState advancing_;
  bool has_stepped_ = false;
  std::optional<double> rate_;  ///< advective_rate(), once it is known
};

/// `initial: fields`: /u, /v, /w and the transported fields of any HDF5 file, shaped (nz, ny, nx) and placed as in
/// checkpoints; made divergence-free. Starts at time 0. Collective. Throws Error(restart).
void set_from_fields(Simulation& simulation, const std::string& path);

/// `initial: checkpoint`: a checkpoint of any grid on a domain of the same height. Interpolates linearly along each
/// direction (periodic in x and y over each domain's own length; with the wall values in z), then makes the field
/// divergence-free. Starts at time 0. Collective. Throws Error(restart).
void set_from_checkpoint(Simulation& simulation, const std::string& path);

/// The initial field of the case, of any type. Collective. Throws Error(restart).
void start_from_initial(Simulation& simulation);

}  // namespace sluice
