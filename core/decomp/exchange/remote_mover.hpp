#pragma once
// Moves of arrays by ranks that access each other's memory.
#include <mpi.h>

#include <cstddef>
#include <vector>

#include "core/support/box3.hpp"

namespace sluice {

/// Arrays of complex numbers that are moved between two splittings of a global box: `from` and `to` hold each rank's
/// box in global indices, fastest axis first. One side is the caller's arrays; the other is in memory that the ranks
/// share, and they write their parts there or read them from there.
struct RemoteRoute {
  enum class Shared { to, from };

  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<Box3> from, to;
  Shared shared = Shared::to;
  int arrays = 1;  ///< on each side, one after another, in one move

  const std::vector<Box3>& own_boxes() const { return shared == Shared::to ? from : to; }
  const std::vector<Box3>& shared_boxes() const { return shared == Shared::to ? to : from; }
};

/// Moves along a RemoteRoute in pieces, each of which overlaps with loops issued after it:
///
///   mover.begin();
///   for each piece: ... issue loops that write it ...; mover.move(array, piece, ...);      // shared: to
///   mover.end();
///
///   mover.begin();
///   for each piece: mover.move(array, piece, ...);                                         // shared: from
///   for each piece: mover.await(n); ... issue loops that read it ...
///   mover.end();
///
/// All pointers are to device memory. begin() and end() are collective over the communicator; the pieces are up to each
/// rank. One move at a time may be between them in each Exchange.
class RemoteMover {
 public:
  virtual ~RemoteMover() = default;

  /// This rank's shared arrays. Other ranks access them between its begin() and end(). Contents are valid until the
  /// next move of the exchange. The address changes only when another mover is made.
  virtual std::byte* shared() = 0;
  virtual std::size_t shared_bytes() const = 0;
  /// What an additional piece costs: the time of this many bytes of an array that is transformed and moved.
  virtual double piece_overhead() const = 0;

  /// Loops issued before are done with the shared arrays: they no longer read them, or have written them.
  virtual void begin() = 0;
  /// Moves the part `piece` of the caller's arrays, which begin at `own`, when loops issued before are done.
  /// `with_own_part`: also what the rank keeps for itself.
  virtual void move(std::byte* own, const Box3& piece, bool with_own_part) = 0;
  /// Loops issued afterwards start when the nth piece since begin() has been moved, n = 0, 1, ...
  virtual void await(std::size_t n) = 0;
  /// Loops issued afterwards may use all arrays.
  virtual void end() = 0;
};

}  // namespace sluice
