#pragma once
// How the coefficients of a distributed transform go from one splitting to the next.
#include <complex>
#include <memory>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/device/timers.hpp"
#include "core/support/box3.hpp"

namespace sluice {

/// Moves an array of complex numbers between two splittings of the same global box over the ranks of a communicator,
/// by way of blocks: what one rank has for another. On either side, the blocks may be parts of the array, to be packed
/// or unpacked by loops, or be the array: one after another, in the order of ranks, which takes an axis that is the
/// slowest in memory. The boxes are in the order of memory, fastest axis first, whichever axis of the grid that is.
class Redistribution {
 public:
  /// The side on which loops run: source packed, target unpacked, or both.
  enum class Loops { pack, unpack, both };

  /// from[r] and to[r]: the boxes of rank r of `comm`, in global indices. `comm`, `exchange` and `timers` must outlive
  /// this object. Collective over the ranks of `exchange`.
  Redistribution(MPI_Comm comm, const std::vector<Box3>& from, const std::vector<Box3>& to, Loops loops,
                 Exchange& exchange, PhaseTimers& timers);

  /// Loops::unpack: where loops and transforms issued afterwards write the source, and run() is to be told so: in the
  /// buffer that is sent from. Where there is none, in `elsewhere`; on a rank of its own, in `target` at once.
  std::complex<real>* open(std::complex<real>* target, std::complex<real>* elsewhere);

  /// Where the target lies afterwards: Loops::pack: among the blocks that came in, until the next redistribution of
  /// the exchange; else in `target`. On a rank of its own, where the source is. `source` and `target` may be the same
  /// array; of the source nothing remains. Collective over the communicator.
  std::complex<real>* run(std::complex<real>* source, std::complex<real>* target);

  /// What it asks of the buffers of the exchange, in bytes.
  std::size_t buffer_bytes(bool sending) const { return mover_ ? mover_->buffer_bytes(sending) : 0; }

 private:
  /// The array of one side: boxes of it in common with each rank.
  struct Side {
    Box3 whole;
    std::vector<Box3> blocks;  ///< global indices
    bool in_order = false;     ///< the array is its blocks, one after another

    Side(const Box3& own, const std::vector<Box3>& others, bool blocks_in_order);
    BlockLayout layout(int rank) const;
    Parts parts_of(std::complex<real>* array, int rank) const;
  };

  int rank_;
  Side source_, target_;
  std::unique_ptr<BlockMover> mover_;  ///< none for a rank on its own
};

}  // namespace sluice
