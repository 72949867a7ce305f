// MPI reads and writes arrays in place by derived datatypes, and packs as it chooses.
#include "core/decomp/exchange/array_types.hpp"
#include "core/decomp/exchange/mpi_p2p.hpp"
#include "core/decomp/host_access.hpp"
#include "core/device/memory.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

/// Parts of one array where MPI can reach them: in the array itself, or in page-locked host memory with the same
/// strides. The host memory grows to the size of the largest array used.
class ArrayImage {
 public:
  ArrayImage() = default;
  ArrayImage(const ArrayImage&) = delete;
  ArrayImage& operator=(const ArrayImage&) = delete;
  ~ArrayImage();

  /// Represents these parts from now on.
  void assume(const Parts& parts);
  std::byte* base() const { return host_ != nullptr ? host_ : lowest_; }
  /// Bytes from base() to the start of a part.
  std::ptrdiff_t offset(const ArrayPart& part) const { return part.data - lowest_; }
  void fetch();                       ///< device to image, everything from the first part to the last
  void flush(const ArrayPart& part);  ///< image to device, this part alone

 private:
  std::byte* lowest_ = nullptr;  ///< lowest device address of the parts
  std::size_t span_ = 0;         ///< bytes from there to the end of the last part
  std::byte* host_ = nullptr;
  std::size_t room_ = 0;
};

ArrayImage::~ArrayImage() {
  if (host_ != nullptr) device::release_host(host_);
}

void ArrayImage::assume(const Parts& parts) {
  const AddressRange range = range_of(parts);
  lowest_ = range.begin;
  span_ = static_cast<std::size_t>(range.end - range.begin);
  if (mpi_takes_device_pointers() || span_ <= room_) return;
  if (host_ != nullptr) device::release_host(host_);
  host_ = nullptr;
  room_ = 0;
  host_ = static_cast<std::byte*>(device::allocate_host(span_));
  room_ = span_;
}

void ArrayImage::fetch() {
  if (host_ != nullptr) device::copy(host_, lowest_, span_);
}

void ArrayImage::flush(const ArrayPart& part) {
  if (host_ == nullptr) return;
  device::copy_rows(part.data, host_ + offset(part), part.row_bytes, part.rows, part.row_stride, part.planes,
                    part.plane_stride);
}

/// Common to both methods: the parts where MPI can reach them, and their datatypes.
class DatatypeMover : public Mover {
 public:
  DatatypeMover(Exchange& exchange, const Route& route, const MpiBuffers& buffers, ArrayImage& source,
                ArrayImage& target)
      : exchange_(exchange),
        route_(route),
        comm_(route.comm),
        size_(size_of(comm_)),
        rank_(rank_of(comm_)),
        tag_(buffers.tag),
        source_(source),
        target_(target),
        types_(buffers.max_count) {}

  void start(const Parts& outgoing, const Parts& incoming) override {
    exchange_.claim();
    ArrayPart own_from, own_to;
    const Parts out = without_own(outgoing, own_from);
    const Parts in = without_own(incoming, own_to);
    {
      const RouteTiming timing(route_, TimedPhase::packing);
      PartCopies own;
      own.add(own_from, own_to);
      own.issue("exchange: own part");
    }
    const RouteTiming timing(route_, TimedPhase::communication);
    device::synchronize();  // the source is computed, and the target's old values have been read
    source_.assume(out);
    target_.assume(in);
    source_.fetch();
    send(out, in);
  }
  void finish() override { exchange_.release(); }

 protected:
  virtual void send(const Parts& outgoing, const Parts& incoming) = 0;
  bool is_sent(const Parts& parts, int peer) const { return peer != rank_ && !at(parts, peer).empty(); }
  static const ArrayPart& at(const Parts& parts, int peer) { return parts[static_cast<std::size_t>(peer)].part; }

  Exchange& exchange_;
  Route route_;
  MPI_Comm comm_;
  int size_, rank_, tag_;
  ArrayImage& source_;
  ArrayImage& target_;
  ArrayTypes types_;

 private:
  /// The parts in the order of peers, without the rank's own.
  Parts without_own(const Parts& parts, ArrayPart& own) const {
    Parts others(static_cast<std::size_t>(size_));
    for (const auto& [peer, part] : parts) (peer == rank_ ? own : others[static_cast<std::size_t>(peer)].part) = part;
    return others;
  }
};

class ByPointToPoint : public DatatypeMover {
 public:
  using DatatypeMover::DatatypeMover;

 private:
  void send(const Parts& outgoing, const Parts& incoming) override {
    sends_.assign(static_cast<std::size_t>(size_), MPI_REQUEST_NULL);
    receives_ = sends_;
    for (int step = 1; step < size_; ++step) {
      const int source = (rank_ + size_ - step) % size_;
      if (!is_sent(incoming, source)) continue;
      const ArrayPart& part = at(incoming, source);
      check_mpi(MPI_Irecv(target_.base() + target_.offset(part), 1, types_.of(part, 0), source, tag_, comm_,
                          &receives_[static_cast<std::size_t>(source)]),
                "MPI_Irecv");
    }
    for (int step = 1; step < size_; ++step) {
      const int target = (rank_ + step) % size_;
      if (!is_sent(outgoing, target)) continue;
      const ArrayPart& part = at(outgoing, target);
      check_mpi(MPI_Isend(source_.base() + source_.offset(part), 1, types_.of(part, 0), target, tag_, comm_,
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

class ByAlltoallw : public DatatypeMover {
 public:
  using DatatypeMover::DatatypeMover;

 private:
  struct Blocks {
    std::vector<int> counts;
    std::vector<MPI_Datatype> types;
  };

  void send(const Parts& outgoing, const Parts& incoming) override {
    const std::vector<int> no_displacements(static_cast<std::size_t>(size_));
    describe(outgoing, source_, sent_);
    describe(incoming, target_, received_);
    check_mpi(
        MPI_Alltoallw(source_.base(), sent_.counts.data(), no_displacements.data(), sent_.types.data(), target_.base(),
                      received_.counts.data(), no_displacements.data(), received_.types.data(), comm_),
        "MPI_Alltoallw");
    for (int peer = 0; peer < size_; ++peer) {
      if (is_sent(incoming, peer)) target_.flush(at(incoming, peer));
    }
  }

  /// The datatype contains the part's start: displacements in MPI 3 are ints and limited to 2 GiB.
  void describe(const Parts& parts, const ArrayImage& image, Blocks& blocks) {
    blocks.counts.assign(static_cast<std::size_t>(size_), 0);
    blocks.types.assign(static_cast<std::size_t>(size_), mpi_element_type());
    for (int peer = 0; peer < size_; ++peer) {
      if (!is_sent(parts, peer)) continue;
      blocks.counts[static_cast<std::size_t>(peer)] = 1;
      blocks.types[static_cast<std::size_t>(peer)] = types_.of(at(parts, peer), image.offset(at(parts, peer)));
    }
  }

  Blocks sent_, received_;
};

/// Array movers, of transposes and transforms, send by datatypes; block movers, of halos, are those of mpi_p2p.
template <class ByDatatypes>
class DatatypeExchange : public MpiP2p {
 public:
  using MpiP2p::MpiP2p;
  std::unique_ptr<Mover> array_mover(const Route& route) override {
    return std::make_unique<ByDatatypes>(*this, route, buffers_, source_, target_);
  }
  bool sends_unpacked() const override { return true; }

 private:
  ArrayImage source_, target_;  ///< of the arrays in flight
};

}  // namespace

std::unique_ptr<Exchange> make_mpi_datatype(MPI_Comm world) {
  return std::make_unique<DatatypeExchange<ByPointToPoint>>(world);
}

std::unique_ptr<Exchange> make_mpi_alltoallw(MPI_Comm world) {
  return std::make_unique<DatatypeExchange<ByAlltoallw>>(world);
}

}  // namespace sluice
