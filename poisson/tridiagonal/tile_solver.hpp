#pragma once
#include <cstddef>

#include "core/decomp/decomposition.hpp"
#include "poisson/tridiagonal/line_tiles.hpp"

namespace sluice {

/// Threads of a tile at the most: what registers leave room for.
inline constexpr int most_threads_of_tile = sizeof(real) == sizeof(double) ? 768 : 384;

/// Whether tiles serve whole lines of a grid: the pivots of a block fit the registers of a thread, and two tiles as
/// wide as they may be the shared memory (396 planes) and threads (24 blocks, in single precision) of a multiprocessor.
/// Narrower tiles take longer than the two passes of BlockKernels, which get the others.
inline bool tiles_hold(const ZBlocks& blocks) {
  return blocks.longest() <= longest_shape && blocks.planes() <= 396 && blocks.count() <= 24;
}

/// Kernels for GPUs that hold tiles of lines in shared memory (line_tiles.hpp). In a CPU build they are not defined.
template <class Lines>
struct TileKernels {
  /// Solves whole lines of `planes` rows in place, `longest` of them in the longest block.
  static void solve(const Lines& lines, const LineArray& x, int planes, std::int64_t longest);
};

}  // namespace sluice
