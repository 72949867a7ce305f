#include "poisson/tridiagonal/line_plan.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

/// Bounds of the planes of each rank of a column.
std::vector<std::int64_t> rank_bounds(const Decomposition& decomposition) {
  const ProcessGrid& processes = decomposition.processes();
  std::vector<std::int64_t> bounds{0};
  for (int z = 0; z < processes.pz; ++z) bounds.push_back(decomposition.x_pencil(processes.rank(0, z)).hi[2]);
  return bounds;
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

bool fit_tiles(const ZBlocks& blocks) {
  return blocks.longest() <= max_rows_of_thread && blocks.planes() <= 396 && blocks.count() <= 24;
}

bool fit_on_chip(const ZBlocks& blocks) {
  return blocks.longest() <= max_rows_of_thread && blocks.count() <= max_blocks_on_chip;
}

std::vector<LineStrategy> line_strategies(const Decomposition& decomposition, TridiagonalMethod method) {
  const ZBlocks& blocks = decomposition.z_blocks();
  const bool split = decomposition.processes().pz > 1;
  const bool ptdma = method == TridiagonalMethod::ptdma;
  const bool gpu = loops_on_gpu;
  const struct {
    LineStrategy strategy;
    bool serves;
  } table[] = {
      {LineStrategy::transposed, !ptdma},
      {LineStrategy::whole_lines, ptdma && !gpu && !split},
      {LineStrategy::tiles, ptdma && gpu && !split && fit_tiles(blocks)},
      {LineStrategy::condensed, ptdma && gpu && split && fit_condensed(decomposition)},
      {LineStrategy::two_passes_on_chip, ptdma && gpu && fit_on_chip(blocks)},
      {LineStrategy::two_passes, ptdma},
  };
  std::vector<LineStrategy> strategies;
  for (const auto& row : table) {
    if (row.serves) strategies.push_back(row.strategy);
  }
  return strategies;
}

std::vector<std::int64_t> LinePlan::travelling_planes(const Decomposition& decomposition) const {
  if (strategy == LineStrategy::transposed) return rank_bounds(decomposition);
  std::vector<std::int64_t> bounds;
  for (std::size_t n = 0; n < first_blocks.size(); ++n)
    bounds.push_back(2 * (is_condensed() ? static_cast<std::int64_t>(n) : first_blocks[n]));
  return bounds;
}

LinePlan plan_lines(const Decomposition& decomposition, int z_index, LineStrategy strategy) {
  if (strategy == LineStrategy::condensed) return plan_condensed(rank_bounds(decomposition), z_index);
  const ZBlocks& blocks = decomposition.z_blocks();
  std::vector<int> first_blocks{0};
  for (int z = 0; z < decomposition.processes().pz; ++z) first_blocks.push_back(decomposition.block_range(z)[1]);
  return {strategy, blocks, blocks, std::move(first_blocks), z_index, blocks.longest()};
}

LinePlan plan_lines(const Decomposition& decomposition, int z_index, TridiagonalMethod method) {
  return plan_lines(decomposition, z_index, line_strategies(decomposition, method).front());
}

int condensed_blocks(std::int64_t planes) {
  return static_cast<int>((planes + max_rows_of_thread - 1) / max_rows_of_thread);
}

LinePlan plan_condensed(std::vector<std::int64_t> bounds, int z_index) {
  std::vector<std::int64_t> cuts{0};
  std::vector<int> first_blocks{0};
  for (std::size_t n = 0; n + 1 < bounds.size(); ++n) {
    const std::int64_t planes = bounds[n + 1] - bounds[n];
    const std::vector<std::int64_t> own = split_evenly(planes, condensed_blocks(planes));
    for (auto cut = own.begin() + 1; cut != own.end(); ++cut) cuts.push_back(bounds[n] + *cut);
    first_blocks.push_back(static_cast<int>(cuts.size()) - 1);
  }
  const auto here = static_cast<std::size_t>(z_index);
  const std::int64_t planes = bounds[here + 1] - bounds[here];
  const int blocks = condensed_blocks(planes);
  return {LineStrategy::condensed,
          ZBlocks(std::move(cuts)),
          ZBlocks(std::move(bounds)),
          std::move(first_blocks),
          z_index,
          (planes + blocks - 1) / blocks};
}

}  // namespace sluice
