// The kernels that solve lines in two passes, and those that hold them in shared memory, against the plain ones.
#include <gtest/gtest.h>

#include "tests/support/line_problem.hpp"

namespace sluice {
namespace {

template <class Lines>
void expect_agreement_with_plain(const char* what, BlockMethod method) {
  test::expect_agreement<Lines>(what, test::line_shapes(), BlockMethod::plain,
                                [&](const test::LineShape& shape) { return test::solve_lines<Lines>(shape, method); });
}

TEST(TridiagonalBlocksOnGpu, InTwoPasses) {
  expect_agreement_with_plain<ShiftedLines>("complex lines", BlockMethod::two_passes);
  expect_agreement_with_plain<TableLines>("real lines", BlockMethod::two_passes);
}

TEST(TridiagonalBlocksOnGpu, InSharedMemory) {
  EXPECT_TRUE(solves_in_tiles(Decomposition({36, 3, 24 * 16}, {1, 1}, 24), TridiagonalMethod::ptdma));
  expect_agreement_with_plain<ShiftedLines>("complex lines", BlockMethod::tiles);
  expect_agreement_with_plain<TableLines>("real lines", BlockMethod::tiles);
}

}  // namespace
}  // namespace sluice
