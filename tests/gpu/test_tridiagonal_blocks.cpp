// The kernels that hold lines or blocks in a GPU's shared memory, against the Thomas algorithm.
#include <gtest/gtest.h>

#include "tests/support/line_problem.hpp"

namespace sluice {
namespace {

template <class Lines>
void expect_agreement_with_thomas(const char* what, std::optional<LineStrategy> strategy) {
  test::expect_agreement<Lines>(what, test::line_shapes(), LineStrategy::transposed, [&](const test::LineShape& shape) {
    return test::solve_lines<Lines>(shape, strategy);
  });
}

TEST(TridiagonalBlocksOnGpu, Condensed) {
  expect_agreement_with_thomas<ShiftedLines>("complex lines", LineStrategy::condensed);
  expect_agreement_with_thomas<TableLines>("real lines", LineStrategy::condensed);
}

TEST(TridiagonalBlocksOnGpu, InTilesIfTheyFit) {
  expect_agreement_with_thomas<ShiftedLines>("complex lines", {});
  expect_agreement_with_thomas<TableLines>("real lines", {});
}

TEST(TridiagonalBlocksOnGpu, FastestStrategy) {
  const auto strategy_of = [](std::int64_t nz) {
    return line_strategy({{36, 3, nz}, {1, 1}, ZBlocks::default_count(nz)}, TridiagonalMethod::ptdma);
  };
  EXPECT_EQ(strategy_of(384), LineStrategy::tiles);
  EXPECT_EQ(strategy_of(400), LineStrategy::condensed);
  EXPECT_EQ(strategy_of(6400), LineStrategy::condensed);
  EXPECT_EQ(strategy_of(6401), LineStrategy::transposed);
}

}  // namespace
}  // namespace sluice
