#pragma once
// How z lines are solved on a grid: the strategy, and the blocks that it works on.
#include <cstdint>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/device/parallel_for.hpp"
#include "core/flow/tridiagonal_method.hpp"
#include "core/support/real.hpp"

namespace sluice {

/// Ways to solve the z lines of a process column. They agree to round-off; line_strategies() says which serve a grid.
enum class LineStrategy {
  transposed,   ///< lines made whole on each rank, then the Thomas algorithm
  whole_lines,  ///< CPU, z not split: both passes over all blocks while a bundle of lines is in the cache
  tiles,        ///< GPU, z not split: a few neighbouring lines at a time, held in shared memory
  condensed,    ///< GPU, z split: as two_passes_on_chip; each rank condenses its blocks to one before values travel
  two_passes_on_chip,  ///< GPU: lines are read twice; the second pass holds each block in shared memory
  two_passes           ///< lines are read twice, by the plain loops: on a GPU the reference for the others
};

/// The longest block, in rows, that a GPU's thread solves.
inline constexpr int max_rows_of_thread = 32;
/// Blocks of a line whose reduced system fits a GPU's shared memory, with room for a few lines.
inline constexpr int max_blocks_on_chip = 200;
/// Threads of a tile at the most: what registers leave room for.
inline constexpr int max_threads_of_tile = sizeof(real) == sizeof(double) ? 768 : 384;

/// Whether tiles serve these blocks: the pivots of a block fit the registers of a thread, and two tiles as wide as they
/// may be the shared memory (396 planes) and threads (24 blocks, in single precision) of a multiprocessor. Narrower
/// tiles take longer than two passes.
bool fit_tiles(const ZBlocks& blocks);
/// Whether blocks are short enough for a thread, and their reduced system fits shared memory.
bool fit_on_chip(const ZBlocks& blocks);

/// Strategies that serve a grid and method in this build, the fastest first.
std::vector<LineStrategy> line_strategies(const Decomposition& decomposition, TridiagonalMethod method);

/// The strategy and the blocks of one rank of a process column.
///
/// With `condensed`, `solved` and `reduced` differ. Each rank cuts its own planes into as few blocks as threads can
/// solve, since the values at their ends are read and written too, and condenses them to one: two values a line travel
/// from each rank. The arithmetic then depends on the process grid, as that of FFTs on GPUs does.
struct LinePlan {
  LineStrategy strategy = LineStrategy::two_passes;
  ZBlocks solved;                 ///< those that are eliminated row by row, of all ranks
  ZBlocks reduced;                ///< those whose boundary values make up the system of a whole line
  std::vector<int> first_blocks;  ///< of `solved`, for each rank of the column; then their number
  int rank = 0;                   ///< this rank in the column
  std::int64_t longest = 0;       ///< rows in the longest block of this rank; the others have at most one row less

  int first_block() const { return first_blocks[static_cast<std::size_t>(rank)]; }
  int blocks_here() const { return first_blocks[static_cast<std::size_t>(rank) + 1] - first_block(); }
  bool is_condensed() const { return strategy == LineStrategy::condensed; }
  /// Bounds of the planes that the ranks of the column send to make lines whole: rows, or boundary values.
  std::vector<std::int64_t> travelling_planes(const Decomposition& decomposition) const;
};

LinePlan plan_lines(const Decomposition& decomposition, int z_index, LineStrategy strategy);
/// With the fastest strategy.
LinePlan plan_lines(const Decomposition& decomposition, int z_index, TridiagonalMethod method);

/// Blocks that a rank cuts its planes into to condense them.
int condensed_blocks(std::int64_t planes);
/// For `condensed`: rank n of the column has the planes [bounds[n], bounds[n + 1]).
LinePlan plan_condensed(std::vector<std::int64_t> bounds, int z_index);

}  // namespace sluice
