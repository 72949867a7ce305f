#pragma once
// The interface of exchange methods that send packed blocks. Only their movers use it.
#include <cstddef>
#include <functional>

#include "core/decomp/exchange/mover.hpp"
#include "core/device/buffer.hpp"

namespace sluice {

/// Blocks between the ranks of a communicator, laid out once and sent many times:
///
///   connection.begin();
///   for each peer: ... issue a loop that writes the block behind outgoing(peer) ...; connection.packed(peer);
///   connection.depart();
///   connection.run([&](int peer) { ... issue a loop that reads the block behind incoming(peer) ... });
///
/// All pointers are to device memory. begin(), depart() and run() are collective over the communicator. The connections
/// of one Exchange share its buffers: only one of them may be between begin() and the end of run(), and incoming blocks
/// stay valid until the next begin().
class Connection {
 public:
  virtual ~Connection() = default;

  /// Loops issued afterwards may write outgoing blocks.
  virtual void begin() {}
  /// The block for `peer`: in a buffer of this rank, or in the receiver's own memory. Does not change until another
  /// connection is made.
  virtual std::byte* outgoing(int peer) = 0;
  /// Issues the copies of parts into the outgoing blocks.
  virtual void pack(const char* name, const PartCopies& copies) { copies.issue(name); }
  /// All loops that write the block for `peer` have been issued: it may be sent when they are done.
  virtual void packed(int /*peer*/) {}
  /// All blocks are packed: they may be sent, here or in run().
  virtual void depart() {}
  /// The block from `peer`; for this rank itself, the place of its block in the buffer.
  virtual std::byte* incoming(int peer) = 0;
  /// The buffers that hold the blocks, laid out as the route says. Null for a side whose blocks are in other ranks'
  /// memory.
  virtual std::byte* send_buffer() = 0;
  virtual std::byte* receive_buffer() = 0;
  /// Moves the blocks. Calls arrived(peer) once for each peer whose block is not empty, when loops that read it may be
  /// issued.
  virtual void run(const std::function<void(int)>& arrived) = 0;
};

/// A connection whose blocks are in two buffers of its exchange, laid out as the route says.
class BufferedConnection : public Connection {
 public:
  BufferedConnection(const Route& route, Buffer<std::byte>& send, Buffer<std::byte>& receive)
      : send_(route.send), receive_(route.receive), send_data_(&send), receive_data_(&receive) {}

  std::byte* outgoing(int peer) final { return send_buffer() + send_.offset[static_cast<std::size_t>(peer)]; }
  std::byte* incoming(int peer) final { return receive_buffer() + receive_.offset[static_cast<std::size_t>(peer)]; }
  std::byte* send_buffer() final { return send_data_->data(); }
  std::byte* receive_buffer() final { return receive_data_->data(); }

 protected:
  BlockLayout send_, receive_;

 private:
  Buffer<std::byte>* send_data_;
  Buffer<std::byte>* receive_data_;
};

}  // namespace sluice
