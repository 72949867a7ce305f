#include "core/decomp/exchange/mpi_streams.hpp"

#include "core/decomp/exchange/mpi_pieces.hpp"
#include "core/support/collective.hpp"

namespace sluice {

std::unique_ptr<Connection> MpiStreams::connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                                Traffic /*traffic*/) {
  std::unique_ptr<Connection> connection;
  run_collectively(
      world_, [&] { connection = std::make_unique<PieceConnection>(comm, send, receive, buffers_, std::nullopt); });
  return connection;
}

}  // namespace sluice
