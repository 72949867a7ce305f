#pragma once
// Arrays whose cells hold their global index, to be compared exactly after they have travelled.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "core/decomp/view3.hpp"
#include "core/device/buffer.hpp"
#include "core/support/box3.hpp"
#include "core/support/real.hpp"

namespace sluice::test {

/// The value of a cell that has not been written.
inline constexpr double untouched = -1;

/// Position of a cell in the global array `cells`, x fastest, plus `shift` to tell arrays apart.
inline double index_value(const std::array<std::int64_t, 3>& cells, std::int64_t i, std::int64_t j, std::int64_t k,
                          int shift) {
  return static_cast<double>(i + cells[0] * (j + cells[1] * k) + 10000 * shift);
}

template <class T>
T as_element(double value) {
  return static_cast<T>(value);
}
template <>
inline std::complex<real> as_element<std::complex<real>>(double value) {
  return {static_cast<real>(value), static_cast<real>(-2 * value)};
}

/// A device array over the box, with longer rows than needed and a layer around it in y and z: the margin,
/// which no exchange may touch.
template <class T>
class IndexArray {
 public:
  IndexArray(const std::array<std::int64_t, 3>& cells, const Box3& box)
      : cells_(cells),
        box_(box),
        row_(box.extent(0) + 3),
        rows_(box.extent(1) + 2),
        planes_(box.extent(2) + 2),
        data_(static_cast<std::size_t>(row_ * rows_ * planes_)) {
    clear();
  }

  View3<T> view() {
    return contiguous_view(data_.data(), static_cast<int>(row_), static_cast<int>(rows_), static_cast<int>(planes_))
        .seen_from(1, 1);
  }

  void clear() { data_.upload(std::vector<T>(data_.size(), as_element<T>(untouched))); }
  void fill(int shift) { data_.upload(expected(shift)); }

  /// Number of elements, the margin included, that are not what fill(shift) would have put there.
  std::int64_t mismatches(int shift) const {
    const std::vector<T> wanted = expected(shift);
    const std::vector<T> found = data_.download();
    std::int64_t count = 0;
    for (std::size_t n = 0; n < wanted.size(); ++n) count += found[n] == wanted[n] ? 0 : 1;
    return count;
  }

 private:
  std::vector<T> expected(int shift) const {
    std::vector<T> values(data_.size(), as_element<T>(untouched));
    for (std::int64_t k = box_.lo[2]; k < box_.hi[2]; ++k) {
      for (std::int64_t j = box_.lo[1]; j < box_.hi[1]; ++j) {
        const std::int64_t row = row_ * ((j - box_.lo[1] + 1) + rows_ * (k - box_.lo[2] + 1));
        for (std::int64_t i = box_.lo[0]; i < box_.hi[0]; ++i) {
          values[static_cast<std::size_t>(row + i - box_.lo[0])] = as_element<T>(index_value(cells_, i, j, k, shift));
        }
      }
    }
    return values;
  }

  std::array<std::int64_t, 3> cells_;
  Box3 box_;
  std::int64_t row_, rows_, planes_;
  Buffer<T> data_;
};

/// Number of elements over the box that do not hold their index, in a device array without halo.
template <class T>
std::int64_t mismatches(View3<const T> array, const std::array<std::int64_t, 3>& cells, const Box3& box, int shift) {
  if (box.empty()) return 0;
  std::vector<T> found(static_cast<std::size_t>(array.stride_z * box.nz()));
  device::copy(found.data(), array.origin, found.size() * sizeof(T));
  std::int64_t count = 0;
  for (int k = 0; k < box.nz(); ++k) {
    for (int j = 0; j < box.ny(); ++j) {
      const T* const row = found.data() + k * array.stride_z + j * array.stride_y;
      for (int i = 0; i < box.nx(); ++i) {
        const double wanted = index_value(cells, box.lo[0] + i, box.lo[1] + j, box.lo[2] + k, shift);
        count += row[i] == as_element<T>(wanted) ? 0 : 1;
      }
    }
  }
  return count;
}

}  // namespace sluice::test
