// What the threads of a GPU do to tiles of lines, run on the host, against the sweeps of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/device/memory.hpp"
#include "poisson/tridiagonal/line_tiles.hpp"
#include "tests/support/line_problem.hpp"

namespace sluice {
namespace {

/// How a test lays its tiles out.
struct TileForm {
  int width = 4;
  int shift = 0;
  int pieces = 0;
};

/// All tiles, one after another: each step for all threads before the next.
template <int Lanes, class Shape, class Lines>
std::vector<std::vector<real>> solve_in_tiles(const test::LineShape& shape, const TileForm& form) {
  const test::LineProblem<Lines> problem(shape);
  test::LineData<Lines> data(shape);
  const LineTiles<Lines, Lanes> tiles{problem.lines(), data.array(), form.width, form.shift, form.pieces};
  std::vector<double> shared(tiles.shared_bytes() / sizeof(double) + 1);
  for (int tile = 0; tile < tiles.tiles(); ++tile) {
    std::ranges::fill(shared, std::nan(""));
    std::vector<LineTile<Lines, Lanes, Shape>> threads;
    for (int thread = 0; thread < tiles.threads(); ++thread) threads.emplace_back(tiles, tile, thread, shared.data());
    for (auto& thread : threads) thread.read();
    for (auto& thread : threads) thread.prepare();
    for (auto& thread : threads) thread.form_boundary();
    for (auto& thread : threads) thread.sweep_up();
    for (auto& thread : threads) thread.turn();
    for (auto& thread : threads) thread.sweep_down();
    for (auto& thread : threads) thread.solve();
  }
  return data.lines();
}

/// Narrow and wide tiles, that begin with the array or before it, whose rows are copied by numbers or in pieces.
template <int Lanes>
std::vector<TileForm> tile_forms() {
  std::vector<TileForm> forms{{2, 0, 0}, {8, Lanes, 0}};
  const int in_16_bytes = 16 / (Lanes * static_cast<int>(sizeof(real)));
  if (in_16_bytes > 0) forms.push_back({4, 0, in_16_bytes});
  if (in_16_bytes > 0) forms.push_back({4, in_16_bytes * Lanes, in_16_bytes});
  if (in_16_bytes > 1) forms.push_back({4, Lanes, in_16_bytes});
  return forms;
}

template <int Lanes, class Lines, class Shape>
void expect_the_same(const char* what, const std::vector<test::LineShape>& shapes) {
  if (device::is_gpu()) GTEST_SKIP() << "the coefficients are not in host memory";
  test::expect_agreement<Lines>(what, shapes, [&](const test::LineShape& shape) {
    auto form_0 = solve_in_tiles<Lanes, Shape, Lines>(shape, {});
    for (const TileForm& form : tile_forms<Lanes>()) {
      EXPECT_EQ((solve_in_tiles<Lanes, Shape, Lines>(shape, form)), form_0)
          << what << ", nz " << shape.nz << ", blocks " << shape.blocks << ", width " << form.width << ", shift "
          << form.shift << ", pieces " << form.pieces;
    }
    return form_0;
  });
}

TEST(LineTiles, ComplexLines) {
  expect_the_same<2, ShiftedLines, BlockShape<16, 2>>("complex, room for 16 rows", test::up_to_16_rows);
  expect_the_same<2, ShiftedLines, BlockShape<17, 16>>("complex, 16 or 17 rows", test::of_16_or_17_rows);
  expect_the_same<2, ShiftedLines, BlockShape<32, 2>>("complex, room for 32 rows", test::up_to_16_rows);
}

TEST(LineTiles, RealLines) {
  expect_the_same<1, TableLines, BlockShape<16, 2>>("real, room for 16 rows", test::up_to_16_rows);
  expect_the_same<1, TableLines, BlockShape<17, 16>>("real, 16 or 17 rows", test::of_16_or_17_rows);
}

TEST(LineTiles, RealLinesTogether) {
  expect_the_same<2, TableLines, BlockShape<16, 2>>("real in twos, room for 16 rows", test::up_to_16_rows);
  expect_the_same<2, TableLines, BlockShape<16, 2>>("real in twos, the last alone", {{33, 2, 31, 2}, {3, 3, 40, 3}});
  if constexpr (sizeof(real) == 4)
    expect_the_same<4, TableLines, BlockShape<16, 2>>("real in fours, room for 16 rows",
                                                      {{8, 2, 31, 2}, {4, 5, 40, 3}});
}

TEST(LineTiles, WhichGridsTheKernelsServe) {
  EXPECT_TRUE(fit_tiles(ZBlocks(384, 24)));
  EXPECT_FALSE(fit_tiles(ZBlocks(33, 1)));
  EXPECT_TRUE(fit_tiles(ZBlocks(32, 1)));
  EXPECT_TRUE(fit_tiles(ZBlocks(396, 24)));
  EXPECT_FALSE(fit_tiles(ZBlocks(400, 24)));
  EXPECT_FALSE(fit_tiles(ZBlocks(384, 25)));
  EXPECT_FALSE(fit_tiles(ZBlocks(300, 150)));
}

}  // namespace
}  // namespace sluice
