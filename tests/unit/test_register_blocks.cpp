// What GPU threads do to blocks in registers, run on the host, against the sweeps of the CPU.
#include <gtest/gtest.h>

#include <cstdio>

#include "core/device/memory.hpp"
#include "poisson/block_kernels.hpp"
#include "tests/support/line_problem.hpp"

namespace sluice {
namespace {

/// The three passes, thread after thread.
template <int Lanes, class Shape, class Lines>
std::vector<std::vector<real>> solve_in_passes(const test::LineShape& shape) {
  const test::LineProblem<Lines> problem(shape);
  test::LineData<Lines> data(shape);
  const LineArray x = data.array();
  const std::ptrdiff_t lines = static_cast<std::ptrdiff_t>(x.count) * x.rows;
  Buffer<real> edges(static_cast<std::size_t>(2 * shape.blocks * lines));
  const LineArray boundary{edges.data(), x.count, lines, x.count, x.rows};
  std::vector<double> g(static_cast<std::size_t>(2 * shape.blocks * Lanes));
  const auto for_each_line = [&](const auto& action) {
    for (int j = 0; j < x.rows; ++j) {
      for (int lane = 0; lane < x.count; lane += Lanes) action(lane, j);
    }
  };
  for (int block = 0; block < shape.blocks; ++block) {
    const FormBoundaryInRegisters<Lines, Lanes, Shape> form{problem.lines(), x, boundary, 0};
    for_each_line([&](int lane, int j) { form(lane, j, block); });
  }
  const SolveReducedOnChip<Lines, Lanes> reduced{problem.lines(), boundary};
  for_each_line([&](int lane, int j) { reduced(lane, j, g.data(), Lanes); });
  for (int block = 0; block < shape.blocks; ++block) {
    const SolveInteriorInRegisters<Lines, Lanes, Shape> interior{problem.lines(), x, boundary, 0};
    for_each_line([&](int lane, int j) { interior(lane, j, block); });
  }
  return data.lines();
}

template <int Lanes, class Lines, class Shape>
void expect_the_same(const char* what, const std::vector<test::LineShape>& shapes) {
  if (device::is_gpu()) GTEST_SKIP() << "the coefficients are not in host memory";
  double worst = 0;
  for (const test::LineShape& shape : shapes) {
    const auto expected = test::solve_lines<Lines>(shape, BlockMethod::fastest);
    const double difference = test::difference_in_epsilons(solve_in_passes<Lanes, Shape, Lines>(shape), expected);
    EXPECT_LE(difference, 200) << what << ", nz " << shape.nz << ", blocks " << shape.blocks;
    worst = std::max(worst, difference);
  }
  std::printf("%s: largest difference %.1f eps\n", what, worst);
}

const std::vector<test::LineShape> up_to_16_rows{{6, 2, 630, 210}, {4, 2, 976, 61}, {6, 3, 2, 1},
                                                 {6, 3, 3, 1},     {34, 2, 13, 4},  {6, 3, 16, 1},
                                                 {8, 2, 31, 2},    {4, 5, 79, 5},   {10, 2, 384, 24}};
const std::vector<test::LineShape> of_16_or_17_rows{{6, 3, 17, 1}, {4, 4, 82, 5}, {2, 3, 16, 1}};

TEST(RegisterBlocks, ComplexLines) {
  expect_the_same<2, ShiftedLines, BlockShape<16, 2>>("complex, room for 16 rows", up_to_16_rows);
  expect_the_same<2, ShiftedLines, BlockShape<17, 16>>("complex, 16 or 17 rows", of_16_or_17_rows);
  expect_the_same<2, ShiftedLines, BlockShape<32, 2>>("complex, room for 32 rows", up_to_16_rows);
}

TEST(RegisterBlocks, RealLines) {
  expect_the_same<1, TableLines, BlockShape<16, 2>>("real, room for 16 rows", up_to_16_rows);
  expect_the_same<1, TableLines, BlockShape<17, 16>>("real, 16 or 17 rows", of_16_or_17_rows);
}

TEST(RegisterBlocks, TwoRealLinesTogether) {
  expect_the_same<2, TableLines, BlockShape<16, 2>>("real in twos, room for 16 rows", up_to_16_rows);
}

TEST(RegisterBlocks, WhichGridsTheKernelsServe) {
  using Complex = RegisterKernels<ShiftedLines>;
  EXPECT_TRUE(Complex::hold(ZBlocks(384, 24)));
  EXPECT_FALSE(Complex::hold(ZBlocks(33, 1)));
  EXPECT_TRUE(Complex::hold(ZBlocks(32, 1)));
  EXPECT_FALSE(Complex::hold(ZBlocks(500, 250)));
}

}  // namespace
}  // namespace sluice
