#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/view3.hpp"
#include "core/device/buffer.hpp"
#include "core/support/box3.hpp"

namespace sluice {

/// Moves an array of T between two ways of splitting the same global box over the ranks of a communicator: an
/// exact permutation. T is real or std::complex<real>. The array in the first splitting is the caller's, the one in the
/// second is held here, since with some exchanges the other ranks write to it and read from it. The rank's own block is
/// copied directly and never travels.
template <class T>
class Transpose {
 public:
  /// from[r] and to[r]: the boxes of rank r of `comm`, in global indices, the same list on all its ranks. `comm`
  /// and `exchange` must outlive this object. Construction and destruction are collective over the ranks of `exchange`.
  Transpose(MPI_Comm comm, const std::vector<Box3>& from, const std::vector<Box3>& to, Exchange& exchange);

  /// The array in the second splitting, the rank's to-box: without halo, rows row_length() apart, zeroed at first. What
  /// lies between the rows is nobody's.
  View3<T> transposed() { return transposed_; }
  /// The elements from row to row: a whole number of the pieces in which a GPU's memory and links move data.
  static std::int64_t row_length(const Box3& box);

  /// From `source`, the rank's from-box, whose halo is not read, to transposed(). Collective over the communicator.
  void forward(View3<const T> source);
  /// The inverse: from transposed(), which stays as it is, to `target`, the rank's from-box, whose halo is not written.
  void backward(View3<T> target);

 private:
  struct Direction {
    Box3 source, target;                      ///< the rank's own boxes
    std::vector<Box3> outgoing;               ///< to each peer: part of source, global indices
    std::vector<Box3> incoming;               ///< from each peer: part of target
    std::unique_ptr<ArrayConnection> arrays;  ///< of a method that does not pack
    std::unique_ptr<Connection> connection;   ///< of any other; neither for a rank on its own or a shared array
  };

  Direction plan(MPI_Comm comm, const std::vector<Box3>& from, const std::vector<Box3>& to, Exchange& exchange) const;
  View3<T> transposed_of(int peer) const;  ///< of another rank, if it is shared
  template <class Add>
  void visit_peers(const char* name, const std::vector<Box3>& boxes, const Add& add);
  void run(const Direction& direction, View3<const T> source, View3<T> target);
  void pack(const Direction& direction, View3<const T> source) const;
  void move(const Direction& direction, View3<const T> source, View3<T> target) const;  ///< without packing

  int rank_ = 0;
  std::vector<Box3> to_;
  Buffer<T> own_;                        ///< the transposed array, unless it is shared
  std::unique_ptr<SharedArray> shared_;  ///< the transposed array of every rank
  View3<T> transposed_;
  Direction forward_, backward_;
};

}  // namespace sluice
