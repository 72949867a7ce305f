#include "core/decomp/exchange/mpi_p2p.hpp"

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

class P2pConnection : public MpiConnection {
 public:
  P2pConnection(const Route& route, MpiBuffers& buffers) : MpiConnection(route, buffers) {
    const int size = size_of(comm_);
    const int rank = rank_of(comm_);
    for (int step = 1; step < size; ++step) {
      cut(receive_, (rank + size - step) % size, max_message_bytes(), incoming_);
      cut(send_, (rank + step) % size, max_message_bytes(), outgoing_);
    }
    receives_.resize(incoming_.size());
    sends_.resize(outgoing_.size());
    missing_.resize(receive_.bytes.size());
  }

  void depart() override {
    device::synchronize();  // blocks are packed, and the last received ones have been read
    for (std::size_t n = 0; n < incoming_.size(); ++n) {
      ++missing_[static_cast<std::size_t>(incoming_[n].peer)];
      receive(incoming_[n], receives_[n]);
    }
    for (std::size_t n = 0; n < outgoing_.size(); ++n) {
      buffers_->send_image.fetch(outgoing_[n].offset, outgoing_[n].bytes);
      send(outgoing_[n], sends_[n]);
    }
  }

  void run(const std::function<void(int)>& arrived) override {
    for (std::size_t n = 0; n < incoming_.size(); ++n) {
      int which = MPI_UNDEFINED;
      check_mpi(MPI_Waitany(static_cast<int>(receives_.size()), receives_.data(), &which, MPI_STATUS_IGNORE),
                "MPI_Waitany");
      const Piece& piece = incoming_[static_cast<std::size_t>(which)];
      buffers_->receive_image.flush(piece.offset, piece.bytes);
      if (--missing_[static_cast<std::size_t>(piece.peer)] == 0) arrived(piece.peer);
    }
    check_mpi(MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

 private:
  std::vector<Piece> incoming_, outgoing_;  ///< whole blocks, unless they are too large for a message
  std::vector<MPI_Request> receives_, sends_;
  std::vector<std::size_t> missing_;  ///< pieces of each peer that have not arrived
};

}  // namespace

std::unique_ptr<Connection> MpiP2p::connect(const Route& route) {
  return std::make_unique<P2pConnection>(route, buffers_);
}

std::unique_ptr<Exchange> make_mpi_p2p(MPI_Comm world) {
  return std::make_unique<MpiP2p>(world);
}

}  // namespace sluice
