#pragma once
#include <mpi.h>

#include "core/decomp/decomposition.hpp"

namespace sluice {

/// The communicators of a process grid: all ranks, the rank's row (same z range, py ranks in order of y) and
/// its column (same y range, pz ranks in order of z). Move-only; construction is collective.
class Communicator {
 public:
  Communicator(MPI_Comm world, ProcessGrid processes);
  Communicator(Communicator&& other) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  MPI_Comm world() const { return world_; }
  MPI_Comm row() const { return row_; }
  MPI_Comm column() const { return column_; }
  const ProcessGrid& processes() const { return processes_; }
  int rank() const { return rank_; }
  int y_index() const { return processes_.y_index(rank_); }
  int z_index() const { return processes_.z_index(rank_); }

 private:
  ProcessGrid processes_;
  int rank_ = 0;
  MPI_Comm world_ = MPI_COMM_NULL;
  MPI_Comm row_ = MPI_COMM_NULL;
  MPI_Comm column_ = MPI_COMM_NULL;
};

}  // namespace sluice
