#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "core/decomp/exchange/chunk_tuner.hpp"
#include "core/decomp/exchange/mpi_buffers.hpp"
#include "core/device/event.hpp"
#include "core/device/stream.hpp"

namespace sluice {

/// A connection without collective calls, except for the few that tuning needs. Blocks are sent around the ring, to the
/// next rank first, in pieces, as soon as the block is packed. If they are staged through the host, packing, copy to
/// the host, network and copy to the GPU work on different pieces at the same time. Only this thread calls MPI.
class PieceConnection : public MpiConnection {
 public:
  /// Without a tuner, blocks are sent whole. Local.
  PieceConnection(const Route& route, MpiBuffers& buffers, std::shared_ptr<ChunkTuner> tuner);

  void begin() override;
  void packed(int peer) override;
  void depart() override;
  void run(const std::function<void(int)>& arrived) override;

 private:
  /// The pieces [first, end) of one block to be sent.
  struct Outgoing {
    int peer;
    std::size_t first, end;
    bool packed = false;
  };

  void cut_blocks(std::size_t piece_bytes);
  /// Sends pieces in order, until one has not yet been copied to where MPI reads it.
  void send_what_is_ready();
  void take_in(const Piece& piece, const std::function<void(int)>& arrived);
  void tune(double seconds);

  std::shared_ptr<ChunkTuner> tuner_;  ///< its exchange reports what it chose
  std::size_t piece_bytes_ = 0;        ///< 0: not split yet
  std::vector<Outgoing> outgoing_;
  std::vector<Piece> outgoing_pieces_, incoming_pieces_;
  std::vector<device::Event> ready_;  ///< for each outgoing piece: MPI may read it
  std::vector<MPI_Request> sends_, receives_;
  std::vector<int> completed_;
  std::vector<std::size_t> missing_;  ///< pieces of each peer that have not arrived
  std::size_t sent_ = 0;              ///< pieces handed to MPI
  device::Stream to_host_, to_device_;
  device::Event loops_;
  double start_ = 0;
};

}  // namespace sluice
