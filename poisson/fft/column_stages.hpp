#pragma once
// How a transform along y of a given length is split into stages and over threads (fft_columns_kernel.hpp).
#include <algorithm>
#include <cstddef>

#include "core/device/tuning.hpp"
#include "poisson/fft/radices.hpp"
#include "poisson/fft/small_dft.hpp"

namespace sluice {

/// The stages of a column.
struct ColumnStages : Radices {
  int columns;   ///< that a thread block transforms together
  int threads;   ///< for each of them
  int resident;  ///< thread blocks on a multiprocessor at a time

  /// Rows of shared memory for R3 values: an odd number if two rows fill the banks; otherwise (3) would use only half
  /// of the banks.
  constexpr int group() const {
    return columns * sizeof(ComplexPair) < device::memory_line && R3 % 2 == 0 ? R3 + 1 : R3;
  }
  constexpr int layer() const { return R2 * group(); }  ///< rows for each n1 or k1
  constexpr std::size_t shared_bytes() const {
    return sizeof(ComplexPair) * static_cast<std::size_t>(R1 * layer() * columns);
  }
};

namespace column_stages {

constexpr int rounds(const ColumnStages& stages, int threads) {
  const int n = stages.length();
  const auto of = [&](int radix) { return radix > 1 ? (n / radix + threads - 1) / threads : 0; };
  return of(stages.R1) + of(stages.R2) + of(stages.R3);
}

}  // namespace column_stages

/// R1 = 0 if the length is not a product of three radices.
constexpr ColumnStages stages_of(int length) {
  using namespace column_stages;
  ColumnStages stages{radices_of(length), 0, 0, 0};
  if (stages.R1 == 0) return stages;
  const int columns_of_64_bytes = 64 / static_cast<int>(sizeof(ComplexPair));
  stages.columns = columns_of_64_bytes * (length <= 384 ? 4 : length <= 768 ? 2 : 1);
  constexpr int columns_of_sector = device::memory_sector / static_cast<int>(sizeof(ComplexPair));
  while (stages.shared_bytes() > tuning::fft::max_bytes_of_columns && stages.columns > columns_of_sector)
    stages.columns /= 2;
  const int fit = threads_that_fit(stages.largest()) / stages.columns;
  const int by_memory = std::max<int>(1, static_cast<int>(tuning::fft::column_bytes_in_flight / stages.shared_bytes()));
  double min_time = 0;
  for (int threads = 1; threads <= fit; ++threads) {
    const int resident = std::min({by_memory, fit / threads, 16});
    const double time = static_cast<double>(column_stages::rounds(stages, threads)) / resident;
    if (min_time == 0 || time < min_time) {  // ties: the first, with the most blocks
      min_time = time;
      stages.threads = threads;
      stages.resident = resident;
    }
  }
  return stages;
}

}  // namespace sluice
