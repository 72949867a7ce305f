#include <algorithm>

#include "core/decomp/exchange/array_types.hpp"
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

/// Whether every rank's buffers are small enough for the counts and displacements of MPI_Alltoallv. Collective.
bool fits(const Route& route, std::size_t max_count) {
  int fits = std::max(route.send.total, route.receive.total) / sizeof(real) <= max_count ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, route.comm), "MPI_Allreduce");
  return fits == 1;
}

class AlltoallConnection : public MpiConnection {
 public:
  using MpiConnection::MpiConnection;

  void run(const std::function<void(int)>& arrived) override {
    device::synchronize();  // blocks are packed, and the last received ones have been read
    buffers_->send_image.fetch(0, send_.total);
    exchange(buffers_->send_image.data(), buffers_->receive_image.data());
    buffers_->receive_image.flush(0, receive_.total);
    for (std::size_t peer = 0; peer < receive_.bytes.size(); ++peer) {
      if (receive_.bytes[peer] > 0) arrived(static_cast<int>(peer));
    }
  }

 private:
  virtual void exchange(const std::byte* send, std::byte* receive) = 0;
};

class ByAlltoallv : public AlltoallConnection {
 public:
  ByAlltoallv(const Route& route, MpiBuffers& buffers)
      : AlltoallConnection(route, buffers),
        send_counts_(to_elements(send_.bytes)),
        send_offsets_(to_elements(send_.offset)),
        receive_counts_(to_elements(receive_.bytes)),
        receive_offsets_(to_elements(receive_.offset)) {}

 private:
  void exchange(const std::byte* send, std::byte* receive) override {
    check_mpi(MPI_Alltoallv(send, send_counts_.data(), send_offsets_.data(), mpi_element_type(), receive,
                            receive_counts_.data(), receive_offsets_.data(), mpi_element_type(), comm_),
              "MPI_Alltoallv");
  }

  std::vector<int> send_counts_, send_offsets_, receive_counts_, receive_offsets_;
};

/// For buffers that are too large: MPI_Alltoallw with a datatype for each block, which contains the block's offset.
class ByBlockTypes : public AlltoallConnection {
 public:
  ByBlockTypes(const Route& route, MpiBuffers& buffers)
      : AlltoallConnection(route, buffers),
        types_(buffers.max_count),
        none_(send_.bytes.size()),
        sent_(describe(send_)),
        received_(describe(receive_)) {}

 private:
  struct Blocks {
    std::vector<int> counts;
    std::vector<MPI_Datatype> types;
  };

  Blocks describe(const BlockLayout& layout) {
    Blocks blocks{none_, std::vector<MPI_Datatype>(none_.size(), mpi_element_type())};
    for (std::size_t peer = 0; peer < none_.size(); ++peer) {
      if (layout.bytes[peer] == 0) continue;
      const ArrayPart block{nullptr, sizeof(real), layout.bytes[peer], 1, 1, 0, 0};
      blocks.counts[peer] = 1;
      blocks.types[peer] = types_.of(block, static_cast<std::ptrdiff_t>(layout.offset[peer]));
    }
    return blocks;
  }

  void exchange(const std::byte* send, std::byte* receive) override {
    check_mpi(MPI_Alltoallw(send, sent_.counts.data(), none_.data(), sent_.types.data(), receive,
                            received_.counts.data(), none_.data(), received_.types.data(), comm_),
              "MPI_Alltoallw");
  }

  ArrayTypes types_;
  std::vector<int> none_;  ///< displacements
  Blocks sent_, received_;
};

/// One MPI_Alltoallv. Neighbours use messages: a collective call would make every rank of a long row or column wait for
/// all others, for only two blocks.
class MpiAlltoall : public MpiP2p {
 public:
  using MpiP2p::MpiP2p;

 private:
  std::unique_ptr<Connection> connect(const Route& route) override {
    if (route.traffic == Traffic::neighbours) return MpiP2p::connect(route);
    if (fits(route, buffers_.max_count)) return std::make_unique<ByAlltoallv>(route, buffers_);
    return std::make_unique<ByBlockTypes>(route, buffers_);
  }
};

}  // namespace

std::unique_ptr<Exchange> make_mpi_alltoall(MPI_Comm world) {
  return std::make_unique<MpiAlltoall>(world);
}

}  // namespace sluice
