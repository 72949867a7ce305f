#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/memory_need.hpp"
#include "core/decomp/view3.hpp"
#include "core/support/box3.hpp"

namespace sluice {

/// Moves an array of T between two splittings of the same global box over the ranks of a communicator: an exact
/// permutation. T is real or std::complex<real>. The caller owns the array in the first splitting. This object owns the
/// one in the second, because with some exchanges other ranks write to it and read from it. The rank's own block is
/// copied directly, never sent.
template <class T>
class Transpose {
 public:
  /// from[r] and to[r]: the boxes of rank r of `comm`, in global indices, the same list on all its ranks. `comm`
  /// and `exchange` must outlive this object. Construction and destruction are collective over the ranks of `exchange`.
  Transpose(MPI_Comm comm, const std::vector<Box3>& from, const std::vector<Box3>& to, Exchange& exchange);
  /// Memory of such a transpose, both ways, on rank `rank` of the communicator. Local.
  static ExchangeNeed memory(const std::vector<Box3>& from, const std::vector<Box3>& to, int rank);

  /// The array in the second splitting, on the rank's to-box: no halo, rows row_length() apart, zeroed at first. Row
  /// padding is unspecified.
  View3<T> transposed() { return transposed_; }
  /// Elements from row to row: a multiple of the unit in which a GPU's memory and links move data.
  static std::int64_t row_length(const Box3& box) { return Transposer::row_length(box, sizeof(T)); }

  /// From `source`, on the rank's from-box, to transposed(). Does not read the halo. Collective over the communicator.
  void forward(View3<const T> source);
  /// The inverse: from transposed(), which is not changed, to `target`, on the rank's from-box. Does not write the
  /// halo.
  void backward(View3<T> target);

 private:
  /// The parts of a caller's array for each rank. Starts at the rank itself, so that not all send to one rank.
  Parts parts_of(View3<const T> array) const;

  int rank_ = 0;
  Box3 own_;                  ///< in the first splitting
  std::vector<Box3> common_;  ///< its intersection with each rank's to-box
  std::unique_ptr<Transposer> transposer_;
  View3<T> transposed_;
};

}  // namespace sluice
