// The kernels that solve lines in two passes, and those that hold them in shared memory, against the plain ones.
#include <gtest/gtest.h>

#include "tests/support/line_problem.hpp"

namespace sluice {
namespace {

template <class Lines>
void expect_agreement_with_plain(const char* what, LineStrategy strategy) {
  test::expect_agreement<Lines>(what, test::line_shapes(), LineStrategy::two_passes, [&](const test::LineShape& shape) {
    return test::solve_lines<Lines>(shape, strategy);
  });
}

TEST(TridiagonalBlocksOnGpu, InTwoPasses) {
  expect_agreement_with_plain<ShiftedLines>("complex lines", LineStrategy::two_passes_on_chip);
  expect_agreement_with_plain<TableLines>("real lines", LineStrategy::two_passes_on_chip);
}

TEST(TridiagonalBlocksOnGpu, InSharedMemory) {
  const Decomposition decomposition({36, 3, 24 * 16}, {1, 1}, 24);
  EXPECT_EQ(line_strategies(decomposition, TridiagonalMethod::ptdma).front(), LineStrategy::tiles);
  expect_agreement_with_plain<ShiftedLines>("complex lines", LineStrategy::tiles);
  expect_agreement_with_plain<TableLines>("real lines", LineStrategy::tiles);
}

}  // namespace
}  // namespace sluice
