// What GPU threads do that solve lines in two passes, run on the host, against the sweeps of the CPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/device/memory.hpp"
#include "poisson/tridiagonal/block_kernels.hpp"
#include "tests/support/line_problem.hpp"

namespace sluice {
namespace {

/// The planes of a grid over `ranks` ranks, by whole blocks.
LinePlan plan_of_rank(const test::LineShape& shape, int ranks, int rank) {
  const ZBlocks blocks(shape.nz, shape.blocks);
  std::vector<std::int64_t> bounds;
  for (int r = 0; r <= ranks; ++r)
    bounds.push_back(blocks.bounds()[static_cast<std::size_t>(r * shape.blocks / ranks)]);
  return plan_condensed(bounds, rank, LineStrategy::condensed);
}

template <int Lanes, class Lines, class ForEachLine>
void form_boundaries(const LineBlocks<Lines>& blocks, const ForEachLine& for_each_line) {
  for (int block = 0; block < blocks.lines.blocks.count; ++block)
    for_each_line([&](int lane, int j) { form_boundary<Lines, Lanes>(blocks, lane, j, block); });
}

/// The second pass over all z blocks, as a thread block of three threads makes it for three packs at a time.
template <int Lanes, class Shape, class Lines, class ForEachLine>
void solve_interiors(const LineBlocks<Lines>& blocks, const ForEachLine& for_each_line) {
  using Thread = BlockOnChip<Lines, Lanes, Shape>;
  constexpr int threads = 3;
  std::vector<std::array<int, 2>> packs;
  for_each_line([&](int lane, int j) { packs.push_back({lane, j}); });
  for (int block = 0; block < blocks.lines.blocks.count; ++block) {
    for (std::size_t first = 0; first < packs.size(); first += threads) {
      std::vector<double> shared(Thread::shared_bytes(threads) / sizeof(double) + 1, std::nan(""));
      std::vector<Thread> group;
      for (int thread = 0; thread < threads; ++thread) {
        const auto [lane, j] = packs[std::min(first + static_cast<std::size_t>(thread), packs.size() - 1)];
        group.emplace_back(blocks, lane, j, block, shared.data(), thread, threads);
        group.back().load_table();
      }
      const std::size_t count = std::min<std::size_t>(threads, packs.size() - first);
      for (std::size_t n = 0; n < count; ++n) group[n].load_rows();
      for (std::size_t n = 0; n < count; ++n) group[n].solve_interior();
    }
  }
}

/// The passes of `ranks` ranks that condense their blocks, rank after rank and thread after thread.
template <int Lanes, class Lines>
std::vector<std::vector<real>> solve_condensed(const test::LineShape& shape, int ranks) {
  test::LineData<Lines> data(shape);
  const LineArray x = data.array();
  const std::ptrdiff_t lines = static_cast<std::ptrdiff_t>(x.count) * x.rows;
  const int blocks = plan_of_rank(shape, ranks, 0).solved.count();
  Buffer<real> edges(static_cast<std::size_t>(2 * blocks * lines));
  Buffer<real> ends(static_cast<std::size_t>(2 * ranks * lines));
  std::vector<double> g(static_cast<std::size_t>(2 * std::max(blocks, ranks) * Lanes));
  const auto for_each_line = [&](const auto& action) {
    for (int j = 0; j < x.rows; ++j) {
      for (int lane = 0; lane < x.count; lane += Lanes) action(lane, j);
    }
  };
  const auto on_each_rank = [&](const auto& action) {
    for (int rank = 0; rank < ranks; ++rank) {
      const LinePlan plan = plan_of_rank(shape, ranks, rank);
      const test::LineProblem<Lines> problem(shape, plan);
      LineArray own = x;
      own.origin = x.at(0, 0, problem.home().blocks.bounds[0]);
      const LineArray boundary{edges.data() + 2 * plan.first_block() * lines, x.count, lines, x.count, x.rows};
      const LineArray own_ends{ends.data() + 2 * rank * lines, x.count, lines, x.count, x.rows};
      with_shape(plan.longest(), [&](auto room) {
        action(room, LineBlocks<Lines>{problem.home(), own, boundary}, own_ends);
      });
    }
  };
  on_each_rank([&](auto /*room*/, const LineBlocks<Lines>& home, const LineArray& own_ends) {
    form_boundaries<Lanes>(home, for_each_line);
    const CondenseBlocks<Lines, Lanes> condense{home.lines, home.boundary, own_ends};
    for_each_line([&](int lane, int j) { condense(lane, j, {}); });
  });
  const test::LineProblem<Lines> whole(shape, plan_of_rank(shape, ranks, 0));
  const SolveReduced<Lines, Lanes> reduced{whole.lines(), {ends.data(), x.count, lines, x.count, x.rows}};
  for_each_line([&](int lane, int j) { reduced(lane, j, {g.data(), Lanes}); });
  on_each_rank([&](auto room, const LineBlocks<Lines>& home, const LineArray& own_ends) {
    const ExpandBlocks<Lines, Lanes> expand{home.lines, home.boundary, own_ends};
    for_each_line([&](int lane, int j) { expand(lane, j, {g.data(), Lanes}); });
    solve_interiors<Lanes, decltype(room)>(home, for_each_line);
  });
  return data.lines();
}

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
  const LineBlocks<Lines> blocks{problem.lines(), x, boundary};
  form_boundaries<Lanes>(blocks, for_each_line);
  const SolveReduced<Lines, Lanes> reduced{problem.lines(), boundary};
  for_each_line([&](int lane, int j) { reduced(lane, j, {g.data(), Lanes}); });
  solve_interiors<Lanes, Shape>(blocks, for_each_line);
  return data.lines();
}

template <int Lanes, class Lines, class Shape>
void expect_the_same(const char* what, const std::vector<test::LineShape>& shapes) {
  if (device::is_gpu()) GTEST_SKIP() << "the coefficients are not in host memory";
  test::expect_agreement<Lines>(
      what, shapes, [](const test::LineShape& shape) { return solve_in_passes<Lanes, Shape, Lines>(shape); });
}

TEST(BlockKernels, ComplexLines) {
  expect_the_same<2, ShiftedLines, BlockShape<16, 2>>("complex, room for 16 rows", test::up_to_16_rows);
  expect_the_same<2, ShiftedLines, BlockShape<17, 16>>("complex, 16 or 17 rows", test::of_16_or_17_rows);
  expect_the_same<2, ShiftedLines, BlockShape<32, 2>>("complex, room for 32 rows", test::up_to_16_rows);
}

TEST(BlockKernels, RealLines) {
  expect_the_same<1, TableLines, BlockShape<16, 2>>("real, room for 16 rows", test::up_to_16_rows);
  expect_the_same<1, TableLines, BlockShape<17, 16>>("real, 16 or 17 rows", test::of_16_or_17_rows);
}

TEST(BlockKernels, TwoRealLinesTogether) {
  expect_the_same<2, TableLines, BlockShape<16, 2>>("real in twos, room for 16 rows", test::up_to_16_rows);
}

template <int Lanes, class Lines>
void expect_solved_condensed(const char* what) {
  if (device::is_gpu()) GTEST_SKIP() << "the coefficients are not in host memory";
  for (const int ranks : {1, 2, 3, 4}) {
    test::expect_solved<Lines>(fmt::format("{} on {} ranks", what, ranks).c_str(),
                               {{6, 3, 40, 4}, {4, 5, 79, 5}, {10, 2, 384, 24}, {6, 2, 630, 210}, {6, 3, 258, 8}},
                               [ranks](const auto& shape) { return solve_condensed<Lanes, Lines>(shape, ranks); });
  }
}

TEST(BlockKernels, BlocksOfARankCondensed) {
  expect_solved_condensed<2, ShiftedLines>("complex, condensed");
  expect_solved_condensed<1, TableLines>("real, condensed");
}

TEST(BlockKernels, RanksOfTwoOrThreePlanes) {
  if (device::is_gpu()) GTEST_SKIP() << "the coefficients are not in host memory";
  const std::vector<test::LineShape> shapes{{4, 3, 9, 4}, {6, 2, 8, 4}};
  test::expect_agreement<ShiftedLines>("complex, two or three planes a rank", shapes,
                                       [](const auto& shape) { return solve_condensed<2, ShiftedLines>(shape, 4); });
  test::expect_agreement<TableLines>("real, two or three planes a rank", shapes,
                                     [](const auto& shape) { return solve_condensed<1, TableLines>(shape, 4); });
}

TEST(BlockKernels, CutTheirPlanesEvenlyIntoAsFewBlocksAsThreadsCanSolve) {
  const LinePlan plan = plan_condensed({0, 2, 34, 67, 131, 196}, 2, LineStrategy::condensed);
  EXPECT_EQ(plan.solved.bounds(), (std::vector<std::int64_t>{0, 2, 34, 51, 67, 99, 131, 153, 175, 196}));
  EXPECT_EQ(plan.first_blocks, (std::vector<int>{0, 1, 2, 4, 6, 9}));
  EXPECT_EQ(plan.first_block(), 2);
  EXPECT_EQ(plan.blocks_here(), 2);
  EXPECT_EQ(plan.longest(), 17);
  EXPECT_EQ(plan_condensed({0, 2, 34}, 0, LineStrategy::condensed).longest(), 2);
  EXPECT_EQ(plan_condensed({0, 2, 34}, 1, LineStrategy::condensed).longest(), 32);
}

// The shared memory of a tile follows from its parts: any other blocks than those solved would need more.
TEST(SplitTiles, HavePartsOfTheBlocksThatAreSolved) {
  constexpr int max_parts = 8;
  int cut = 0;
  for (std::int64_t planes = 192; planes <= 3072; ++planes) {
    const LinePlan plan = plan_condensed({0, 200, 200 + planes}, 1, LineStrategy::split_tiles, max_parts);
    const TileParts& parts = plan.tile_parts;
    if (parts.count == 0) continue;
    std::vector<std::int64_t> bounds;
    for (int n = 0; n <= plan.blocks_here(); ++n)
      bounds.push_back(plan.solved.bounds()[static_cast<std::size_t>(plan.first_block() + n)] - plan.first_row());
    const TileParts expected = cut_into_parts(ZBlocks(bounds), parts.count);
    EXPECT_EQ(parts.max_blocks, expected.max_blocks) << planes;
    EXPECT_EQ(parts.max_rows, expected.max_rows) << planes;
    EXPECT_EQ(parts.max_inner_rows, expected.max_inner_rows) << planes;
    if (parts.count > 1) ++cut;
  }
  EXPECT_GT(cut, 1000);
}

}  // namespace
}  // namespace sluice
