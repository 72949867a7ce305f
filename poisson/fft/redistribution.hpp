#pragma once
// Moves the coefficients of a distributed transform from one splitting to the next.
#include <array>
#include <complex>
#include <memory>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/remote_mover.hpp"
#include "core/device/timers.hpp"
#include "core/support/box3.hpp"
#include "poisson/fft/common.hpp"
#include "poisson/fft/rows_elsewhere.hpp"

namespace sluice {

/// Moves an array of complex numbers between two splittings of the same global box over the ranks of a communicator.
/// Boxes are in memory order, fastest axis first, whatever axis of the grid that is. Several such arrays, one after
/// another, move together.
///
/// By blocks, one for each pair of ranks: where the other side splits the slowest axis in memory, an array consists of
/// its blocks in the order of ranks; loops pack or unpack all others. Of several arrays, one block holds the parts of
/// all of them; methods that send without packing move them one by one.
///
/// Where ranks reach each other's memory: from the source to the exchange's memory on the receiving ranks, or from
/// there to the target. This may be done in pieces, which overlap with the transforms of others.
class Redistribution {
 public:
  /// Where the route's other side is, if ranks reach each other's memory.
  using Shared = RemoteRoute::Shared;

  /// from[r] and to[r]: the boxes of rank r of `comm`, in global indices. `count`: of arrays. `comm` and `exchange`
  /// must outlive this object. Collective over the ranks of `exchange`.
  Redistribution(MPI_Comm comm, const std::vector<Box3>& from, const std::vector<Box3>& to, int count, Shared shared,
                 Exchange& exchange);
  Redistribution(const Redistribution&) = delete;
  Redistribution& operator=(const Redistribution&) = delete;

  /// Whether run() needs a source and a target in different arrays: methods that send without packing have no buffer in
  /// between.
  bool needs_two_arrays() const { return !remote_ && blocks_ == nullptr; }
  /// Whether ranks move the array in each other's memory.
  bool is_remote() const { return remote_ != nullptr; }

  /// Returns where loops and transforms issued afterwards must write the source, to be passed to run(): the exchange's
  /// memory where the source may be there, else `target`.
  std::complex<real>* open(std::complex<real>* target);

  /// Returns the address of the target: in the exchange's memory, valid until the next redistribution of the exchange,
  /// for received blocks that need no unpacking and for Shared::to; else `target`. `source` and `target` may be the
  /// same array unless needs_two_arrays(); the source is destroyed. Collective over the communicator.
  std::complex<real>* run(std::complex<real>* source, std::complex<real>* target);

  // In pieces, if is_remote(). Planes are those of the slowest axis of the caller's array, 0 ... nz - 1.

  /// The rank's array in the exchange's memory.
  std::complex<real>* shared() const { return reinterpret_cast<std::complex<real>*>(remote_->shared()); }
  /// What the rank keeps of a single array, if it owns whole rows on both sides, in the exchange's memory: transforms
  /// may write these rows there, or read them from there. Otherwise move() copies what the rank keeps.
  RowsElsewhere own_rows() const;
  /// The time of a piece, as bytes of an array that is transformed and moved.
  double piece_overhead() const { return remote_->piece_overhead(); }

  // As RemoteMover.
  void begin();
  void move(std::complex<real>* array, const PlaneRange& planes, bool with_own_part);
  void await(std::size_t piece);
  void end();

  /// Seconds since the timers were reset. What the rank keeps counts where it is copied, in packing or unpacking. Where
  /// ranks reach each other's memory, packing is what loops move, and nothing is unpacked.
  struct Times {
    double packing = 0;
    double communication = 0;
    double unpacking = 0;
  };
  /// Waits for the device.
  Times times();
  std::array<PhaseTimers*, 2> timers() { return {&timers_, &later_timers_}; }  ///< to be enabled and reset

  /// Bytes needed in the buffers of the exchange.
  std::size_t buffer_bytes(bool sending) const {
    if (remote_) return sending ? 0 : remote_->shared_bytes();
    return blocks_ != nullptr ? blocks_->buffer_bytes(sending) : 0;
  }

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
  PhaseTimers timers_;        ///< of the mover, until the blocks have been handed over
  PhaseTimers later_timers_;  ///< of the mover, afterwards
  RemoteRoute route_;
  std::unique_ptr<RemoteMover> remote_;  ///< null if ranks do not reach each other's memory
  int moves_;                            ///< 1 if all arrays move together
  Side source_, target_;
  std::unique_ptr<Mover> mover_;  ///< null if remote_ is not
  BlockMover* blocks_ = nullptr;  ///< the mover, if it has buffers that hold the blocks
};

}  // namespace sluice
