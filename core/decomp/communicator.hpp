#pragma once
#include <mpi.h>

#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/support/box3.hpp"
#include "core/support/owned_comm.hpp"

namespace sluice {

/// The communicators of a process grid: all ranks, the rank's row (same z range, py ranks in order of y) and
/// its column (same y range, pz ranks in order of z). Move-only; construction is collective.
class Communicator {
 public:
  Communicator(MPI_Comm world, ProcessGrid processes);

  MPI_Comm world() const { return world_; }
  MPI_Comm row() const { return row_; }
  MPI_Comm column() const { return column_; }
  const ProcessGrid& processes() const { return processes_; }
  int rank() const { return rank_; }
  int y_index() const { return processes_.y_index(rank_); }
  int z_index() const { return processes_.z_index(rank_); }

  /// box(rank) for each rank of this rank's row or column, in the order of that communicator.
  template <class BoxOfRank>
  std::vector<Box3> row_boxes(const BoxOfRank& box) const {
    std::vector<Box3> boxes;
    for (int y = 0; y < processes_.py; ++y) boxes.push_back(box(processes_.rank(y, z_index())));
    return boxes;
  }
  template <class BoxOfRank>
  std::vector<Box3> column_boxes(const BoxOfRank& box) const {
    std::vector<Box3> boxes;
    for (int z = 0; z < processes_.pz; ++z) boxes.push_back(box(processes_.rank(y_index(), z)));
    return boxes;
  }

 private:
  ProcessGrid processes_;
  int rank_ = 0;
  OwnedComm world_, row_, column_;
};

}  // namespace sluice
