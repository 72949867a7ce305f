#include "core/decomp/exchange/mpi_p2p.hpp"
#include "core/device/memory.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

std::vector<int> to_elements(const std::vector<std::size_t>& bytes) {
  std::vector<int> elements;
  elements.reserve(bytes.size());
  for (const std::size_t size : bytes) elements.push_back(mpi_element_count(size, "mpi_alltoall"));
  return elements;
}

class AlltoallConnection : public MpiConnection {
 public:
  AlltoallConnection(const Route& route, MpiBuffers& buffers)
      : MpiConnection(route, buffers),
        send_counts_(to_elements(send_.bytes)),
        send_offsets_(to_elements(send_.offset)),
        receive_counts_(to_elements(receive_.bytes)),
        receive_offsets_(to_elements(receive_.offset)) {}

  void run(const std::function<void(int)>& arrived) override {
    device::synchronize();  // blocks are packed, and the last received ones have been read
    buffers_->send_image.fetch(0, send_.total);
    check_mpi(MPI_Alltoallv(buffers_->send_image.data(), send_counts_.data(), send_offsets_.data(), mpi_element_type(),
                            buffers_->receive_image.data(), receive_counts_.data(), receive_offsets_.data(),
                            mpi_element_type(), comm_),
              "MPI_Alltoallv");
    buffers_->receive_image.flush(0, receive_.total);
    for (std::size_t peer = 0; peer < receive_.bytes.size(); ++peer) {
      if (receive_.bytes[peer] > 0) arrived(static_cast<int>(peer));
    }
  }

 private:
  std::vector<int> send_counts_, send_offsets_, receive_counts_, receive_offsets_;
};

/// One MPI_Alltoallv. Neighbours use messages: a collective call would make every rank of a long row or column wait for
/// all others, for only two blocks.
class MpiAlltoall : public MpiP2p {
 public:
  using MpiP2p::MpiP2p;

 private:
  std::unique_ptr<Connection> connect(const Route& route) override {
    if (route.traffic == Traffic::neighbours) return MpiP2p::connect(route);
    return std::make_unique<AlltoallConnection>(route, buffers_);
  }
};

}  // namespace

std::unique_ptr<Exchange> make_mpi_alltoall(MPI_Comm world) {
  return std::make_unique<MpiAlltoall>(world);
}

}  // namespace sluice
