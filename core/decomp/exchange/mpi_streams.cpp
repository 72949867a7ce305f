#include "core/decomp/exchange/mpi_pieces.hpp"

namespace sluice {

namespace {

/// Each block is sent as soon as its own loops have packed it, while others are still being packed.
class MpiStreams : public MpiExchange {
 public:
  using MpiExchange::MpiExchange;

 private:
  std::unique_ptr<Connection> connect(const Route& route) override {
    return std::make_unique<PieceConnection>(route, buffers_, nullptr);
  }
};

}  // namespace

std::unique_ptr<Exchange> make_mpi_streams(MPI_Comm world) {
  return std::make_unique<MpiStreams>(world);
}

}  // namespace sluice
