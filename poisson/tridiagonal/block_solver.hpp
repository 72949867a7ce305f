#pragma once
#include <cstddef>

#include "core/decomp/decomposition.hpp"
#include "poisson/tridiagonal/block_shape.hpp"
#include "poisson/tridiagonal/tridiagonal_kernels.hpp"

namespace sluice {

/// How a GPU build solves by blocks. All agree to round-off.
enum class BlockMethod {
  tiles,       ///< lines in shared memory where a rank has them whole and they fit, else as `two_passes`
  two_passes,  ///< lines are read twice, blocks solved in shared memory where they fit, else plain
  plain        ///< the kernels of tridiagonal_kernels.hpp: the reference
};

/// Blocks of a line whose reduced system fits shared memory, with room for a few lines.
inline constexpr int most_blocks_of_line = 200;

/// Kernels for GPUs that read lines twice and solve the inside of blocks in shared memory (block_kernels.hpp,
/// block_launch_cuda.hpp). In a CPU build they are not defined.
template <class Lines>
struct BlockKernels {
  /// Whether the blocks of a grid are short enough for a thread, and a reduced system fits shared memory.
  static bool hold(const ZBlocks& blocks) {
    return blocks.longest() <= longest_shape && blocks.count() <= most_blocks_of_line;
  }

  /// FormBoundary, SolveReduced and SolveInterior. `longest`: rows in the longest of these blocks, whose lengths differ
  /// by one row at most.
  static void form_boundary(const Lines& lines, const LineArray& d, const LineArray& boundary, int first_block,
                            int blocks);
  static void solve_reduced(const Lines& lines, const LineArray& values);
  /// JoinBlocksOfRank and PartBlocksOfRank; see there.
  static void join_blocks(const Lines& lines, const LineArray& values, const LineArray& ends);
  static void part_blocks(const Lines& lines, const LineArray& values, const LineArray& ends);
  static void solve_interior(const Lines& lines, const LineArray& x, const LineArray& boundary, int first_block,
                             int blocks, std::int64_t longest);
};

}  // namespace sluice
