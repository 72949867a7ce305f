#pragma once
#include <array>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/flow/parameters.hpp"
#include "poisson/poisson_solver.hpp"
#include "solver/state/state.hpp"
#include "solver/statistics/block_sums.hpp"

namespace sluice {

/// One-dimensional spectra along x and y at every z, averaged over the other direction: of u, v, w and p on their own
/// points, and the cospectrum of the scheme's flux uw; docs/equations.md, Spectra. Sums over the samples of one block,
/// on rank 0.
class Spectra : public BlockSums {
 public:
  /// `comm` and `decomposition` must outlive this object.
  Spectra(const FlowParameters& flow, const Communicator& comm, const Decomposition& decomposition);

  /// Size of the sums of a block.
  static double block_bytes(const std::array<std::int64_t, 3>& cells);

  /// What TimeStepper::sample() lends.
  struct Workspace {
    PoissonSolver& poisson;
    Field& work;     ///< like those of PoissonSolver::make_field; is overwritten
    const Field& p;  ///< the pressure, without valid halos
  };

  /// Adds one sample of the state; its p is that of the workspace. Needs valid halos. Collective; the same bits on
  /// every process grid, in a CPU build.
  void sample(const State& state, double forcing, const Workspace& workspace);

 private:
  /// A rank's part of the spectra of one sample, in the order of profiles(): each as (planes, modes), along x for the
  /// rank's wavenumbers, along y on the first rank of each row of ranks.
  using Parts = std::vector<std::vector<double>>;
  struct Arrays;

  Parts spectra_of(const State& state, const Workspace& workspace);
  /// Appends the spectra along x and y of the values in the work array, which is overwritten. Collective.
  void append_spectra(const Workspace& workspace, Arrays& arrays, Parts& parts);
  /// The planes and modes of profile n that a rank has in its Parts.
  Box3 box_of_part(std::size_t n, int rank) const;
  /// Adds the parts of all ranks to the sums of rank 0. Collective.
  void add_parts(const Parts& parts);

  Order order_;
  const Communicator* comm_;
  const Decomposition* decomposition_;
  PhaseTimers timers_;
};

}  // namespace sluice
