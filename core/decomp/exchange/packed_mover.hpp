#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/decomp/exchange/connection.hpp"
#include "core/decomp/exchange/exchange.hpp"

namespace sluice {

/// Packs parts into blocks, sends these through a connection and unpacks the received blocks.
class PackedMover : public BlockMover {
 public:
  /// How blocks are packed: each by its own loop, so that it can be sent while others are packed, or all by one loop,
  /// together with the rank's own part.
  enum class Packing { each, together };
  /// For methods that send blocks as they are packed. Blocks for neighbours are small.
  static Packing packing_for(Traffic traffic) {
    return traffic == Traffic::neighbours ? Packing::together : Packing::each;
  }

  /// `exchange` and the route's communicator and timers must outlive this object.
  PackedMover(Exchange& exchange, Route route, std::unique_ptr<Connection> connection, Packing packing);

  std::byte* open() override;
  std::byte* incoming_blocks() override { return connection_->receive_buffer(); }
  void start(const Parts& outgoing, const Parts& incoming) override;
  void finish() override;
  std::size_t buffer_bytes(bool sending) const override;

 private:
  void begin();
  void pack(const Parts& outgoing);
  void pack_together(const Parts& outgoing);
  void unpack(PartCopies& copies, int peer) const;
  /// Adds the copies of the own parts: to their places, or to their block in the receive buffer.
  void add_own(PartCopies& copies) const;
  void issue(const char* name, const PartCopies& copies);

  Exchange* exchange_;
  Route route_;
  std::unique_ptr<Connection> connection_;
  Packing packing_;
  int rank_;
  bool begun_ = false;

  // The move in flight.
  Parts incoming_;                            ///< sorted by peer
  std::vector<ArrayPart> own_from_, own_to_;  ///< that the rank keeps; none of them empty
  bool overlap_ = false;                      ///< outgoing and incoming parts may share memory
  bool own_through_block_ = false;            ///< the own parts pass through their block in the receive buffer
};

}  // namespace sluice
