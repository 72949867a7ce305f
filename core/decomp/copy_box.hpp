#pragma once
// The loop that packs, unpacks and copies blocks. For files with loops over cells.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/decomp/view3.hpp"
#include "core/device/parallel_for.hpp"
#include "core/support/box3.hpp"

namespace sluice {

/// Copies a box of `source`, whose first element is (x, y, z), into a box of `target`.
template <class T>
struct CopyBox {
  View3<const T> source;
  View3<T> target;
  int source_x, source_y, source_z;
  int target_x, target_y, target_z;

  SLUICE_INLINE void operator()(int i, int j, int k) const {
    target(target_x + i, target_y + j, target_z + k) = source(source_x + i, source_y + j, source_z + k);
  }
};

/// From a box of local indices of `source` into one of `target`.
template <class T>
CopyBox<T> box_copy(View3<const T> source, const Box3& in_source, View3<T> target, const Box3& in_target) {
  return {source,
          target,
          static_cast<int>(in_source.lo[0]),
          static_cast<int>(in_source.lo[1]),
          static_cast<int>(in_source.lo[2]),
          static_cast<int>(in_target.lo[0]),
          static_cast<int>(in_target.lo[1]),
          static_cast<int>(in_target.lo[2])};
}

/// Copies a box of local indices of `source` into one of `target`, both as large as `extent`, whose lower corner is
/// (0, 0, 0).
template <class T>
void copy_box(const char* name, const Box3& extent, View3<const T> source, const Box3& in_source, View3<T> target,
              const Box3& in_target) {
  parallel_for(name, extent, box_copy(source, in_source, target, in_target));
}

/// Copies several boxes, their planes in turn.
template <class T>
struct CopyBoxes {
  static constexpr int most = 4;  ///< in one loop

  struct Job {
    CopyBox<T> copy;
    int nx, ny, nz;
  };
  Job jobs[most];
  int count;

  SLUICE_INLINE void operator()(int i, int j, int k) const {
    const Job& job = jobs[k % count];
    const int plane = k / count;
    if (i < job.nx && j < job.ny && plane < job.nz) job.copy(i, j, plane);
  }
};

/// Copies to be made by few loops, so that boxes in the memory of different devices do not wait for each other.
template <class T>
class BoxCopies {
 public:
  /// Remembers a copy as by copy_box().
  void add(const Box3& extent, View3<const T> source, const Box3& in_source, View3<T> target, const Box3& in_target) {
    if (extent.empty()) return;
    jobs_.push_back({box_copy(source, in_source, target, in_target), extent.nx(), extent.ny(), extent.nz()});
  }

  void issue(const char* name) const {
    int depth = 1;
    for (const Job& job : jobs_) depth = std::max(depth, job.nz);
    const auto together = static_cast<std::size_t>(std::clamp(most_planes / depth, 1, CopyBoxes<T>::most));
    for (std::size_t first = 0; first < jobs_.size(); first += together) {
      CopyBoxes<T> loop;
      Box3 extent;
      loop.count = static_cast<int>(std::min(together, jobs_.size() - first));
      for (int n = 0; n < loop.count; ++n) {
        const Job& job = loop.jobs[n] = jobs_[first + static_cast<std::size_t>(n)];
        extent.hi[0] = std::max<std::int64_t>(extent.hi[0], job.nx);
        extent.hi[1] = std::max<std::int64_t>(extent.hi[1], job.ny);
        extent.hi[2] = std::max<std::int64_t>(extent.hi[2], std::int64_t{job.nz} * loop.count);
      }
      parallel_for(name, extent, loop);
    }
  }

 private:
  using Job = typename CopyBoxes<T>::Job;
  static constexpr int most_planes = 65535;  ///< that a GPU has in one loop

  std::vector<Job> jobs_;
};

}  // namespace sluice
