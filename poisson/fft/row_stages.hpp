#pragma once
// How a transform along x of a given length is split into stages and over threads (fft_rows_kernel.hpp).
#include <algorithm>
#include <array>
#include <cstddef>

#include "core/device/tuning.hpp"
#include "poisson/fft/radices.hpp"
#include "poisson/fft/small_dft.hpp"

namespace sluice {

/// The stages of nx / 2 complex numbers.
struct RowStages : Radices {
  int rows;      ///< that a thread block transforms together
  int threads;   ///< of a block
  int resident;  ///< thread blocks on a multiprocessor at a time

  /// Numbers in shared memory for each n1 or k1: odd, so that neighbouring k1 are in different banks.
  constexpr int layer() const { return R2 * R3 | 1; }
  /// Numbers per row of the array: such that the first R2 R3 numbers of neighbouring rows, which (1) accesses together,
  /// are in consecutive banks.
  constexpr int row() const {
    constexpr int banks = device::memory_line / static_cast<int>(sizeof(ComplexPair));
    return R1 * layer() + ((R2 * R3 - R1 * layer()) % banks + banks) % banks;
  }
  /// Positions from which the first stage reads number m and to which the last one writes coefficient k.
  constexpr int place_before(int m) const { return m / (R2 * R3) * layer() + m % (R2 * R3); }
  constexpr int place_after(int k) const { return k % R1 * layer() + k / R1 % R2 * R3 + k / (R1 * R2); }
  constexpr std::size_t shared_bytes() const { return sizeof(ComplexPair) * static_cast<std::size_t>(rows * row()); }
};

namespace row_stages {

using tuning::fft::long_row_bytes_in_flight;
using tuning::fft::min_resident;
using tuning::fft::row_bytes_in_flight;

/// Radices with the largest powers of two first and last: if R1 is a multiple of 8, neighbouring threads access
/// different banks.
constexpr Radices ordered(const Radices& radices) {
  const auto power_of_two = [](int n) { return n & -n; };
  std::array<int, 3> sorted{radices.R1, radices.R2, radices.R3};
  std::sort(sorted.begin(), sorted.end(), [&](int a, int b) {
    return power_of_two(a) != power_of_two(b) ? power_of_two(a) > power_of_two(b) : a > b;
  });
  return {sorted[0], sorted[2], sorted[1]};
}

/// Numbers that a thread handles sequentially in all passes, idle threads included.
constexpr int numbers_in_turn(const RowStages& stages) {
  const int n = stages.rows * stages.length();
  const auto of = [&](int radix) { return radix > 1 ? (n / radix + stages.threads - 1) / stages.threads * radix : 0; };
  return of(stages.R1) + of(stages.R2) + of(stages.R3) + of(2);
}

}  // namespace row_stages

/// R1 = 0 if nx / 2 is not a product of three radices.
constexpr RowStages row_stages_of(int nx) {
  using namespace row_stages;
  const Radices ascending = radices_of(nx / 2);
  if (nx % 2 != 0 || ascending.R1 == 0) return {};
  const Radices radices = ordered(ascending);
  const int fit = threads_that_fit(radices.largest());
  const int one_row = static_cast<int>(RowStages{radices, 1, 0, 0}.shared_bytes());
  const int in_flight = std::clamp(min_resident * one_row, row_bytes_in_flight, long_row_bytes_in_flight);
  RowStages best{};
  double min_time = 0;
  for (int threads = 128; threads * min_resident <= fit; threads += 32) {
    for (int rows = 1; rows <= 64; ++rows) {
      RowStages stages{radices, rows, threads, 0};
      stages.resident = std::min({fit / threads, in_flight / static_cast<int>(stages.shared_bytes()), 16});
      if (stages.resident < min_resident) break;
      const double time = static_cast<double>(numbers_in_turn(stages)) / (rows * stages.resident);
      if (min_time == 0 || time < min_time) {  // of equal times the first, which has the most blocks
        min_time = time;
        best = stages;
      }
    }
  }
  return best;
}

}  // namespace sluice
