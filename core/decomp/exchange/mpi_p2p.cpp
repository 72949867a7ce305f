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
      const int source = (rank + size - step) % size;
      const int target = (rank + step) % size;
      if (receive_.bytes[static_cast<std::size_t>(source)] > 0) sources_.push_back(source);
      if (send_.bytes[static_cast<std::size_t>(target)] > 0) targets_.push_back(target);
    }
    receives_.resize(sources_.size());
    sends_.resize(targets_.size());
  }

  void depart() override {
    device::synchronize();  // blocks are packed, and the last received ones have been read
    for (std::size_t n = 0; n < sources_.size(); ++n) {
      const auto peer = static_cast<std::size_t>(sources_[n]);
      check_mpi(MPI_Irecv(buffers_->receive_image.data() + receive_.offset[peer],
                          mpi_element_count(receive_.bytes[peer], "one MPI message"), mpi_element_type(), sources_[n],
                          buffers_->tag, comm_, &receives_[n]),
                "MPI_Irecv");
    }
    for (std::size_t n = 0; n < targets_.size(); ++n) {
      const auto peer = static_cast<std::size_t>(targets_[n]);
      buffers_->send_image.fetch(send_.offset[peer], send_.bytes[peer]);
      check_mpi(MPI_Isend(buffers_->send_image.data() + send_.offset[peer],
                          mpi_element_count(send_.bytes[peer], "one MPI message"), mpi_element_type(), targets_[n],
                          buffers_->tag, comm_, &sends_[n]),
                "MPI_Isend");
    }
  }

  void run(const std::function<void(int)>& arrived) override {
    for (std::size_t n = 0; n < sources_.size(); ++n) {
      int which = MPI_UNDEFINED;
      check_mpi(MPI_Waitany(static_cast<int>(receives_.size()), receives_.data(), &which, MPI_STATUS_IGNORE),
                "MPI_Waitany");
      const int source = sources_[static_cast<std::size_t>(which)];
      const auto peer = static_cast<std::size_t>(source);
      buffers_->receive_image.flush(receive_.offset[peer], receive_.bytes[peer]);
      arrived(source);
    }
    check_mpi(MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

 private:
  std::vector<int> sources_, targets_;
  std::vector<MPI_Request> receives_, sends_;
};

}  // namespace

std::unique_ptr<Connection> MpiP2p::connect(const Route& route) {
  return std::make_unique<P2pConnection>(route, buffers_);
}

std::unique_ptr<Exchange> make_mpi_p2p(MPI_Comm world) {
  return std::make_unique<MpiP2p>(world);
}

}  // namespace sluice
