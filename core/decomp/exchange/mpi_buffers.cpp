#include "core/decomp/exchange/mpi_buffers.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <string>
#include <utility>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

int mpi_element_count(std::size_t bytes, const char* what) {
  const std::size_t count = bytes / sizeof(real);
  SLUICE_REQUIRE(count <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
                 std::string("a block is too large for ") + what + "; use more ranks, or parallel.exchange: mpi_p2p");
  return static_cast<int>(count);
}

namespace {

std::size_t max_count = std::numeric_limits<int>::max();

}  // namespace

std::size_t mpi_max_count() {
  return max_count;
}

SmallMpiCounts::SmallMpiCounts(std::size_t count) : previous_(std::exchange(max_count, count)) {
  SLUICE_REQUIRE(count > 1, "datatypes are nested, so a count must reduce their number");
}

SmallMpiCounts::~SmallMpiCounts() {
  max_count = previous_;
}

namespace {

int next_tag(MPI_Comm world) {
  static int last = 10;
  int tag = last + 1;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &tag, 1, MPI_INT, MPI_MAX, world), "MPI_Allreduce");
  constexpr int max_tag = 32767;  // the MPI standard guarantees this
  return last = tag < max_tag ? tag : 11;
}

}  // namespace

MpiBuffers::MpiBuffers(MPI_Comm world) : tag(next_tag(world)) {}

MpiBuffers::~MpiBuffers() {
  if (std::uncaught_exceptions() == 0) return;
  static_cast<void>(new Buffer<std::byte>(std::move(send)));
  static_cast<void>(new Buffer<std::byte>(std::move(receive)));
  static_cast<void>(new HostImage(std::move(send_image)));
  static_cast<void>(new HostImage(std::move(receive_image)));
}

void MpiBuffers::reserve(std::size_t send_bytes, std::size_t receive_bytes) {
  const auto enlarge = [](Buffer<std::byte>& buffer, HostImage& image, std::size_t bytes) {
    if (bytes <= buffer.size()) return;
    image = HostImage();  // freed first, so that old and new never coexist
    buffer.enlarge(bytes);
    image = HostImage(buffer.data(), bytes);
  };
  enlarge(send, send_image, send_bytes);
  enlarge(receive, receive_image, receive_bytes);
}

std::unique_ptr<BlockMover> MpiExchange::block_mover(const Route& route) {
  std::unique_ptr<Connection> connection;
  run_collectively(world_, [&] { connection = connect(route); });
  return std::make_unique<PackedMover>(*this, route, std::move(connection), PackedMover::packing_for(route.traffic));
}

MpiConnection::MpiConnection(const Route& route, MpiBuffers& buffers)
    : BufferedConnection(route, buffers.send, buffers.receive), comm_(route.comm), buffers_(&buffers) {
  buffers.reserve(send_.total, receive_.total);
}

void MpiConnection::cut(const BlockLayout& layout, int peer, std::size_t max_bytes, std::vector<Piece>& pieces) {
  const std::size_t bytes = layout.bytes[static_cast<std::size_t>(peer)];
  const std::size_t offset = layout.offset[static_cast<std::size_t>(peer)];
  for (std::size_t done = 0; done < bytes; done += max_bytes)
    pieces.push_back({peer, offset + done, std::min(max_bytes, bytes - done)});
}

void MpiConnection::receive(const Piece& piece, MPI_Request& request) {
  check_mpi(MPI_Irecv(buffers_->receive_image.data() + piece.offset, mpi_element_count(piece.bytes, "one MPI message"),
                      mpi_element_type(), piece.peer, buffers_->tag, comm_, &request),
            "MPI_Irecv");
}

void MpiConnection::send(const Piece& piece, MPI_Request& request) {
  check_mpi(MPI_Isend(buffers_->send_image.data() + piece.offset, mpi_element_count(piece.bytes, "one MPI message"),
                      mpi_element_type(), piece.peer, buffers_->tag, comm_, &request),
            "MPI_Isend");
}

}  // namespace sluice
