#pragma once
#include <complex>
#include <cstdint>

#include "core/support/real.hpp"

namespace sluice {

/// Rows first ... last - 1 of the transforms along y of an array, which lie elsewhere than the others: at `data`,
/// planes this many elements apart, rows as far apart as in the array.
struct RowsElsewhere {
  std::complex<real>* data = nullptr;  ///< row `first` of the first plane; null if there are no such rows
  int first = 0, last = 0;
  std::int64_t plane = 0;

  /// These rows from column `column` of plane `plane_index` on.
  RowsElsewhere part_of(std::int64_t column, std::int64_t plane_index) const {
    return data == nullptr ? *this : RowsElsewhere{data + (column + plane_index * plane), first, last, plane};
  }
};

}  // namespace sluice
