#pragma once
#include "core/device/deferred.hpp"
#include "core/device/parallel_for.hpp"
#include "model/parameters.hpp"
#include "solver/correction/velocity.hpp"
#include "solver/grid/grid.hpp"
#include "solver/momentum/row_task.hpp"

namespace sluice {

/// The weights of one substep, times dt; see eqs. (1) and (5).
struct SubstepWeights {
  double alpha_dt = 0;
  double beta_dt = 0;  ///< 0 in the first substep, which does not read the old tendency
  double gamma_dt = 0;
  double half_nu_gamma_dt = 0;  ///< gamma dt nu / 2, the Crank-Nicolson weight; 0 unless diffusion is z-implicit
  bool keeps_tendency = true;   ///< false in the last substep: the next one has beta = 0 and does not read R
};

/// Tiles of cells that the thread blocks of a GPU march through: `fastest` depends on the grid. large: where this kind
/// of sweep has such tiles and they fit the shared memory.
enum class SweepTiles { fastest, small, large };

/// How a sweep is done.
struct SweepForm {
  Order order;
  bool first;       ///< the old tendency is not read
  bool implicit_z;  ///< leaves diffusion along z out of R; adds the gradient of p and the Crank-Nicolson term
  SweepTiles tiles = SweepTiles::fastest;
};

/// Whether predict() also updates p, eq. (6), where it corrects the velocity. That takes a second array of p, because
/// other thread blocks still read the old one.
inline constexpr bool sweep_updates_pressure = loops_on_gpu;

/// What a momentum sweep does beside the equation.
struct BesideMomentum {
  RowTasks tasks{};                          ///< for each row; only if Momentum::runs_tasks
  Deferred<double>* largest_rate = nullptr;  ///< gets the largest advective rate of u in the rank (advective_rate.hpp)
  Field* updated_pressure = nullptr;         ///< gets the new p, without halos, if the pending correction includes p
  SweepTiles tiles = SweepTiles::fastest;    ///< on a GPU
};

/// The momentum equation without forcing: eq. (1), or the right-hand side of eq. (5).
class Momentum {
 public:
  /// Whether predict() runs tasks for each row, as on a CPU.
  static constexpr bool runs_tasks = !loops_on_gpu;

  Momentum(const Metrics& metrics, const FlowParameters& flow);

  /// tendency = R(u), if the weights keep it; otherwise tendency is not changed. star holds the old tendency R(u_prev)
  /// on entry. On return, star is u* of eq. (1) without f and the pressure with explicit diffusion:
  ///     u + alpha dt R + beta dt R_prev
  /// or, with z-implicit diffusion, the right-hand side of eq. (5):
  ///     u + alpha dt R + beta dt R_prev - gamma dt grad p + gamma dt nu/2 Lz u
  /// With diffusion that is implicit in all directions, R is without diffusion, and the weight gamma dt nu/2 is 0.
  /// Velocity (and p with implicit diffusion) need valid halos; no halo is written. One sweep through memory. Where a
  /// correction is pending, it corrects the values that it reads and leaves those in memory as they are.
  void predict(const VelocityToCorrect& velocity, const Field& p, const SubstepWeights& weights, VectorField& tendency,
               VectorField& star, const BesideMomentum& beside = {}) const;

  /// Words per cell that predict() reads and writes: u, v, w and u*; R unless it is the last substep; R_prev unless it
  /// is the first; phi if it corrects the velocity; p with implicit diffusion, which a GPU that corrects also updates.
  static constexpr int words(Diffusion diffusion, bool first, bool last, bool corrects, bool on_gpu) {
    const int of_pressure = diffusion == Diffusion::explicit_ ? 0 : corrects && on_gpu ? 2 : 1;
    return 6 + (last ? 0 : 3) + (first ? 0 : 3) + (corrects ? 1 : 0) + of_pressure;
  }

  /// Whether predict() can correct by `phi` a velocity in arrays like these.
  bool can_correct(const State& state, const Field& phi, VectorField& tendency, VectorField& star) const;

  /// The same as predict() by three plain loops, one per component: the reference for the fused sweep.
  void predict_plain(const State& state, const SubstepWeights& weights, VectorField& tendency, VectorField& star) const;

 private:
  SweepForm form_of(const SubstepWeights& weights) const;

  Metrics metrics_;
  real viscosity_;
  Diffusion diffusion_;
  Order order_;
};

}  // namespace sluice
