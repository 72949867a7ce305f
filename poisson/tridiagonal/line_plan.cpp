#include "poisson/tridiagonal/line_plan.hpp"

#include <algorithm>
#include <utility>

#include "core/device/tuning.hpp"

namespace sluice {

using namespace tuning::lines;

namespace {

/// Bounds of the planes of each rank of a column.
std::vector<std::int64_t> rank_bounds(const Decomposition& decomposition) {
  const ProcessGrid& processes = decomposition.processes();
  std::vector<std::int64_t> bounds{0};
  for (int z = 0; z < processes.pz; ++z) bounds.push_back(decomposition.x_pencil(processes.rank(0, z)).hi[2]);
  return bounds;
}

/// Number of blocks into which a rank splits its planes to condense them.
int condensed_blocks(std::int64_t planes) {
  return static_cast<int>((planes + max_rows_of_thread - 1) / max_rows_of_thread);
}

/// The blocks into which a rank splits its planes.
ZBlocks blocks_of_rank(std::int64_t planes, LineStrategy strategy) {
  const int count = strategy == LineStrategy::condensed
                        ? condensed_blocks(planes)
                        : static_cast<int>((planes + rows_of_tile_block - 1) / rows_of_tile_block);
  return {planes, count};
}

/// Whether the systems of each rank's blocks and of all ranks fit shared memory.
bool fit_condensed(const Decomposition& decomposition) {
  const std::vector<std::int64_t> bounds = rank_bounds(decomposition);
  int max_blocks = decomposition.processes().pz;
  for (std::size_t n = 0; n + 1 < bounds.size(); ++n)
    max_blocks = std::max(max_blocks, condensed_blocks(bounds[n + 1] - bounds[n]));
  return max_blocks <= max_blocks_on_chip;
}

}  // namespace

TileParts cut_into_parts(const ZBlocks& blocks, int count) {
  TileParts parts{.count = count};
  const auto first = [&](int part) { return first_block_of_part(part, count, blocks.count()); };
  for (int part = 0; part < count; ++part) {
    const auto bounds = blocks.bounds().begin();
    const int own = first(part + 1) - first(part);
    const auto rows = static_cast<int>(bounds[first(part + 1)] - bounds[first(part)]);
    parts.max_blocks = std::max(parts.max_blocks, own);
    parts.max_rows = std::max(parts.max_rows, rows);
    parts.max_inner_rows = std::max(parts.max_inner_rows, rows - 2 * own);
  }
  return parts;
}

TileParts parts_of_tiles(const ZBlocks& blocks, int max_parts) {
  if (blocks.longest() > max_rows_of_thread) return {};
  for (int count = 1; count <= std::min(max_parts, blocks.count()); count *= 2) {
    const TileParts parts = cut_into_parts(blocks, count);
    const bool fit_memory = max_parts == 1
                                ? parts.max_rows <= max_rows_without_clusters
                                : parts.max_rows <= max_rows_of_part && parts.max_inner_rows <= max_inner_rows_of_part;
    if (fit_memory && parts.max_blocks <= max_blocks_of_part) return parts;
  }
  return {};
}

ZBlocks blocks_of_tiles(const ZBlocks& blocks, int max_parts) {
  const int parts = parts_of_tiles(blocks, max_parts).count;
  if (parts == 1 || blocks.longest() > max_rows_of_thread) return blocks;
  const ZBlocks shorter = blocks_of_rank(blocks.planes(), LineStrategy::tiles);
  const int parts_of_shorter = parts_of_tiles(shorter, max_parts).count;
  return parts_of_shorter > 0 && (parts == 0 || parts_of_shorter < parts) ? shorter : blocks;
}

namespace {

TileParts parts_of_split_tiles(std::int64_t planes, int max_parts) {
  return parts_of_tiles(blocks_of_rank(planes, LineStrategy::split_tiles), max_parts);
}

/// Whether the rows of every rank can be solved in tiles, and are enough for this to be worth it: those near the ends
/// are read twice.
bool fit_split_tiles(const Decomposition& decomposition, int max_parts) {
  const std::vector<std::int64_t> bounds = rank_bounds(decomposition);
  if (decomposition.processes().pz > max_blocks_on_chip) return false;
  for (std::size_t n = 0; n + 1 < bounds.size(); ++n) {
    const std::int64_t planes = bounds[n + 1] - bounds[n];
    if (planes < min_planes_of_split_tiles || parts_of_split_tiles(planes, max_parts).count == 0) return false;
  }
  return true;
}

}  // namespace

LineStrategy line_strategy(const Decomposition& decomposition, TridiagonalMethod method, bool on_gpu) {
  if (method == TridiagonalMethod::transpose) return LineStrategy::transposed;
  const bool split = decomposition.processes().pz > 1;
  if (!on_gpu) return split ? LineStrategy::two_passes : LineStrategy::whole_lines;
  // A CPU build asks for a GPU on behalf of others: one with clusters.
  const int together = loops_on_gpu ? device::max_thread_blocks_together() : device::cluster_of_any;
  const ZBlocks blocks = blocks_of_tiles(decomposition.z_blocks(), together);
  if (!split && parts_of_tiles(blocks, together).count > 0) return LineStrategy::tiles;
  if (split && fit_split_tiles(decomposition, together)) return LineStrategy::split_tiles;
  return fit_condensed(decomposition) ? LineStrategy::condensed : LineStrategy::transposed;
}

const char* name(LineStrategy strategy) {
  switch (strategy) {
    case LineStrategy::transposed:
      return "transposed";
    case LineStrategy::whole_lines:
      return "whole_lines";
    case LineStrategy::two_passes:
      return "two_passes";
    case LineStrategy::tiles:
      return "tiles";
    case LineStrategy::split_tiles:
      return "split_tiles";
    case LineStrategy::condensed:
      return "condensed";
  }
  return "";
}

std::int64_t LinePlan::longest() const {
  const auto bounds = solved.bounds().begin() + first_block();
  std::int64_t rows = 0;
  for (int n = 0; n < blocks_here(); ++n) rows = std::max(rows, bounds[n + 1] - bounds[n]);
  return rows;
}

LinePlan plan_lines(const Decomposition& decomposition, int z_index, LineStrategy strategy) {
  std::vector<std::int64_t> planes = rank_bounds(decomposition);
  if (strategy == LineStrategy::condensed || strategy == LineStrategy::split_tiles)
    return plan_condensed(planes, z_index, strategy);
  if (strategy == LineStrategy::tiles) {
    const int together = device::max_thread_blocks_together();
    const ZBlocks blocks = blocks_of_tiles(decomposition.z_blocks(), together);
    return {strategy, blocks, blocks, {0, blocks.count()}, std::move(planes), 0, parts_of_tiles(blocks, together)};
  }
  const ZBlocks& blocks = decomposition.z_blocks();
  std::vector<int> first_blocks{0};
  for (int z = 0; z < decomposition.processes().pz; ++z) first_blocks.push_back(decomposition.block_range(z)[1]);
  if (strategy != LineStrategy::transposed)
    std::ranges::transform(first_blocks, planes.begin(), [](int block) { return 2 * std::int64_t{block}; });
  return {strategy, blocks, blocks, std::move(first_blocks), std::move(planes), z_index};
}

LinePlan plan_lines(const Decomposition& decomposition, int z_index, TridiagonalMethod method) {
  return plan_lines(decomposition, z_index, line_strategy(decomposition, method));
}

LinePlan plan_condensed(const std::vector<std::int64_t>& bounds, int z_index, LineStrategy strategy, int max_parts) {
  std::vector<std::int64_t> cuts{0}, exchanged{0};
  std::vector<int> first_blocks{0};
  for (std::size_t n = 0; n + 1 < bounds.size(); ++n) {
    const ZBlocks own = blocks_of_rank(bounds[n + 1] - bounds[n], strategy);
    for (auto cut = own.bounds().begin() + 1; cut != own.bounds().end(); ++cut) cuts.push_back(bounds[n] + *cut);
    first_blocks.push_back(static_cast<int>(cuts.size()) - 1);
    exchanged.push_back(exchanged.back() + 2);
  }
  LinePlan plan{strategy, ZBlocks(std::move(cuts)), ZBlocks(bounds), std::move(first_blocks), std::move(exchanged),
                z_index};
  if (strategy == LineStrategy::split_tiles) plan.tile_parts = parts_of_split_tiles(plan.rows(), max_parts);
  return plan;
}

}  // namespace sluice
