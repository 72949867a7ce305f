#pragma once
#include <mpi.h>

#include <cstddef>

#include "core/decomp/exchange/connection.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/packed_mover.hpp"
#include "core/decomp/host_access.hpp"
#include "core/device/buffer.hpp"
#include "core/device/event.hpp"
#include "core/support/real.hpp"

namespace sluice {

/// Blocks are counted in elements, because MPI 3 counts in int: up to 16 GiB in double precision.
inline MPI_Datatype mpi_element_type() {
  return sizeof(real) == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
}
/// Throws Error(internal) naming `what` and the remedy if the count does not fit MPI's int.
int mpi_element_count(std::size_t bytes, const char* what);

/// The buffers that an MPI method's connections share, and their images for MPI.
struct MpiBuffers {
  /// For exchanges between these ranks. Collective.
  explicit MpiBuffers(MPI_Comm world);
  MpiBuffers(const MpiBuffers&) = delete;
  MpiBuffers& operator=(const MpiBuffers&) = delete;
  /// Leaks the memory if an error ends an exchange, because MPI may still use it.
  ~MpiBuffers();

  const int tag;  ///< of all messages; unique to each exchange, since several may be in flight
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
  MPI_Comm comm_;
  MpiBuffers* buffers_;
};

}  // namespace sluice
