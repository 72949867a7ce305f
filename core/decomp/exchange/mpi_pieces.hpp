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
///
/// Each distance around the ring is a stage: a rank sends to the rank at that distance ahead and receives from the one
/// as far behind. If the number of pieces in flight is limited, at most so many are sent, and as many received, at a
/// time, and the next one starts when one has ended. Then as many stages overlap as the limit holds of the rank's
/// largest blocks, or else one: a stage starts when all that belongs to the stages before these has arrived. So ranks
/// stay together without a barrier, although a rank waits only for those behind it.
class PieceConnection : public MpiConnection {
 public:
  /// Without a tuner, blocks are sent whole and without a limit. Local.
  PieceConnection(const Route& route, MpiBuffers& buffers, std::shared_ptr<ChunkTuner> tuner);

  void begin() override;
  void packed(int peer) override;
  void depart() override;
  void run(const std::function<void(int)>& arrived) override;

 private:
  /// The pieces [first, end) of one block to be sent.
  struct Outgoing {
    int peer;
    int distance;  ///< around the ring: its stage
    std::size_t first, end;
    bool packed = false;
  };

  void cut_blocks(const Pieces& pieces);
  std::size_t limit() const { return pieces_.in_flight; }
  bool is_full(std::size_t in_flight) const { return limit() > 0 && in_flight >= limit(); }
  void receive_in_order();
  /// What the next piece to be sent waits for.
  enum class Waiting { for_device, for_messages };
  /// Sends pieces in order, until one has not yet been copied to where MPI reads it, or may not start yet.
  Waiting send_what_is_ready();
  void take_in(const Piece& piece, const std::function<void(int)>& arrived);
  void tune(double seconds);

  std::shared_ptr<ChunkTuner> tuner_;  ///< its exchange reports what it chose
  Pieces pieces_;                      ///< none: not cut yet
  std::vector<Outgoing> outgoing_;
  std::vector<Piece> outgoing_pieces_, incoming_pieces_;  ///< in the order of the ring
  std::vector<device::Event> ready_;                      ///< for each outgoing piece: MPI may read it
  std::vector<MPI_Request> requests_;                     ///< of the incoming pieces, then of the outgoing ones
  std::vector<int> completed_;
  std::vector<std::size_t> missing_;  ///< pieces of each peer that have not arrived
  std::size_t posted_ = 0;            ///< pieces whose receives have been posted
  std::size_t received_ = 0;          ///< pieces that have arrived
  std::size_t sent_ = 0;              ///< pieces handed to MPI
  std::size_t sends_ended_ = 0;       ///< as far as known; only counted under a limit
  int overlapping_ = 1;               ///< stages that may overlap under a limit
  int stages_received_ = 0;           ///< of which all has arrived, from the first on
  device::Stream to_host_, to_device_;
  device::Event loops_;
  double start_ = 0;
};

}  // namespace sluice
