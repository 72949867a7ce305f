#pragma once
#include <cstddef>

#include "core/decomp/decomposition.hpp"
#include "poisson/tridiagonal_kernels.hpp"

namespace sluice {

/// How a GPU build solves by blocks. All agree to round-off, the first two to the bit.
enum class BlockMethod {
  fastest,    ///< reads each line once where z is not split over ranks, else as in_passes; plain where that cannot be
  in_passes,  ///< the passes of P-TDMA one by one, blocks in registers, as where z is split
  plain       ///< the kernels of tridiagonal_kernels.hpp: the reference
};

/// Kernels for GPUs that hold the rows of a block in registers (block_launch_cuda.hpp). In a CPU build they are not
/// defined. Which serve a grid depends on its blocks alone, so that it is the same on every process grid.
template <class Lines>
struct RegisterKernels {
  /// Whether the blocks fit the registers of a thread, and a reduced system shared memory.
  static bool hold(const ZBlocks& blocks) { return blocks.longest() <= 32 && blocks.count() <= 200; }
  /// Whether all blocks of a few neighbouring lines fit one block of threads.
  static bool hold_whole_lines(const ZBlocks& blocks) {
    return hold(blocks) && lines_at_once(blocks.longest(), blocks.count()) > 0;
  }

  /// Threads in a block of solve_at_once: as many as leave each one the registers that it needs.
  static constexpr int threads_at_once(std::int64_t longest) {
    if (longest <= 16) return 512;
    return longest <= 17 || Lines::components == 1 ? 384 : 256;
  }
  /// Neighbouring lines that solve_at_once takes together: 128 bytes of a row, or 32 if there are many blocks; 0 if not
  /// even these fit.
  static constexpr int lines_at_once(std::int64_t longest, int blocks) {
    constexpr auto bytes = static_cast<int>(Lines::components * sizeof(real));
    for (int across = 128 / bytes; across * bytes >= 32; across /= 2) {
      if (across * blocks <= threads_at_once(longest)) return across;
    }
    return 0;
  }

  /// FormBoundary, SolveReduced and SolveInterior. `longest`: rows in the grid's longest block.
  static void form_boundary(const Lines& lines, const LineArray& d, const LineArray& boundary, int first_block,
                            int blocks, std::int64_t longest);
  static void solve_reduced(const Lines& lines, const LineArray& values);
  static void solve_interior(const Lines& lines, const LineArray& x, const LineArray& boundary, int first_block,
                             int blocks, std::int64_t longest);

  /// All in one, where z is not split over ranks: the same bits.
  static void solve_at_once(const Lines& lines, const LineArray& x, std::int64_t longest);
};

}  // namespace sluice
