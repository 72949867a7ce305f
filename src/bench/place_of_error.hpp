#pragma once
// The largest error of an array and where it is. Only for files of kernels.
#include <cstdint>
#include <limits>

#include "core/device/parallel_for.hpp"
#include "core/support/box3.hpp"
#include "src/bench/known_field.hpp"

namespace sluice {

/// One more than the local index of a cell with an error that is `largest` or not finite; 0 for other cells.
template <class ErrorOfCell>
struct PlaceOfError {
  ErrorOfCell error;
  double largest;
  std::int64_t nx, ny;

  SLUICE_INLINE double operator()(Cell c) const {
    const double of_cell = error(c);
    if (of_cell < largest) return 0;
    if (of_cell * 0 == 0 && !(largest * 0 == 0)) return 0;
    return static_cast<double>(1 + c.i + nx * (c.j + ny * static_cast<std::int64_t>(c.k)));
  }
};

/// The largest error(cell) on this rank, whose part of a global array is `box`.
template <class ErrorOfCell>
Deviation largest_error(const ErrorOfCell& error, const Box3& box) {
  const double largest = reduce_max("largest error", box.local(), error);
  if (largest == 0) return {};
  const PlaceOfError<ErrorOfCell> place{error, largest, box.extent(0), box.extent(1)};
  const auto n = static_cast<std::int64_t>(reduce_max("place of the error", box.local(), place)) - 1;
  return {largest * 0 == 0 ? largest : std::numeric_limits<double>::infinity(),
          {box.lo[0] + n % box.extent(0), box.lo[1] + n / box.extent(0) % box.extent(1),
           box.lo[2] + n / box.extent(0) / box.extent(1)}};
}

}  // namespace sluice
