#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/decomp/exchange/chunk_tuner.hpp"
#include "core/decomp/exchange/mpi_buffers.hpp"
#include "core/device/event.hpp"
#include "core/device/stream.hpp"

namespace sluice {

/// A connection without a collective call, but for the few that tuning takes. Blocks go to the ranks in a ring, to the
/// next one first, in pieces, which leave when the block is packed: on the way from a GPU through the host, the packing
/// of later blocks, the copy to the host, network and copy to the GPU work at the same time on different pieces. All
/// calls of MPI come from this thread.
class PieceConnection : public MpiConnection {
 public:
  /// Without a tuner blocks travel whole. Local.
  PieceConnection(const Route& route, MpiBuffers& buffers, std::optional<ChunkTuner> tuner);

  void begin() override;
  void packed(int peer) override;
  void depart() override;
  void run(const std::function<void(int)>& arrived) override;

 private:
  struct Piece {
    int peer;
    std::size_t offset, bytes;  ///< in the buffer
  };
  /// The pieces of one block to be sent, from `first` to before `end`.
  struct Outgoing {
    int peer;
    std::size_t first, end;
    bool packed = false;
  };

  void cut(std::size_t piece_bytes);
  /// Hands pieces to MPI in their order, as far as they have come to where MPI reads them.
  void send_what_is_ready();
  void take_in(const Piece& piece, const std::function<void(int)>& arrived);
  void tune(double seconds);

  std::optional<ChunkTuner> tuner_;
  std::size_t piece_bytes_ = 0;  ///< 0: not cut yet
  std::vector<Outgoing> outgoing_;
  std::vector<Piece> outgoing_pieces_, incoming_pieces_;
  std::vector<device::Event> ready_;  ///< of each outgoing piece: MPI may read it
  std::vector<MPI_Request> sends_, receives_;
  std::vector<int> completed_;
  std::vector<std::size_t> missing_;  ///< pieces of each peer that have not arrived
  std::size_t sent_ = 0;              ///< pieces handed to MPI
  device::Stream to_host_, to_device_;
  device::Event loops_;
  double start_ = 0;
};

}  // namespace sluice
