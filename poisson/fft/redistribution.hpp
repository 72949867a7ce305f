#pragma once
// How the coefficients of a distributed transform go from one splitting to the next.
#include <complex>
#include <memory>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/view3.hpp"
#include "core/device/timers.hpp"
#include "core/support/box3.hpp"

namespace sluice {

template <class T>
class BoxCopies;

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

  /// What it asks of the buffers of the exchange, in bytes; nothing for one to send from where there is none.
  std::size_t send_bytes() const;
  std::size_t receive_bytes() const;

 private:
  /// A box within an array.
  struct Part {
    View3<std::complex<real>> array;
    Box3 box;
  };

  /// The blocks on one side, the rank's own among them though it never travels.
  struct Side {
    Box3 whole;
    std::vector<Box3> blocks;         ///< with each rank, global indices
    std::vector<std::size_t> offset;  ///< of each where they lie one after another, in elements
    bool in_order = false;            ///< the array is its blocks, one after another

    Side(const Box3& own, const std::vector<Box3>& others, bool blocks_in_order);
    BlockLayout layout(int rank) const;
    Part block(std::complex<real>* data, int peer) const;        ///< the block for itself
    Part in_blocks(std::complex<real>* blocks, int peer) const;  ///< the block among all
    Part in_array(std::complex<real>* array, int peer) const;    ///< the part of the array that is the block
  };

  std::complex<real>* write_to_peers(std::complex<real>* source, std::complex<real>* target);
  void send_off(std::complex<real>* source);
  void copy(const char* name, const Part& source, const Part& target);
  void issue(const char* name, const BoxCopies<std::complex<real>>& copies);
  template <class Arrived>
  void communicate(const Arrived& arrived);

  int rank_, size_;
  Side source_, target_;
  PhaseTimers* timers_;
  std::unique_ptr<Connection> connection_;  ///< none for a rank on its own
};

}  // namespace sluice
