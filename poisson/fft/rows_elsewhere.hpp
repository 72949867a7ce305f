#pragma once
#include <complex>
#include <cstdint>

#include "core/support/real.hpp"

namespace sluice {

/// Rows first ... last - 1 of the coefficients of transforms along y, which are stored elsewhere than the others: at
/// `data`, planes `plane_distance` elements apart, rows as far apart as the others.
struct RowsElsewhere {
  std::complex<real>* data = nullptr;  ///< row `first` of the first plane; null if there are no such rows
  int first = 0, last = 0;
  std::int64_t plane_distance = 0;

  /// These rows from this column of this plane on.
  RowsElsewhere part_of(std::int64_t column, std::int64_t plane) const {
    if (data == nullptr) return *this;
    return {data + (column + plane * plane_distance), first, last, plane_distance};
  }
};

}  // namespace sluice
