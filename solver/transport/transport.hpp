#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/decomp/exchange/exchanges.hpp"
#include "core/support/phases.hpp"
#include "solver/diffusion/implicit_diffusion.hpp"
#include "solver/diffusion/uniform_response.hpp"
#include "solver/momentum/momentum.hpp"
#include "solver/physics/source.hpp"
#include "solver/state/state.hpp"

namespace sluice {

enum class LineStrategy;  // poisson/tridiagonal/line_plan.hpp

/// Advances the scalars of a state together with the velocity, with the same weights:
/// c* = c + dt [alpha R + beta R_prev], R = -div(u c) + kappa lap c + source, or with z-implicit diffusion as eq. (5).
/// Owns c* and R of each scalar.
class Transport {
 public:
  /// `comm`, `decomposition`, `grid`, `walls`, the exchange and `poisson` must outlive it. Collective.
  Transport(const Communicator& comm, const Decomposition& decomposition, const Grid& grid, const Metrics& metrics,
            const Walls& walls, const FlowParameters& flow, Exchange& exchange, PoissonSolver& poisson);
  /// On one rank. Local.
  static MemoryNeed memory(const Decomposition& decomposition, int rank, const FlowParameters& flow);

  /// What a substep moves, if lines along z are solved by `lines`. A CPU advances the scalars in the momentum sweep.
  /// `corrects`: the sweep reads a velocity that is to be corrected.
  static PhaseWords words(const std::array<std::int64_t, 3>& cells, const ProcessGrid& processes,
                          const FlowParameters& flow, LineStrategy lines, bool first, bool last, bool corrects,
                          bool on_gpu);

  bool empty() const { return scalars_.empty(); }

  /// Adds a source to a scalar, or removes one that was added: TimeStepper::add_source. Local.
  void add_source(std::size_t scalar, std::shared_ptr<SourceLoop> source, double rate);
  void remove_source(const SourceLoop& source);
  /// The largest sum of rates of the sources that were added to one scalar.
  double added_rate() const;
  /// SourceLoop::set_time of each source. Local.
  void set_time(double time);

  /// Computes R and c* of every scalar; z-implicit: the right-hand side. The velocity and the scalars need valid halos;
  /// no halo is written. Local.
  void predict(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars,
               const SubstepWeights& weights);
  /// The same for each row, with the same bits: adds a task for each scalar. The velocity's arrays, the scalars and
  /// this object must outlive them.
  void add_row_tasks(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars,
                     const SubstepWeights& weights, RowTasks& tasks);
  /// Only where diffusion is implicit in all directions: solves it, from the scalars at the start of the substep,
  /// before finish(). work: as for DiffusionInAllDirections::solve. Collective.
  void diffuse(const std::vector<TransportedField>& scalars, double gamma_dt, Field& work, PhaseTimers& timers);
  /// Completes c*: solves z-implicit diffusion and adds sources that hold a mean. Collective.
  void finish(double gamma_dt);
  /// c* of every scalar, complete after finish().
  std::vector<Field*> advanced();
  /// Makes c* the scalar and R the old tendency. Halos of the scalars are stale on return. Local.
  void accept(std::vector<TransportedField>& scalars);

 private:
  struct SourceWithLoop {
    std::shared_ptr<SourceLoop> loop;
    double added_rate = 0;  ///< of an added one
  };
  struct Scalar {
    ScalarParameters parameters;
    double kappa;
    Field star;  ///< c*; between substeps the old tendency
    Field tendency;
    std::optional<ImplicitDiffusion> implicit_z;
    std::optional<DiffusionInAllDirections> implicit;
    std::vector<SourceWithLoop> loops;  ///< what the sweep does not add of the sources
    std::optional<double> held_mean;    ///< the volume mean that the source holds
    UniformResponse response;           ///< g, of c*
  };

  template <class Action>
  void for_each_scalar(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars,
                       const SubstepWeights& weights, const Action& action);
  void hold_mean(Scalar& scalar, double gamma_dt);

  const Grid* grid_;
  MPI_Comm comm_;
  Metrics metrics_;
  Order order_;
  Box3 box_;
  std::vector<Scalar> scalars_;
};

}  // namespace sluice
