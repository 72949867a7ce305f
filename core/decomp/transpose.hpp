#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/view3.hpp"
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

  /// The array in the second splitting, the rank's to-box: without halo, rows row_length() apart, zeroed at first. Row
  /// padding is unspecified.
  View3<T> transposed() { return transposed_; }
  /// The elements from row to row: a whole number of the pieces in which a GPU's memory and links move data.
  static std::int64_t row_length(const Box3& box) { return Transposer::row_length(box, sizeof(T)); }

  /// From `source`, the rank's from-box, whose halo is not read, to transposed(). Collective over the communicator.
  void forward(View3<const T> source);
  /// The inverse: from transposed(), which stays as it is, to `target`, the rank's from-box, whose halo is not written.
  void backward(View3<T> target);

 private:
  /// The parts of a caller's array that go to each rank, the next rank first, not all ranks to the same one at once.
  Parts parts_of(View3<const T> array) const;

  int rank_ = 0;
  Box3 own_;                  ///< in the first splitting
  std::vector<Box3> common_;  ///< of it with each rank's to-box
  std::unique_ptr<Transposer> transposer_;
  View3<T> transposed_;
};

}  // namespace sluice
