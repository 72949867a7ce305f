#pragma once
#include <mpi.h>

#include <cstddef>
#include <vector>

#include "core/decomp/exchange/connection.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/packed_mover.hpp"
#include "core/decomp/host_access.hpp"
#include "core/device/buffer.hpp"
#include "core/device/event.hpp"
#include "core/support/real.hpp"

namespace sluice {

/// Blocks are counted in elements, because MPI 3 counts in int: 16 GiB at most in double precision.
inline MPI_Datatype mpi_element_type() {
  return sizeof(real) == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
}
/// For a single call. Throws Error(internal) naming `what` and the remedy if the count does not fit MPI's int.
int mpi_element_count(std::size_t bytes, const char* what);

/// The largest count of elements that exchanges give to MPI: larger blocks are sent in several messages or by nested
/// datatypes. An exchange keeps the limit in force when it is made.
std::size_t mpi_max_count();

/// For tests of larger blocks: a small limit for the exchanges made during its lifetime.
class SmallMpiCounts {
 public:
  explicit SmallMpiCounts(std::size_t max_count);
  SmallMpiCounts(const SmallMpiCounts&) = delete;
  SmallMpiCounts& operator=(const SmallMpiCounts&) = delete;
  ~SmallMpiCounts();

 private:
  std::size_t previous_;
};

/// The buffers that an MPI method's connections share, and their images for MPI.
struct MpiBuffers {
  /// For exchanges between these ranks. Collective.
  explicit MpiBuffers(MPI_Comm world);
  MpiBuffers(const MpiBuffers&) = delete;
  MpiBuffers& operator=(const MpiBuffers&) = delete;
  /// Leaks the memory if an error ends an exchange, because MPI may still use it.
  ~MpiBuffers();

  const int tag;  ///< of all messages; unique to each exchange, since several may be in flight
  const std::size_t max_count = mpi_max_count();
  Buffer<std::byte> send, receive;
  HostImage send_image, receive_image;
  device::Event taken_in;  ///< the last asynchronous copies out of the receive image are done

  /// Makes room for this many bytes each way.
  void reserve(std::size_t send_bytes, std::size_t receive_bytes);
};

/// A method that packs blocks and sends them by MPI: connect() makes its connections.
class MpiExchange : public Exchange {
 public:
  /// `world` must outlive this object. Collective.
  explicit MpiExchange(MPI_Comm world) : world_(world), buffers_(world) {}
  MPI_Comm world() const override { return world_; }
  std::unique_ptr<BlockMover> block_mover(const Route& route) final;

 protected:
  /// Must not wait for other ranks after a point where it may throw.
  virtual std::unique_ptr<Connection> connect(const Route& route) = 0;

  MPI_Comm world_;
  MpiBuffers buffers_;
};

/// A connection whose blocks are packed into this rank's own buffer and sent by MPI.
class MpiConnection : public BufferedConnection {
 public:
  MpiConnection(const Route& route, MpiBuffers& buffers);

 protected:
  /// A block, or the part of it that is one message.
  struct Piece {
    int peer;
    std::size_t offset, bytes;  ///< in the buffer
  };

  /// Adds the pieces of the block for (or from) a rank: of `max_bytes`, but the last.
  static void cut(const BlockLayout& layout, int peer, std::size_t max_bytes, std::vector<Piece>& pieces);
  /// The most that one message may hold.
  std::size_t max_message_bytes() const { return buffers_->max_count * sizeof(real); }
  /// MPI_Irecv into the receive image, MPI_Isend from the send image.
  void receive(const Piece& piece, MPI_Request& request);
  void send(const Piece& piece, MPI_Request& request);

  MPI_Comm comm_;
  MpiBuffers* buffers_;
};

}  // namespace sluice
