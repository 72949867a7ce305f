#include "src/bench/phase_words.hpp"

#include "poisson/poisson_solver.hpp"
#include "solver/momentum/momentum.hpp"
#include "solver/rk3.hpp"

namespace sluice {

std::map<TimedPhase, double> min_words(const std::string& what, const std::array<std::int64_t, 3>& cells,
                                       const FlowParameters& flow, const ProcessGrid& processes, LineStrategy lines) {
  const bool implicit_z = flow.diffusion == Diffusion::implicit_z;
  const bool updates_pressure = implicit_z && sweep_updates_pressure;
  const double substeps = what == "step" ? Rk3::substeps : 1;
  const auto scalars = static_cast<double>(flow.scalars.size());
  // Reads c, writes R and c*; R_prev is read in two substeps of three.
  const double scalars_in_momentum = Momentum::runs_tasks ? scalars * (substeps * 3 + 2) : 0;
  // The same, and u*, v*, w*, phi.
  const double scalars_alone = Momentum::runs_tasks ? 0 : scalars * (substeps * 7 + 2);
  const bool lines_twice = lines == LineStrategy::condensed || lines == LineStrategy::two_passes;
  const double of_lines = lines_twice ? 3 : 2;
  // A step's forward transform along x reads u*, v*, w*, unless a sweep of its own forms their divergence.
  const bool fused = what == "step" && PoissonSolver::forms_divergence(cells[0], flow.order);
  return {
      {TimedPhase::momentum,  // reads u*, v*, w*, phi, writes R and u*; R_prev is read in two substeps of three, p with
                              // implicit_z; may write p
       substeps * (4 + 6 + (implicit_z ? 1 : 0) + (updates_pressure ? 1 : 0)) + 2 * 3 + scalars_in_momentum},
      {TimedPhase::scalars, scalars_alone + (implicit_z ? scalars * substeps * of_lines : 0)},
      {TimedPhase::implicit_diffusion, implicit_z ? substeps * 3 * of_lines : 0},
      {TimedPhase::divergence, fused ? 0 : substeps * 4},
      {TimedPhase::fft_x, substeps * (fused ? 6 : 4)},
      {TimedPhase::fft_y, cells[1] > 1 ? substeps * 4 : 0},
      {TimedPhase::transpose, processes.py > 1 ? substeps * 2 * 2 : 0},
      {TimedPhase::tridiagonal, substeps * of_lines},
      // The momentum sweep corrects the velocity, as it can on all but odd grids.
      {TimedPhase::correction, implicit_z && !updates_pressure ? substeps * 3 : 0},
  };
}

}  // namespace sluice
