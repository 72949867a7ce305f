#pragma once
// Discrete Fourier transforms by the sums that define them, in long double: slow and exact.
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace sluice::test {

using Exact = std::complex<long double>;

/// exp(sign 2 pi i k / n) for k = 0 ... n - 1; sign is -1 for a forward transform.
inline std::vector<Exact> roots_of_unity(std::int64_t n, int sign) {
  std::vector<Exact> roots;
  for (std::int64_t k = 0; k < n; ++k) {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    roots.emplace_back(std::cos(angle), static_cast<long double>(sign) * std::sin(angle));
  }
  return roots;
}

/// All coefficients of one line of values, unscaled.
inline std::vector<Exact> exact_dft(const std::vector<Exact>& values, int sign) {
  const auto n = static_cast<std::int64_t>(values.size());
  const std::vector<Exact> roots = roots_of_unity(n, sign);
  std::vector<Exact> sums(values.size());
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t j = 0; j < n; ++j)
      sums[static_cast<std::size_t>(k)] +=
          values[static_cast<std::size_t>(j)] * roots[static_cast<std::size_t>(k * j % n)];
  }
  return sums;
}

/// The same along all axes of an array with x fastest, then y, then z.
inline std::vector<Exact> exact_dft_3d(std::vector<Exact> values, const std::array<std::int64_t, 3>& cells, int sign) {
  const std::array<std::int64_t, 3> stride{1, cells[0], cells[0] * cells[1]};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto length = static_cast<std::size_t>(cells[axis]);
    std::vector<Exact> line(length);
    for (std::int64_t first = 0; first < static_cast<std::int64_t>(values.size()); ++first) {
      if (first / stride[axis] % cells[axis] != 0) continue;
      const auto at = [&](std::size_t n) {
        return static_cast<std::size_t>(first + static_cast<std::int64_t>(n) * stride[axis]);
      };
      for (std::size_t n = 0; n < length; ++n) line[n] = values[at(n)];
      const std::vector<Exact> sums = exact_dft(line, sign);
      for (std::size_t n = 0; n < length; ++n) values[at(n)] = sums[n];
    }
  }
  return values;
}

}  // namespace sluice::test
