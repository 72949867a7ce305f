// What the threads of a GPU do to tiles of lines, run on the host, against the sweeps of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/device/memory.hpp"
#include "core/device/tuning.hpp"
#include "poisson/tridiagonal/line_tiles.hpp"
#include "tests/support/host_tiles.hpp"
#include "tests/support/line_problem.hpp"

namespace sluice {
namespace {

template <int Lanes, class Shape, class Lines>
std::vector<std::vector<real>> solve_in_tiles(const test::LineShape& shape, const test::TileForm& form) {
  const test::LineProblem<Lines> problem(shape);
  test::LineData<Lines> data(shape);
  test::solve_in_tiles<Lanes, Shape>(problem.lines(), data.array(), form);
  return data.lines();
}

/// Narrow and wide tiles, that begin with the array or before it, whose rows are copied by numbers or in pieces.
template <int Lanes>
std::vector<test::TileForm> tile_forms() {
  std::vector<test::TileForm> forms{{2, 0, 0}, {8, Lanes, 0}};
  const int in_16_bytes = 16 / (Lanes * static_cast<int>(sizeof(real)));
  if (in_16_bytes > 0) forms.push_back({4, 0, in_16_bytes});
  if (in_16_bytes > 0) forms.push_back({4, in_16_bytes * Lanes, in_16_bytes});
  if (in_16_bytes > 1) forms.push_back({4, Lanes, in_16_bytes});
  // Thread blocks that solve several tiles, each packs of its own.
  for (const int at_a_time : {1, 3}) forms.push_back({4, Lanes, std::min(in_16_bytes, 1), 1, at_a_time});
  return forms;
}

template <int Lanes, class Lines, class Shape>
void expect_the_same(const char* what, const std::vector<test::LineShape>& shapes, int parts = 1) {
  if (device::is_gpu()) GTEST_SKIP() << "the coefficients are not in host memory";
  test::TileForm form_0;
  form_0.parts = parts;
  test::expect_agreement<Lines>(what, shapes, [&](const test::LineShape& shape) {
    auto result = solve_in_tiles<Lanes, Shape, Lines>(shape, form_0);
    for (test::TileForm form : tile_forms<Lanes>()) {
      form.parts = parts;
      EXPECT_EQ((solve_in_tiles<Lanes, Shape, Lines>(shape, form)), result)
          << what << ", nz " << shape.nz << ", blocks " << shape.blocks << ", width " << form.width << ", shift "
          << form.shift << ", pieces " << form.pieces << ", at a time " << form.at_a_time << ", parts " << parts;
    }
    return result;
  });
  test::expect_solved<Lines>(
      what, shapes, [&](const test::LineShape& shape) { return solve_in_tiles<Lanes, Shape, Lines>(shape, form_0); });
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

TEST(LineTiles, InParts) {
  const std::vector<test::LineShape> tall{
      {4, 3, 768, 48}, {6, 2, 700, 43}, {4, 2, 1024, 64}, {6, 3, 31, 2}, {8, 2, 29, 9}};
  for (const int parts : {2, 4, 8}) {
    expect_the_same<2, ShiftedLines, BlockShape<17, 2>>("complex, in parts", tall, parts);
    expect_the_same<1, TableLines, BlockShape<17, 2>>("real, in parts", tall, parts);
    expect_the_same<2, TableLines, BlockShape<17, 2>>("real in twos, in parts", tall, parts);
  }
}

TEST(LineTiles, WhichGridsTheKernelsServe) {
  const auto parts = [](int planes, int blocks, int max_parts) {
    return parts_of_tiles(ZBlocks(planes, blocks), max_parts).count;
  };
  EXPECT_EQ(parts(384, 24, 1), 1);
  EXPECT_EQ(parts(384, 24, 8), 1);
  EXPECT_EQ(parts(33, 1, 8), 0);
  EXPECT_EQ(parts(32, 1, 8), 1);
  EXPECT_EQ(parts(396, 24, 1), 1);
  EXPECT_EQ(parts(385, 24, 8), 2);
  EXPECT_EQ(parts(397, 24, 1), 0);
  EXPECT_EQ(parts(384, 25, 1), 0);
  EXPECT_EQ(parts(384, 25, 8), 2);
  EXPECT_EQ(parts(760, 48, 8), 2);
  EXPECT_EQ(parts(768, 48, 8), 2);
  EXPECT_EQ(parts(769, 48, 8), 4);
  EXPECT_EQ(parts(1024, 64, 8), 4);
  EXPECT_EQ(parts(3071, 192, 8), 8);
  EXPECT_EQ(parts(3072, 192, 8), 8);
  EXPECT_EQ(parts(3072, 193, 8), 0);
  EXPECT_EQ(parts(300, 150, 8), 8);
  EXPECT_EQ(parts(3088, 193, 8), 0);
}

/// Bytes of shared memory of a tile as wide as threads allow.
template <class Lines, int Lanes>
std::size_t shared_bytes(const ZBlocks& blocks, const TileParts& parts) {
  LineTiles<Lines, Lanes> tiles;
  tiles.lines.blocks.count = blocks.count();
  tiles.lines.row_count = static_cast<int>(blocks.planes());
  tiles.set_parts(parts);
  tiles.width = tiles.widest;
  while (tiles.threads() > tuning::lines::max_threads_of_tile) tiles.width /= 2;
  return tiles.shared_bytes();
}

TEST(LineTiles, TwoPartsFitAMultiprocessor) {
  constexpr std::size_t half = (228 / 2 - 1) * 1024;  // of one with 228 KiB, of which a thread block needs 1 for itself
  // In single precision a tile has four lanes, but its tables are in double: from 348 planes on, only one part fits.
  constexpr std::size_t of_tables = sizeof(real) == sizeof(double) ? half : 227 * 1024;
  for (int planes = 2; planes <= 3072; ++planes) {
    const ZBlocks blocks = blocks_of_tiles(ZBlocks(planes, ZBlocks::default_count(planes)), 8);
    const TileParts parts = parts_of_tiles(blocks, 8);
    EXPECT_LE((shared_bytes<ShiftedLines, 2>(blocks, parts)), half) << planes;
    EXPECT_LE((shared_bytes<TableLines, 16 / sizeof(real)>(blocks, parts)), of_tables) << planes;
  }
}

TEST(LineTiles, ATileThatIsNotInPartsFitsAnAmdMultiprocessor) {
  int in_tiles = 0;
  for (int planes = 2; planes <= 400; ++planes) {
    const ZBlocks blocks = blocks_of_tiles(ZBlocks(planes, ZBlocks::default_count(planes)), 1);
    const TileParts parts = parts_of_tiles(blocks, 1);
    if (parts.count == 0) continue;
    ++in_tiles;
    const auto narrowest = [&](auto tiles) {
      tiles.lines.blocks.count = blocks.count();
      tiles.lines.row_count = static_cast<int>(blocks.planes());
      tiles.set_parts(parts);
      tiles.width = tiles.narrowest;
      EXPECT_LE(tiles.threads(), 256) << planes;
      return tiles.shared_bytes();
    };
    EXPECT_LE(narrowest(LineTiles<ShiftedLines, 2>()), 64 * 1024) << planes;
    EXPECT_LE(narrowest(LineTiles<TableLines, 16 / sizeof(real)>()), 64 * 1024) << planes;
  }
  EXPECT_GE(in_tiles, 300);
}

TEST(LineTiles, TheDefaultBlocksNeedNoMorePartsThanRowsDo) {
  for (int planes = 32; planes <= 3072; ++planes) {
    const ZBlocks blocks = blocks_of_tiles(ZBlocks(planes, ZBlocks::default_count(planes)), 8);
    int parts = 1;
    while (parts * 384 < planes) parts *= 2;
    EXPECT_EQ(parts_of_tiles(blocks, 8).count, parts) << planes;
  }
}

}  // namespace
}  // namespace sluice
