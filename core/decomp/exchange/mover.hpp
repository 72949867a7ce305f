#pragma once
// How arrays are sent between ranks. Each exchange method makes its own movers, which hide its protocol.
#include <mpi.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "core/decomp/exchange/array_part.hpp"
#include "core/device/timers.hpp"
#include "core/support/box3.hpp"

namespace sluice {

/// The place in a buffer of the block for (or from) each rank of a communicator, in bytes. A rank does not send to
/// itself: its own block has size 0.
struct BlockLayout {
  std::vector<std::size_t> offset;
  std::vector<std::size_t> bytes;
  std::size_t total = 0;

  /// Blocks of these sizes one after another, each aligned.
  static BlockLayout of(std::vector<std::size_t> bytes);
  /// Layout of these parts on rank `rank` of `size`, without the rank's own part.
  static BlockLayout of(const Parts& parts, int rank, int size);
};

/// Whether all ranks of a communicator send to each other, or only a few neighbours.
enum class Traffic { all_to_all, neighbours };

/// What a mover moves: how many bytes between which ranks. Sent and received sizes must match.
struct Route {
  MPI_Comm comm = MPI_COMM_NULL;
  BlockLayout send, receive;
  Traffic traffic = Traffic::all_to_all;
  PhaseTimers* timers = nullptr;  ///< optional: times "packing" (with the rank's own part) and "communication"
};

/// Times its own lifetime as a phase, if the route has timers.
class RouteTiming {
 public:
  RouteTiming(const Route& route, TimedPhase phase) {
    if (route.timers != nullptr) scope_.emplace(*route.timers, phase);
  }

 private:
  std::optional<PhaseTimers::Scope> scope_;
};

/// Moves parts of arrays between the ranks of a communicator, any number of times. The outgoing parts for rank r arrive
/// there as the incoming parts from this rank, with the same shapes in the same order. A rank's parts for itself are
/// copied. One move at a time may be between start() and finish() in each Exchange; movers of different
/// Exchanges do not disturb each other.
class Mover {
 public:
  virtual ~Mover() = default;

  /// Begins a move. Until finish() returns, do not write the outgoing parts or use the incoming ones. Collective over
  /// the communicator of the route.
  virtual void start(const Parts& outgoing, const Parts& incoming) = 0;
  /// Loops issued afterwards may read the incoming parts and write the outgoing ones. Collective.
  virtual void finish() = 0;

  void move(const Parts& outgoing, const Parts& incoming) {
    start(outgoing, incoming);
    finish();
  }
};

/// A mover whose memory the caller may use: parts placed there as the route's layouts say are not packed or unpacked.
/// Outgoing and incoming parts may be in the same array.
class BlockMover : public Mover {
 public:
  /// Where loops issued before start() may write the outgoing blocks; null if the mover has no memory for them.
  /// Collective.
  virtual std::byte* open() = 0;
  /// Address of the incoming blocks, which are valid from finish() until the next move of the exchange. The address
  /// changes only when another mover is made.
  virtual std::byte* incoming_blocks() = 0;
  /// Size of the buffers, which all movers of the exchange share.
  virtual std::size_t buffer_bytes(bool sending) const = 0;
};

/// Two splittings of a global box over the ranks of a communicator: from[r] and to[r] are the boxes of rank r, in
/// global indices.
struct Splittings {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<Box3> from, to;
  std::size_t element_bytes = 0;
};

/// Holds each rank's array in the second splitting, zeroed at first, with rows row_length() elements apart. Moves data
/// to and from arrays in the first splitting: for each rank, the intersection of the caller's box with the box of that
/// rank.
class Transposer {
 public:
  virtual ~Transposer() = default;

  /// A multiple of the unit in which a GPU's memory and links move data.
  static std::int64_t row_length(const Box3& box, std::size_t element_bytes);
  /// Bytes that a rank with this to-box holds.
  static std::size_t held_bytes(const Box3& box, std::size_t element_bytes);

  virtual std::byte* array() = 0;
  /// From parts of the caller's array to the ranks' arrays.
  virtual void forward(const Parts& source) = 0;
  /// From the ranks' arrays to parts of the caller's.
  virtual void backward(const Parts& target) = 0;
};

/// The part `box` of a transposed array over `whole`, both in global indices.
ArrayPart transposed_part(std::byte* array, const Box3& whole, const Box3& box, std::size_t element_bytes);

}  // namespace sluice
