#pragma once
// How z lines are solved on a grid: the strategy and its blocks.
#include <cstdint>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/device/parallel_for.hpp"
#include "core/device/traits.hpp"
#include "core/stencil/tridiagonal_method.hpp"

namespace sluice {

/// Ways to solve the z lines of a process column. They agree to round-off.
enum class LineStrategy {
  transposed,   ///< lines made local to a rank, then the Thomas algorithm
  whole_lines,  ///< CPU, z not split: both passes over all blocks while a bundle of lines is in cache
  two_passes,   ///< CPU, z split: lines are read twice; boundary values are exchanged in between
  tiles,        ///< GPU, z not split: a few neighbouring lines at a time in shared memory, tall ones in parts
  split_tiles,  ///< GPU, z split: tiles of each rank's rows, whose ends are found first
  condensed     ///< GPU: lines are read twice, by blocks in shared memory; each rank condenses its blocks to one
};

/// How the z blocks of lines are cut into parts, each of which a thread block holds.
struct TileParts {
  int count = 0;  ///< of parts; 0: tiles cannot be used
  int max_blocks = 0, max_rows = 0;
  int max_inner_rows = 0;  ///< rows that are neither the first nor the last one of a block
};

/// The first of `blocks` blocks that part n of `parts` has.
SLUICE_INLINE int first_block_of_part(int n, int parts, int blocks) {
  return n * blocks / parts;
}

/// The parts if there are `count` of them. Blocks must have two rows or more.
TileParts cut_into_parts(const ZBlocks& blocks, int count);

/// With the fewest parts, at most `max_parts`, that fit a GPU (tuning.hpp).
TileParts parts_of_tiles(const ZBlocks& blocks, int max_parts);

/// The z blocks of a grid as tiles use them: shorter ones where lines can then be cut into fewer parts.
ZBlocks blocks_of_tiles(const ZBlocks& blocks, int max_parts);

/// The fastest strategy for a grid and method: on a GPU or a CPU; without `on_gpu`, where this build runs.
LineStrategy line_strategy(const Decomposition& decomposition, TridiagonalMethod method, bool on_gpu = loops_on_gpu);

/// Its name in results of benchmarks: transposed, whole_lines, ...
const char* name(LineStrategy strategy);

/// Words per value that it reads and writes to solve lines.
constexpr int words_of(LineStrategy strategy) {
  return strategy == LineStrategy::condensed || strategy == LineStrategy::two_passes ? 3 : 2;
}

/// The strategy and the blocks of one rank of a process column.
///
/// With `condensed` and `split_tiles`, `solved` and `reduced` differ. Each rank splits its planes into blocks that
/// threads can solve, with `condensed` into the fewest, to limit memory traffic of boundary values, and condenses them
/// to one: each rank sends two values per line. The arithmetic then depends on the process grid, like that of FFTs on
/// GPUs.
struct LinePlan {
  LineStrategy strategy;
  ZBlocks solved;                 ///< blocks that are eliminated row by row, of all ranks
  ZBlocks reduced;                ///< blocks whose boundary values form the system of a whole line
  std::vector<int> first_blocks;  ///< first of `solved` on each rank of the column; then their count
  /// Rank n of the column sends the planes (rows or boundary values) [bounds[n], bounds[n + 1]) to make lines whole.
  std::vector<std::int64_t> exchanged_planes;
  int rank;  ///< this rank in the column
  TileParts tile_parts = {};
  int systems = 1;  ///< whose boundary values are exchanged together; more only if is_condensed()

  int first_block() const { return first_blocks[static_cast<std::size_t>(rank)]; }
  int blocks_here() const { return first_blocks[static_cast<std::size_t>(rank) + 1] - first_block(); }
  /// Rows in this rank's longest block; others have at most one less.
  std::int64_t longest() const;
  /// The rank's first row, and how many it has.
  int first_row() const { return static_cast<int>(*(solved.bounds().begin() + first_block())); }
  int rows() const {
    return static_cast<int>(*(solved.bounds().begin() + first_block() + blocks_here())) - first_row();
  }
  bool is_condensed() const { return strategy == LineStrategy::condensed || strategy == LineStrategy::split_tiles; }
};

LinePlan plan_lines(const Decomposition& decomposition, int z_index, LineStrategy strategy);
/// With the fastest strategy.
LinePlan plan_lines(const Decomposition& decomposition, int z_index, TridiagonalMethod method);
/// For strategies that condense: rank n of the column has the planes [bounds[n], bounds[n + 1]). `max_parts`: of a
/// tile.
LinePlan plan_condensed(const std::vector<std::int64_t>& bounds, int z_index, LineStrategy strategy,
                        int max_parts = device::max_thread_blocks_together());

}  // namespace sluice
