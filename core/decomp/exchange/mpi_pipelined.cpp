#include <algorithm>

#include "core/decomp/exchange/mpi_pieces.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

/// Bytes of the largest block that any rank of `comm` sends.
std::size_t largest_block(MPI_Comm comm, const BlockLayout& send) {
  unsigned long long largest = 0;
  for (const std::size_t bytes : send.bytes) largest = std::max<unsigned long long>(largest, bytes);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm), "MPI_Allreduce");
  return largest;
}

/// Sends blocks in pieces, so that the stages of one block overlap too. PieceConnection (mpi_pieces.cpp) does this; its
/// ChunkTuner chooses the piece size during the run.
/// Neighbours exchange whole blocks, since these are small.
class MpiPipelined : public MpiExchange {
 public:
  using MpiExchange::MpiExchange;

 private:
  std::unique_ptr<Connection> connect(const Route& route) override {
    std::optional<ChunkTuner> tuner;
    if (route.traffic == Traffic::all_to_all) tuner.emplace(largest_block(route.comm, route.send));
    return std::make_unique<PieceConnection>(route, buffers_, std::move(tuner));
  }
};

}  // namespace

std::unique_ptr<Exchange> make_mpi_pipelined(MPI_Comm world) {
  return std::make_unique<MpiPipelined>(world);
}

}  // namespace sluice
