#pragma once
// Moves the coefficients of a distributed transform from one splitting to the next.
#include <complex>
#include <memory>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/device/timers.hpp"
#include "core/support/box3.hpp"

namespace sluice {

/// Moves an array of complex numbers between two splittings of the same global box over the ranks of a communicator, in
/// blocks, one for each pair of ranks. Where the other side splits the slowest axis in memory, an array consists of its
/// blocks in the order of ranks; loops pack or unpack all others. Boxes are in memory order, fastest axis first,
/// whatever axis of the grid that is. Several such arrays, one after another, move together: packed, one block for each
/// pair of ranks holds the parts of all of them; without packing, they move one by one.
class Redistribution {
 public:
  /// from[r] and to[r]: the boxes of rank r of `comm`, in global indices. `count`: of arrays. `comm`, `exchange` and
  /// `timers` must outlive this object. Collective over the ranks of `exchange`.
  Redistribution(MPI_Comm comm, const std::vector<Box3>& from, const std::vector<Box3>& to, int count,
                 Exchange& exchange, PhaseTimers& timers);

  /// Whether run() needs a source and a target in different arrays: methods that send without packing have no buffer in
  /// between.
  bool needs_two_arrays() const { return mover_ && blocks_ == nullptr; }

  /// Returns where loops and transforms issued afterwards must write the source, to be passed to run(): `target`, but
  /// for blocks to be sent as they are the send buffer, or `room` if there is none.
  std::complex<real>* open(std::complex<real>* target, std::complex<real>* room);

  /// Returns the address of the target: the received blocks if they need no unpacking, valid until the next
  /// redistribution of the exchange; else `target`; on a single rank `source`. `source` and `target` may be the same
  /// array unless needs_two_arrays(); the source is destroyed. Collective over the communicator.
  std::complex<real>* run(std::complex<real>* source, std::complex<real>* target);

  /// Bytes needed in the buffers of the exchange.
  std::size_t buffer_bytes(bool sending) const { return blocks_ != nullptr ? blocks_->buffer_bytes(sending) : 0; }

 private:
  /// The arrays of one side and their intersections with each rank's box on the other side.
  struct Side {
    Box3 whole;
    int arrays;                ///< that move together
    std::vector<Box3> blocks;  ///< global indices
    bool in_order = false;     ///< a single array, which is its blocks, one after another

    Side(const Box3& own, const std::vector<Box3>& others, int arrays_together);
    BlockLayout layout(int rank) const;
    Parts parts_of(std::complex<real>* array, int rank) const;
  };

  int rank_;
  int moves_;  ///< 1 if all arrays move together
  Side source_, target_;
  std::unique_ptr<Mover> mover_;  ///< null on a single rank
  BlockMover* blocks_ = nullptr;  ///< the mover, if it has buffers that hold the blocks
};

}  // namespace sluice
