// Every strategy for z lines on one rank: on GPUs also those that hold lines or blocks in shared memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/device/memory.hpp"
#include "core/device/traits.hpp"
#include "tests/support/line_problem.hpp"

namespace sluice {
namespace {

template <class Lines>
void expect_solved(const char* what, std::optional<LineStrategy> strategy,
                   const std::vector<test::LineShape>& shapes = test::line_shapes()) {
  test::expect_solved<Lines>(
      what, shapes, [strategy](const test::LineShape& shape) { return test::solve_lines<Lines>(shape, strategy); });
}

void expect_solved_by(std::optional<LineStrategy> strategy) {
  expect_solved<ShiftedLines>("complex lines", strategy);
  expect_solved<TableLines>("real lines", strategy);
}

TEST(TridiagonalBlocks, Transposed) {
  expect_solved_by(LineStrategy::transposed);
}

TEST(TridiagonalBlocks, WholeLines) {
  if (device::is_gpu()) GTEST_SKIP() << "a strategy of CPU builds";
  expect_solved_by(LineStrategy::whole_lines);
}

TEST(TridiagonalBlocks, TwoPasses) {
  if (device::is_gpu()) GTEST_SKIP() << "a strategy of CPU builds";
  expect_solved_by(LineStrategy::two_passes);
}

TEST(TridiagonalBlocks, Condensed) {
  if (!device::is_gpu()) GTEST_SKIP() << "a strategy of GPU builds";
  expect_solved_by(LineStrategy::condensed);
}

TEST(TridiagonalBlocks, SplitTiles) {
  if (!device::is_gpu()) GTEST_SKIP() << "a strategy of GPU builds";
  // Long lines only fit clusters of thread blocks, which some GPUs lack.
  std::vector<test::LineShape> shapes = test::line_shapes();
  const std::size_t all = shapes.size();
  std::erase_if(shapes, [](const test::LineShape& shape) {
    return plan_lines(test::decomposition_of(shape), 0, LineStrategy::split_tiles).tile_parts.count == 0;
  });
  if (device::max_thread_blocks_together() > 1) EXPECT_EQ(shapes.size(), all);
  EXPECT_GT(shapes.size(), 100U);
  expect_solved<ShiftedLines>("complex lines", LineStrategy::split_tiles, shapes);
  expect_solved<TableLines>("real lines", LineStrategy::split_tiles, shapes);
}

TEST(TridiagonalBlocks, InTilesIfTheyFit) {
  if (!device::is_gpu()) GTEST_SKIP() << "a strategy of GPU builds";
  expect_solved_by({});
}

TEST(TridiagonalBlocks, FastestStrategyOnGpu) {
  if (!device::is_gpu()) GTEST_SKIP() << "strategies of GPU builds";
  const auto strategy_of = [](std::int64_t nz) {
    return line_strategy({{36, 3, nz}, {1, 1}, ZBlocks::default_count(nz)}, TridiagonalMethod::ptdma);
  };
  const bool clusters = device::max_thread_blocks_together() > 1;
  for (const std::int64_t nz : {384, 396}) EXPECT_EQ(strategy_of(nz), LineStrategy::tiles) << nz;
  for (const std::int64_t nz : {397, 767, 2833, 3071, 3072})
    EXPECT_EQ(strategy_of(nz), clusters ? LineStrategy::tiles : LineStrategy::condensed) << nz;
  EXPECT_EQ(strategy_of(3073), LineStrategy::condensed);
  EXPECT_EQ(strategy_of(3200), LineStrategy::condensed);
  EXPECT_EQ(strategy_of(6400), LineStrategy::condensed);
  EXPECT_EQ(strategy_of(6401), LineStrategy::transposed);
}

}  // namespace
}  // namespace sluice
