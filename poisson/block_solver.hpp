#pragma once
#include <cstddef>

#include "core/decomp/decomposition.hpp"
#include "poisson/block_shape.hpp"
#include "poisson/tridiagonal_kernels.hpp"

namespace sluice {

/// How a GPU build solves by blocks. All agree to round-off.
enum class BlockMethod {
  fastest,    ///< lines in shared memory where a rank has them whole and they fit, else as `registers`
  registers,  ///< blocks in registers where they fit, else plain
  plain       ///< the kernels of tridiagonal_kernels.hpp: the reference
};

/// Kernels for GPUs that hold the rows of a block in registers (block_launch_cuda.hpp). In a CPU build they are not
/// defined. Whether they serve a grid depends on its blocks alone, so that it is the same on every process grid.
template <class Lines>
struct RegisterKernels {
  /// Whether the blocks fit the registers of a thread, and a reduced system shared memory.
  static bool hold(const ZBlocks& blocks) { return blocks.longest() <= longest_shape && blocks.count() <= 200; }

  /// FormBoundary, SolveReduced and SolveInterior. `longest`: rows in the grid's longest block.
  static void form_boundary(const Lines& lines, const LineArray& d, const LineArray& boundary, int first_block,
                            int blocks, std::int64_t longest);
  static void solve_reduced(const Lines& lines, const LineArray& values);
  /// JoinBlocksOfRank and PartBlocksOfRank; see there.
  static void join_blocks(const Lines& lines, const LineArray& values, const LineArray& ends);
  static void part_blocks(const Lines& lines, const LineArray& values, const LineArray& ends);
  static void solve_interior(const Lines& lines, const LineArray& x, const LineArray& boundary, int first_block,
                             int blocks, std::int64_t longest);
};

}  // namespace sluice
