#include "core/decomp/exchange/mpi_pipelined.hpp"

#include <algorithm>

#include "core/decomp/exchange/mpi_pieces.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

/// That any rank of `comm` sends.
std::size_t largest_block(MPI_Comm comm, const BlockLayout& send) {
  unsigned long long largest = 0;
  for (const std::size_t bytes : send.bytes) largest = std::max<unsigned long long>(largest, bytes);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm), "MPI_Allreduce");
  return largest;
}

}  // namespace

std::unique_ptr<Connection> MpiPipelined::connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                                  Traffic traffic) {
  std::optional<ChunkTuner> tuner;
  if (traffic == Traffic::all_to_all) tuner.emplace(largest_block(comm, send));
  std::unique_ptr<Connection> connection;
  run_collectively(
      world_, [&] { connection = std::make_unique<PieceConnection>(comm, send, receive, buffers_, std::move(tuner)); });
  return connection;
}

}  // namespace sluice
