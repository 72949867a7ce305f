// The kernels that hold z blocks in registers, against the plain ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tests/support/line_problem.hpp"

namespace sluice {
namespace {

template <class Lines>
void expect_both_methods_to_agree(const char* what) {
  double worst = 0;
  for (const test::LineShape& shape : test::line_shapes()) {
    const auto plain = test::solve_lines<Lines>(shape, BlockMethod::plain);
    const auto fastest = test::solve_lines<Lines>(shape, BlockMethod::fastest);
    const double difference = test::difference_in_epsilons(fastest, plain);
    EXPECT_LE(difference, 200) << what << ", nz " << shape.nz << ", blocks " << shape.blocks;
    worst = std::max(worst, difference);
  }
  std::printf("%s: largest difference %.1f eps\n", what, worst);
}

TEST(TridiagonalBlocksOnGpu, ComplexLinesAgreeWithPlain) {
  expect_both_methods_to_agree<ShiftedLines>("complex lines");
}

TEST(TridiagonalBlocksOnGpu, RealLinesAgreeWithPlain) {
  expect_both_methods_to_agree<TableLines>("real lines");
}

}  // namespace
}  // namespace sluice
