#pragma once
// Host code shared by our own kernels for transforms along x and y.
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "core/device/traits.hpp"
#include "poisson/fft/kernel_lengths.hpp"
#include "poisson/fft/small_dft.hpp"

namespace sluice::cuda {

/// Kernels::of<length>() for the lengths of kernel_lengths; none for others.
template <class Kernels>
auto kernel_of_length(int length) {
  static constexpr auto kernels = []<int... n>(std::integer_sequence<int, n...>) {
    return std::array{Kernels::template of<kernel_lengths::at(n)>()...};
  }
  (std::make_integer_sequence<int, kernel_lengths::count>());
  for (int n = 0; n < kernel_lengths::count; ++n) {
    if (kernel_lengths::at(n) == length) return kernels[static_cast<std::size_t>(n)];
  }
  return decltype(Kernels::template of<kernel_lengths::unit>()){};
}

/// Whether a thread block may have this many bytes of shared memory.
inline bool has_shared(std::size_t bytes) {
  return bytes <= device::multiprocessors().max_shared_bytes_of_block;
}

/// exp(-2 pi i m / n) for m < n
inline std::vector<ComplexPair> twiddles_of(int n) {
  std::vector<ComplexPair> twiddles(static_cast<std::size_t>(n));
  for (int m = 0; m < n; ++m) {
    const double angle = -2 * std::numbers::pi * m / n;
    twiddles[static_cast<std::size_t>(m)] = {static_cast<real>(std::cos(angle)), static_cast<real>(std::sin(angle))};
  }
  return twiddles;
}

}  // namespace sluice::cuda
