#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device/buffer.hpp"
#include "model/parameters.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"
#include "solver/statistics/block_sums.hpp"
#include "solver/statistics/plane_means.hpp"

namespace sluice {

/// The bins of a quantity in one plane.
struct PlaneBins {
  double middle = 0;
  double inverse_width = 0;
};

/// Histograms of u, v, w and p at every z and of the wall shear, joint histograms of u and w at chosen faces and of
/// both components of the wall shear, and the momentum flux uw by quadrants; docs/equations.md, Densities. Sums over
/// the samples of one block, on rank 0. The first sample fixes the bins, which are constants of the blocks.
class Densities : public BlockSums {
 public:
  /// `joint_faces`: faces for joint histograms of u and w, numbered from the bottom wall. `walls` must outlive this
  /// object.
  Densities(const Grid& grid, const Metrics& metrics, const FlowParameters& flow, const Walls& walls, const Box3& box,
            const std::vector<std::int64_t>& joint_faces, MPI_Comm comm);

  /// What is summed.
  static std::vector<ProfileInfo> list(std::size_t heights);
  /// Size of the sums of a block; `heights`: number of faces for joint histograms.
  static double block_bytes(const std::array<std::int64_t, 3>& cells, std::size_t heights);

  /// Adds one sample of the state. Needs valid halos. Collective; the same bits on every process grid, in a CPU build.
  void sample(const State& state, double forcing);

 private:
  struct CountPlaces;

  template <Order order>
  void sample_of(const State& state);
  /// Takes the bins that rank 0 has in its sums. Returns whether it has any. Collective.
  bool take_bins_of_sums();
  /// Places the bins of a quantity about the means of the planes, as wide as the standard deviations are. Collective.
  template <class Value>
  void fix_bins(const Value& value);
  void set_bins(std::size_t quantity, const std::vector<double>& middles, const std::vector<double>& widths);
  template <class Value>
  void count(const Value& value, CountPlaces& places);
  template <class First, class Second>
  void count_jointly(const First& first, const Second& second, CountPlaces& places);
  /// Adds the counts of all ranks to the sums of rank 0. Collective.
  void add_counts();
  void add_quadrants(const PlaneMeans::Profiles& quadrants);

  std::size_t planes_of(std::size_t quantity) const;
  /// Those of the planes that this rank has.
  std::vector<RankPlanes> own_planes_of(std::size_t quantity) const;

  Metrics metrics_;
  real viscosity_;
  Order order_;
  PlaneMeans means_;
  std::vector<std::int64_t> joint_faces_;
  bool has_bins_ = false;
  Buffer<std::int64_t> counts_;  ///< of a sample on all planes, one histogram after the other; zero between samples
  device::HostPointer<std::int64_t> counts_on_host_;
  Buffer<double> u_means_, w_means_;       ///< at the edges where the flux uw is formed, by the local index of a face
  std::array<Buffer<PlaneBins>, 8> bins_;  ///< of each quantity, by the local index of a plane, that of k = -1 first
};

}  // namespace sluice
