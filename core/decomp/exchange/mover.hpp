#pragma once
// How arrays travel between ranks. Each exchange method makes movers of its own, which keep its protocol to themselves.
#include <mpi.h>

#include <cstddef>
#include <vector>

#include "core/decomp/exchange/array_part.hpp"
#include "core/device/timers.hpp"
#include "core/support/box3.hpp"

namespace sluice {

/// Where the block for (or from) each rank of a communicator lies in a buffer, in bytes. A rank's block for itself
/// never travels: its size counts as 0.
struct BlockLayout {
  std::vector<std::size_t> offset;
  std::vector<std::size_t> bytes;
  std::size_t total = 0;

  /// Blocks of these sizes one after another, each aligned.
  static BlockLayout of(std::vector<std::size_t> bytes);
  /// The bytes that travel of these parts, between `size` ranks.
  static BlockLayout of(const Parts& parts, int rank, int size);
};

/// Whether every rank of a communicator sends to every other, or a few neighbours to each other.
enum class Traffic { all_to_all, neighbours };

/// What a mover moves: how many bytes between which ranks. What one rank sends the other must receive.
struct Route {
  MPI_Comm comm = MPI_COMM_NULL;
  BlockLayout send, receive;
  Traffic traffic = Traffic::all_to_all;
  PhaseTimers* timers = nullptr;  ///< if any: time of "packing" (a rank's own part included) and "communication"
};

/// Moves parts of arrays between the ranks of a communicator, as often as wanted: outgoing parts for rank r become the
/// incoming parts from this rank there, which have the same shapes in the same order. A rank's part for itself, at most
/// one, is copied. One move at a time may be between start() and finish() in each Exchange; movers of different
/// Exchanges do not disturb each other.
class Mover {
 public:
  virtual ~Mover() = default;

  /// Begins to move. Until finish() returns, the outgoing parts must not be written and the incoming ones not be used.
  /// Collective over the communicator of the route.
  virtual void start(const Parts& outgoing, const Parts& incoming) = 0;
  /// Loops issued afterwards may read the incoming parts and write the outgoing ones. Collective.
  virtual void finish() = 0;

  void move(const Parts& outgoing, const Parts& incoming) {
    start(outgoing, incoming);
    finish();
  }
};

/// A mover whose memory the caller may use: parts that lie there as the route's layouts say are not packed or unpacked.
/// Outgoing and incoming parts may be in the same array.
class BlockMover : public Mover {
 public:
  /// Where loops issued before start() may write the outgoing blocks, `room` if the mover has no such memory.
  /// Collective.
  virtual std::byte* open(std::byte* room) = 0;
  /// Where the incoming blocks lie from finish() until the next move of the exchange. The same until another mover is
  /// made.
  virtual std::byte* incoming_blocks() = 0;
  /// Of the buffers, which all movers of the exchange share.
  virtual std::size_t buffer_bytes(bool sending) const = 0;
};

/// Two ways of splitting a global box over the ranks of a communicator: from[r] and to[r] are the boxes of rank r, in
/// global indices.
struct Splittings {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<Box3> from, to;
  std::size_t element_bytes = 0;
};

/// Holds the array of the second splitting on every rank, its rows row_length() elements apart, zeroed at first, and
/// moves it from and to arrays in the first splitting: for each rank, the part that the caller's array has in common
/// with that rank's.
class Transposer {
 public:
  virtual ~Transposer() = default;

  /// A whole number of the pieces in which a GPU's memory and links move data.
  static std::int64_t row_length(const Box3& box, std::size_t element_bytes);
  /// Bytes that a rank with this to-box holds.
  static std::size_t held_bytes(const Box3& box, std::size_t element_bytes);

  virtual std::byte* array() = 0;
  /// From parts of the caller's array to the ranks' arrays.
  virtual void forward(const Parts& source) = 0;
  /// From the ranks' arrays to parts of the caller's.
  virtual void backward(const Parts& target) = 0;
};

/// The part of a transposed array over `whole` that is `box`, both in global indices.
ArrayPart transposed_part(std::byte* array, const Box3& whole, const Box3& box, std::size_t element_bytes);

}  // namespace sluice
