#pragma once
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/device/parallel_for.hpp"
#include "model/statistics_block.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

/// Some planes of a rank: cells of its box, where cell k denotes its centre or its upper face, so that -1 is the bottom
/// wall.
struct RankPlanes {
  Box3 box;            ///< local
  std::int64_t first;  ///< number of the first of them on their axis
};

/// Averages over the planes of a grid that is split over ranks.
class PlaneMeans {
 public:
  /// Means of several quantities, each for every plane.
  using Profiles = std::vector<std::vector<double>>;

  /// `box`: the cells of this rank. `walls` must outlive this object.
  PlaneMeans(const std::array<std::int64_t, 3>& cells, const Box3& box, const Walls& walls, MPI_Comm comm)
      : cells_(cells), box_(box), walls_(&walls), comm_(comm) {}

  RankPlanes centers() const { return {box_.local(), box_.lo[2]}; }
  /// The upper faces of the rank's cells and, on ranks at the bottom, that wall.
  RankPlanes faces() const {
    RankPlanes planes{box_.local(), box_.lo[2] + 1};
    if (box_.lo[2] == 0) {
      --planes.box.lo[2];
      --planes.first;
    }
    return planes;
  }
  /// Without those on walls, and without face 0.
  RankPlanes inner_faces() const {
    RankPlanes planes{box_.local(), box_.lo[2] + 1};
    if (walls_->owns(Walls::Side::top)) --planes.box.hi[2];
    return planes;
  }
  /// Those of the faces with these numbers that the rank has. The number of a plane is its place in the list.
  std::vector<RankPlanes> faces(const std::vector<std::int64_t>& numbers) const {
    const auto [box, first] = faces();
    std::vector<RankPlanes> list;
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      Box3 plane = box;
      plane.lo[2] = box.lo[2] + numbers[n] - first;
      plane.hi[2] = plane.lo[2] + 1;
      if (plane.lo[2] >= box.lo[2] && plane.hi[2] <= box.hi[2]) list.push_back({plane, static_cast<std::int64_t>(n)});
    }
    return list;
  }

  /// Values of all planes on an axis for kernels, by the local index: that of plane k is element k + 1. Zero on planes
  /// that are not among `planes`.
  template <class T>
  std::vector<T> by_local_index(const std::vector<T>& values, const std::vector<RankPlanes>& planes) const {
    std::vector<T> local(static_cast<std::size_t>(box_.nz()) + 1);
    for (const auto& [box, first] : planes) {
      std::copy_n(values.begin() + first, box.nz(), local.begin() + box.lo[2] + 1);
    }
    return local;
  }

  /// Issues the means of N quantities over all `count` planes, of which this rank has those in `planes`; zero on planes
  /// that no rank has. kernel: as for reduce_planes. Does not wait on the host.
  template <int N, class Kernel>
  void issue(const char* name, std::int64_t count, const std::vector<RankPlanes>& planes, const Kernel& kernel) {
    ExactSum* sums = add_sums({N, static_cast<std::size_t>(count)});
    for (const auto& [box, first] : planes) reduce_planes<N>(name, box, kernel, sums + first * N);
  }
  /// The means issued since the last call, each for every plane. Collective; the same bits on every process grid.
  Profiles take();

  /// issue() and take().
  template <int N, class Kernel>
  Profiles means(const char* name, std::int64_t count, const std::vector<RankPlanes>& planes, const Kernel& kernel) {
    issue<N>(name, count, planes, kernel);
    return take();
  }

  /// Number of points of a plane.
  double columns() const { return static_cast<double>(cells_[0]) * static_cast<double>(cells_[1]); }
  MPI_Comm comm() const { return comm_; }

 private:
  struct Issued {
    std::size_t quantities, planes;
    std::size_t size() const { return quantities * planes; }
  };

  /// Returns the place of the sums in device memory, which are zero.
  ExactSum* add_sums(const Issued& more);

  std::array<std::int64_t, 3> cells_;
  Box3 box_;
  const Walls* walls_;
  MPI_Comm comm_;
  std::vector<Issued> issued_;
  Buffer<ExactSum> sums_;  ///< zero but for those issued
  Buffer<double> values_;
};

}  // namespace sluice
