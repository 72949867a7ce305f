#pragma once
#include <complex>
#include <memory>
#include <vector>

#include "core/decomp/box3.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/view3.hpp"

namespace sluice {

/// Moves an array of T between two ways of splitting the same global box over the ranks of a communicator: an
/// exact permutation. T is real or std::complex<real>. Neither side's halo is read or written. The rank's own
/// block is copied directly and never travels.
template <class T>
class Transpose {
 public:
  /// from[r] and to[r]: the boxes of rank r of `comm`, in global indices, the same list on all its ranks. `comm`
  /// and `exchange` must outlive this object. Collective over the ranks of `exchange`.
  Transpose(MPI_Comm comm, const std::vector<Box3>& from, const std::vector<Box3>& to, Exchange& exchange);

  /// `source` is the rank's from-box, `target` its to-box. Collective over the communicator.
  void forward(View3<const T> source, View3<T> target);
  /// The inverse: from the to-box back to the from-box.
  void backward(View3<const T> source, View3<T> target);

 private:
  struct Direction {
    Box3 source, target;                      ///< the rank's own boxes
    std::vector<Box3> outgoing;               ///< to each peer: part of source, global indices
    std::vector<Box3> incoming;               ///< from each peer: part of target
    std::unique_ptr<ArrayConnection> arrays;  ///< of a method that does not pack
    std::unique_ptr<Connection> connection;   ///< of any other; neither for a rank on its own
  };

  Direction plan(MPI_Comm comm, const std::vector<Box3>& from, const std::vector<Box3>& to, Exchange& exchange) const;
  void run(const Direction& direction, View3<const T> source, View3<T> target);
  void pack(const Direction& direction, View3<const T> source) const;
  void move(const Direction& direction, View3<const T> source, View3<T> target) const;  ///< without packing

  int rank_ = 0;
  Direction forward_, backward_;
};

}  // namespace sluice
