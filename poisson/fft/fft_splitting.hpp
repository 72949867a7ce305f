#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/support/box3.hpp"

namespace sluice {

/// The part of the array that each rank owns between the steps of a distributed transform. Pure arithmetic; parts may
/// be empty. Rows have x whole, columns y, lines z; all but `values` are boxes of coefficients.
class FftSplitting {
 public:
  FftSplitting(std::array<std::int64_t, 3> cells, ProcessGrid processes)
      : cells_(cells), processes_(processes), modes_{cells[0] / 2 + 1, cells[1], cells[2]} {}

  const std::array<std::int64_t, 3>& cells() const { return cells_; }
  const ProcessGrid& processes() const { return processes_; }

  /// In space: y split over py, z over pz.
  Box3 values(int rank) const { return split(split(whole(cells_), 1, y(rank)), 2, z(rank)); }
  /// The same, in coefficients along x.
  Box3 rows(int rank) const { return split(split(whole(modes_), 1, y(rank)), 2, z(rank)); }
  /// kx split over py, z over pz.
  Box3 columns(int rank) const { return split(split(whole(modes_), 0, y(rank)), 2, z(rank)); }
  /// kx split over py, ky over pz.
  Box3 lines(int rank) const { return split(split(whole(modes_), 0, y(rank)), 1, z(rank)); }
  /// Both y and z whole: kx split over pz.
  Box3 sheets(int rank) const { return split(whole(modes_), 0, z(rank)); }

 private:
  struct Part {
    int index, parts;
  };

  Part y(int rank) const { return {processes_.y_index(rank), processes_.py}; }
  Part z(int rank) const { return {processes_.z_index(rank), processes_.pz}; }
  static Box3 whole(const std::array<std::int64_t, 3>& extents) { return box_of(extents[0], extents[1], extents[2]); }
  static Box3 split(Box3 box, std::size_t axis, Part part) {
    const std::vector<std::int64_t> bounds = split_evenly(box.hi[axis], part.parts);
    box.lo[axis] = bounds[static_cast<std::size_t>(part.index)];
    box.hi[axis] = bounds[static_cast<std::size_t>(part.index) + 1];
    return box;
  }

  std::array<std::int64_t, 3> cells_;
  ProcessGrid processes_;
  std::array<std::int64_t, 3> modes_;
};

}  // namespace sluice
