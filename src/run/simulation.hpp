#pragma once
#include <memory>
#include <optional>

#include "core/decomp/communicator.hpp"
#include "core/decomp/exchange/exchanges.hpp"
#include "io/case/case.hpp"
#include "solver/initial.hpp"
#include "solver/statistics/statistics.hpp"
#include "solver/time_stepper.hpp"
#include "src/run/autotune.hpp"

namespace sluice {

/// Assigns a device to every rank: one GPU per rank, by its rank within the node. Collective.
void select_device(MPI_Comm world);

/// A case set up on the ranks of a communicator: grid, pencils, stepper and state. Shared by `sluice run`, `sluice
/// bench` and the tests of whole runs. Construction is collective and allocates the fields;
/// the first step allocates buffers of halo exchanges and reductions.
class Simulation {
 public:
  Simulation(const io::Case& settings, Grid grid, const Layout& layout, MPI_Comm world);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// The initial field, for types turbulent, laminar and zero. Collective.
  void initialise();

  /// dt_lim of the present state; see solver/time_step_limit.hpp. Throws Error(numerics) if the velocity is not finite
  /// or dt_lim has collapsed. Collective.
  double stable_dt() const;

  /// The length of the next step: the fixed dt, or cfl times dt_lim; at most dt_max. Throws as stable_dt(). Collective.
  double next_dt();

  /// One step; returns its length. Collective.
  double advance();

  /// Call after any external change of `state`: discards what the last step computed from it.
  void state_replaced() { has_stepped_ = false; }

  const io::Case settings;
  const Communicator comm;
  const Decomposition decomposition;
  const Grid grid;
  const FlowParameters flow;
  const Exchanges exchanges;
  TimeStepper stepper;
  State state;
  double dt = 0;        ///< length of the last step
  double dt_limit = 0;  ///< dt_lim of the last step
  MeanForce forcing;    ///< of the last step

 private:
  bool has_stepped_ = false;
};

}  // namespace sluice
