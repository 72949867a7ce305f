#include "core/decomp/exchange/mpi_datatype.hpp"

#include "core/decomp/exchange/array_image.hpp"
#include "core/decomp/exchange/array_types.hpp"
#include "core/decomp/exchange/mpi_p2p.hpp"
#include "core/device/memory.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

constexpr int tag = 13;

/// What both ways of sending share: the parts where MPI can reach them, and their datatypes.
class DatatypeConnection : public ArrayConnection {
 public:
  DatatypeConnection(MPI_Comm comm, ArrayImage& source, ArrayImage& target)
      : comm_(comm), size_(size_of(comm)), rank_(rank_of(comm)), source_(source), target_(target) {}

  void run(const std::vector<ArrayPart>& outgoing, const std::vector<ArrayPart>& incoming) override {
    device::synchronize();  // the source is computed, and nobody reads what the target held
    source_.assume(outgoing);
    target_.assume(incoming);
    source_.fetch();
    move(outgoing, incoming);
  }

 protected:
  virtual void move(const std::vector<ArrayPart>& outgoing, const std::vector<ArrayPart>& incoming) = 0;
  bool travels(const std::vector<ArrayPart>& parts, int peer) const {
    return peer != rank_ && !at(parts, peer).empty();
  }
  static const ArrayPart& at(const std::vector<ArrayPart>& parts, int peer) {
    return parts[static_cast<std::size_t>(peer)];
  }

  MPI_Comm comm_;
  int size_, rank_;
  ArrayImage& source_;
  ArrayImage& target_;
  ArrayTypes types_;
};

class ByPointToPoint : public DatatypeConnection {
 public:
  ByPointToPoint(MPI_Comm comm, ArrayImage& source, ArrayImage& target) : DatatypeConnection(comm, source, target) {
    sends_.resize(static_cast<std::size_t>(size_), MPI_REQUEST_NULL);
    receives_ = sends_;
  }

 private:
  void move(const std::vector<ArrayPart>& outgoing, const std::vector<ArrayPart>& incoming) override {
    for (int step = 1; step < size_; ++step) {
      const int source = (rank_ + size_ - step) % size_;
      if (!travels(incoming, source)) continue;
      const ArrayPart& part = at(incoming, source);
      check_mpi(MPI_Irecv(target_.base() + target_.offset(part), 1, types_.of(part, 0), source, tag, comm_,
                          &receives_[static_cast<std::size_t>(source)]),
                "MPI_Irecv");
    }
    for (int step = 1; step < size_; ++step) {
      const int target = (rank_ + step) % size_;
      if (!travels(outgoing, target)) continue;
      const ArrayPart& part = at(outgoing, target);
      check_mpi(MPI_Isend(source_.base() + source_.offset(part), 1, types_.of(part, 0), target, tag, comm_,
                          &sends_[static_cast<std::size_t>(target)]),
                "MPI_Isend");
    }
    while (true) {
      int source = MPI_UNDEFINED;
      check_mpi(MPI_Waitany(size_, receives_.data(), &source, MPI_STATUS_IGNORE), "MPI_Waitany");
      if (source == MPI_UNDEFINED) break;
      target_.flush(at(incoming, source));
    }
    check_mpi(MPI_Waitall(size_, sends_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

  std::vector<MPI_Request> sends_, receives_;  ///< by peer
};

class ByAlltoallw : public DatatypeConnection {
 public:
  ByAlltoallw(MPI_Comm comm, ArrayImage& source, ArrayImage& target)
      : DatatypeConnection(comm, source, target), no_displacements_(static_cast<std::size_t>(size_)) {}

 private:
  struct Blocks {
    std::vector<int> counts;
    std::vector<MPI_Datatype> types;
  };

  void move(const std::vector<ArrayPart>& outgoing, const std::vector<ArrayPart>& incoming) override {
    describe(outgoing, source_, sent_);
    describe(incoming, target_, received_);
    check_mpi(
        MPI_Alltoallw(source_.base(), sent_.counts.data(), no_displacements_.data(), sent_.types.data(), target_.base(),
                      received_.counts.data(), no_displacements_.data(), received_.types.data(), comm_),
        "MPI_Alltoallw");
    for (int peer = 0; peer < size_; ++peer) {
      if (travels(incoming, peer)) target_.flush(at(incoming, peer));
    }
  }

  /// Where a part starts is said in its type: displacements of MPI 3 are ints and end at 2 GiB.
  void describe(const std::vector<ArrayPart>& parts, const ArrayImage& image, Blocks& blocks) {
    blocks.counts.assign(static_cast<std::size_t>(size_), 0);
    blocks.types.assign(static_cast<std::size_t>(size_), mpi_element_type());
    for (int peer = 0; peer < size_; ++peer) {
      if (!travels(parts, peer)) continue;
      blocks.counts[static_cast<std::size_t>(peer)] = 1;
      blocks.types[static_cast<std::size_t>(peer)] = types_.of(at(parts, peer), image.offset(at(parts, peer)));
    }
  }

  std::vector<int> no_displacements_;
  Blocks sent_, received_;
};

}  // namespace

std::unique_ptr<Connection> MpiDatatype::connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                                 Traffic /*traffic*/) {
  return connect_p2p(world_, comm, send, receive, buffers_);
}

std::unique_ptr<ArrayConnection> MpiDatatype::connect_arrays(MPI_Comm comm) {
  return std::make_unique<ByPointToPoint>(comm, source_, target_);
}

std::unique_ptr<ArrayConnection> MpiAlltoallw::connect_arrays(MPI_Comm comm) {
  return std::make_unique<ByAlltoallw>(comm, source_, target_);
}

}  // namespace sluice
