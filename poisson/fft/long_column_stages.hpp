#pragma once
// How a transform along y that is too long for one thread block is split into stages, and over the thread blocks of a
// cluster and their threads (long_columns_kernel.hpp).
#include <algorithm>
#include <cstddef>

#include "core/device/traits.hpp"
#include "core/device/tuning.hpp"
#include "poisson/fft/radices.hpp"
#include "poisson/fft/small_dft.hpp"

namespace sluice {

/// N = R1 R2 R3 R4.
struct LongColumnStages {
  int R1, R2, R3, R4;

  /// That a cluster transforms together.
  static constexpr int columns = tuning::fft::bytes_of_long_columns / static_cast<int>(sizeof(ComplexPair));

  constexpr int length() const { return R1 * R2 * R3 * R4; }
  constexpr int largest() const { return std::max({R1, R2, R3, R4}); }
  /// Rows of shared memory for R4 values: an odd number, so that (4) uses all banks where two rows fill them.
  constexpr int group() const { return R4 | 1; }
  constexpr int layer() const { return R2 * R3 * group(); }  ///< rows for each k1
  /// Of each of `parts` thread blocks.
  constexpr std::size_t shared_bytes(int parts) const {
    return sizeof(ComplexPair) * static_cast<std::size_t>(R1 / parts * layer() * columns);
  }
};

/// Threads of a multiprocessor if each holds a transform of `radix` points in registers, with 32 registers for the
/// rest. Each quarter of a multiprocessor has its own registers and holds whole warps.
constexpr int threads_for_long_columns(int radix) {
  constexpr int quarters = 4, max_threads = 1024;
  const int registers = (radix * static_cast<int>(sizeof(ComplexPair)) / 4 + 32 + 7) / 8 * 8;
  const int warps = quarters * (device::registers / quarters / (registers * device::warp));
  return std::min(device::warp * warps, max_threads);
}

/// Thread blocks for which a multiprocessor has registers at least, if there is memory for them.
inline constexpr int min_blocks_of_long_columns = 2;

/// Radices of which the largest is smallest, and then their sum, and then the shared memory. R1 = 0 if there are none.
/// Every cluster can divide R1.
constexpr LongColumnStages long_stages_of(int length) {
  LongColumnStages best{};
  int min_price = 0;
  for (int R1 = device::cluster_of_any; R1 <= largest_radix; R1 += device::cluster_of_any) {
    for (int R2 = 2; R2 <= largest_radix; ++R2) {
      for (int R3 = 2; R3 <= largest_radix; ++R3) {
        if (length % (R1 * R2 * R3) != 0) continue;
        const LongColumnStages stages{R1, R2, R3, length / (R1 * R2 * R3)};
        if (stages.R4 < 2 || !is_radix(R1) || !is_radix(R2) || !is_radix(R3) || !is_radix(stages.R4)) continue;
        const int price = 10'000'000 * stages.largest() + 100'000 * (R1 + R2 + R3 + stages.R4) + R1 * stages.layer();
        if (min_price == 0 || price < min_price) {
          min_price = price;
          best = stages;
        }
      }
    }
  }
  return best;
}

/// How such a transform is launched.
struct LongColumnLaunch {
  int parts;     ///< thread blocks of a cluster; 0 if the GPU has too little shared memory
  int threads;   ///< for each column
  int resident;  ///< thread blocks on a multiprocessor at a time
};

/// On multiprocessors like these, of which up to `max_parts` can share their shared memory: in the smallest clusters
/// that let a multiprocessor hold a few thread blocks, so that some read and write while others compute.
constexpr LongColumnLaunch long_launch_of(const LongColumnStages& stages, const device::Multiprocessors& on,
                                          int max_parts) {
  constexpr int columns = LongColumnStages::columns;
  LongColumnLaunch launch{};
  int by_memory = 0;
  for (int parts = 1; parts <= std::min(max_parts, device::cluster_of_any); parts *= 2) {
    const std::size_t bytes = stages.shared_bytes(parts);
    if (bytes > on.max_shared_bytes_of_block) continue;
    const std::size_t data = sizeof(ComplexPair) * static_cast<std::size_t>(stages.length() / parts * columns);
    const std::size_t fit =
        std::min(tuning::fft::column_bytes_in_flight / data, on.shared_bytes / (bytes + on.reserved_bytes_of_block));
    by_memory = std::max(1, static_cast<int>(fit));
    launch.parts = parts;
    if (by_memory >= tuning::fft::min_resident) break;
  }
  if (launch.parts == 0) return launch;
  const int numbers = stages.length() / launch.parts;
  const int fit = threads_for_long_columns(stages.largest()) / columns;
  constexpr int step = std::max(1, device::warp / columns);  // whole warps
  const int together = std::clamp(by_memory, min_blocks_of_long_columns, tuning::fft::min_resident);
  double min_time = 0;
  for (int threads = step; threads * together <= fit; threads += step) {
    const auto in_turn = [&](int radix) { return (numbers / radix + threads - 1) / threads * radix; };
    const int resident = std::min({by_memory, fit / threads, 16});
    const int all = in_turn(stages.R1) + in_turn(stages.R2) + in_turn(stages.R3) + in_turn(stages.R4);
    const double time = static_cast<double>(all) / resident;
    if (min_time == 0 || time < min_time) {  // ties: the first, with the most blocks
      min_time = time;
      launch.threads = threads;
      launch.resident = resident;
    }
  }
  return launch;
}

}  // namespace sluice
