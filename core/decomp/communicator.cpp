#include "core/decomp/communicator.hpp"

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

Communicator::Communicator(MPI_Comm world, ProcessGrid processes) : processes_(processes) {
  SLUICE_REQUIRE(size_of(world) == processes.size(), "the process grid does not match the number of ranks");
  world_ = OwnedComm::duplicate_of(world);
  rank_ = rank_of(world_);
  row_ = OwnedComm::split(world_, z_index(), y_index());
  column_ = OwnedComm::split(world_, y_index(), z_index());
  check_mpi(MPI_Comm_set_name(row_, "rows"), "MPI_Comm_set_name");  // as ExchangeMethods calls them
  check_mpi(MPI_Comm_set_name(column_, "columns"), "MPI_Comm_set_name");
}

}  // namespace sluice
