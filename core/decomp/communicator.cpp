#include "core/decomp/communicator.hpp"

#include <utility>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

Communicator::Communicator(MPI_Comm world, ProcessGrid processes) : processes_(processes) {
  int size = 0;
  MPI_Comm_size(world, &size);
  SLUICE_REQUIRE(size == processes.size(), "the process grid does not match the number of ranks");
  check_mpi(MPI_Comm_dup(world, &world_), "MPI_Comm_dup");
  MPI_Comm_rank(world_, &rank_);
  check_mpi(MPI_Comm_split(world_, z_index(), y_index(), &row_), "MPI_Comm_split");
  check_mpi(MPI_Comm_split(world_, y_index(), z_index(), &column_), "MPI_Comm_split");
}

Communicator::Communicator(Communicator&& other) noexcept
    : processes_(other.processes_),
      rank_(other.rank_),
      world_(std::exchange(other.world_, MPI_COMM_NULL)),
      row_(std::exchange(other.row_, MPI_COMM_NULL)),
      column_(std::exchange(other.column_, MPI_COMM_NULL)) {}

Communicator::~Communicator() {
  for (MPI_Comm* comm : {&column_, &row_, &world_}) {
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
  }
}

}  // namespace sluice
