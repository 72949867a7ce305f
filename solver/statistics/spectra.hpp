#pragma once
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "model/parameters.hpp"
#include "poisson/poisson_solver.hpp"
#include "solver/state/state.hpp"
#include "solver/statistics/block_sums.hpp"
#include "solver/statistics/chosen_planes.hpp"

namespace sluice {

struct PowerSums;  // poisson/fft/power_sums.hpp
namespace spectra {
struct Transformed;  // solver/statistics/spectra_rows.hpp
}

/// One-dimensional spectra along x and y at every z, averaged over the other direction, and spectra in both directions
/// on chosen planes: of u, v, w, p and scalars on their own points, and the cospectra of the scheme's fluxes uw and wc;
/// docs/equations.md, Spectra. Sums over the samples of one block, on rank 0.
class Spectra : public BlockSums {
 public:
  /// `comm` and `decomposition` must outlive this object. Throws Error(resources) if the planes are too many for MPI to
  /// count their modes.
  Spectra(const FlowParameters& flow, const Communicator& comm, const Decomposition& decomposition,
          ChosenPlanes planes = {});
  Spectra(const Spectra&) = delete;
  Spectra& operator=(const Spectra&) = delete;
  ~Spectra();

  /// What is summed.
  static std::vector<ProfileInfo> list(std::size_t heights, const FlowParameters& flow);
  /// Size of the sums of a block; `heights`: number of chosen heights.
  static double block_bytes(const std::array<std::int64_t, 3>& cells, std::size_t heights, const FlowParameters& flow);

  /// What TimeStepper::sample() lends.
  struct Workspace {
    PoissonSolver& poisson;
    Field& work;     ///< like those of PoissonSolver::make_field; is overwritten
    const Field* p;  ///< the pressure, whose halos are not read; null: `work` holds it
  };

  /// Adds one sample of the state; its p is that of the workspace. Needs valid halos. Collective; the same bits on
  /// every process grid, in a CPU build.
  void sample(const State& state, double forcing, const Workspace& workspace);

 private:
  using Parts = std::vector<std::vector<double>>;
  struct Arrays;

  /// What compute() has issued: quantities, in their order in time, and spectra in both directions by quantity.
  struct Issued {
    std::vector<std::size_t> order;
    Parts in_both_directions;
  };
  /// Issues all spectra of a sample for this rank's part: for the rank's wavenumbers kx, as (planes, modes). Those in
  /// one direction come to the host memory of `arrays_`. Collective.
  Issued compute(const State& state, const Workspace& workspace);
  /// The spectra of these values, by way of the work array. `at_faces`: whether they are on the faces above the cells.
  /// Returns those in both directions. Collective.
  std::vector<double> transform(const Workspace& workspace, std::size_t quantity,
                                const spectra::Transformed& transformed, bool at_faces = false);
  /// Their coefficients along x, with y whole, in the work array. Collective.
  PoissonSolver::Coefficients transform_x(const Workspace& workspace, const spectra::Transformed& transformed);
  /// Adds the values, in device memory, over the row of ranks, always in the same order. Collective.
  void add_over_row(double* values, std::size_t count) const;
  /// The sums of a quantity from coefficients that are stored, after transform_x(). Collective.
  void sum_stored(const Workspace& workspace, const PoissonSolver::Coefficients& along_x, const PowerSums& sums);
  /// The cospectrum Re(a conj b) of a and b at the faces above the cells, from the spectra of their sum and of their
  /// difference, which needs no second array. Returns those in both directions. Collective.
  std::vector<double> cospectrum(const Workspace& workspace, std::size_t quantity, spectra::Transformed sum);
  /// The modes along x and y and the planes of a spectrum that a rank has, numbered as in the sums.
  Box3 box_of_part(const ProfileInfo& spectrum, int rank) const;
  /// The chosen planes that this rank has, by their local number.
  std::vector<int> own_planes(bool at_faces) const;
  /// Adds the parts of all ranks of some profiles, by their numbers, to the sums of rank 0. `mine` begins with this
  /// rank's parts; those along y count on the first rank of each row of ranks. Collective.
  void add_parts(std::span<const double> mine, const std::vector<std::size_t>& numbers);
  /// Adds the values of a rank's part, of this box. Returns their end.
  const double* add_part(const ProfileInfo& spectrum, const Box3& box, const double* values,
                         std::vector<double>& sums) const;

  Order order_;
  std::size_t quantities_;  ///< number of those that are transformed
  bool periodic_z_;
  const Communicator* comm_;
  const Decomposition* decomposition_;
  ChosenPlanes planes_;
  std::unique_ptr<Arrays> arrays_;  ///< from the first sample on
  PhaseTimers timers_;
};

}  // namespace sluice
