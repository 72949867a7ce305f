// Lines of which ranks find the ends of their rows first and then solve the rows alone, with the kernels of GPUs run
// on the host.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/device/memory.hpp"
#include "poisson/tridiagonal/block_kernels.hpp"
#include "poisson/tridiagonal/end_changes.hpp"
#include "tests/support/host_tiles.hpp"
#include "tests/support/line_problem.hpp"

namespace sluice {
namespace {

LinePlan plan_of_rank(const test::LineShape& shape, int ranks, int rank) {
  return plan_condensed(split_evenly(shape.nz, ranks), rank, LineStrategy::split_tiles);
}

/// Solves a rank's rows of each line as if there were no other ranks.
template <class Lines>
void solve_alone(Lines home, const LinePlan& plan, const LineArray& own, int parts) {
  if constexpr (Lines::components == 2) home.holds_singular_line = false;
  with_shape(plan.longest(), [&](auto shape) {
    test::solve_in_tiles<Lines::components, decltype(shape)>(home, own, {.parts = parts});
  });
}

/// A rank's share of the mean of line (0, 0).
template <class Lines>
double share_of_mean(const Lines& home, const LinePlan& plan, const LineArray& own) {
  if constexpr (Lines::components == 1)
    return 0;
  else
    return moment_of_block(home, plan.first_row(), plan.first_row() + plan.rows(), own.from(0, 0, 0));
}

/// What ranks with split tiles do, rank after rank and pack after pack.
template <class Lines>
std::vector<std::vector<real>> solve_split(const test::LineShape& shape, int ranks, int parts) {
  constexpr int lanes = Lines::components;
  test::LineData<Lines> data(shape);
  const LineArray x = data.array();
  const std::ptrdiff_t lines = static_cast<std::ptrdiff_t>(x.count) * x.rows;
  Buffer<real> own_ends(static_cast<std::size_t>(2 * ranks * lines)), ends(own_ends.size());
  std::vector<double> storage(static_cast<std::size_t>(shape.nz * lanes));
  const auto for_each_line = [&](const auto& kernel, int rows) {
    for (int j = 0; j < rows; ++j) {
      for (int lane = 0; lane < x.count; lane += lanes) kernel(lane, j, LaneRows<double>{storage.data(), lanes});
    }
  };
  const auto on_each_rank = [&](const auto& action) {
    for (int rank = 0; rank < ranks; ++rank) {
      const LinePlan plan = plan_of_rank(shape, ranks, rank);
      const test::LineProblem<Lines> problem(shape, plan);
      LineArray rows = x;
      rows.origin = x.at(0, 0, plan.first_row());
      const auto of_rank = [&](Buffer<real>& all) {
        return LineArray{all.data() + 2 * rank * lines, x.count, lines, x.count, x.rows};
      };
      action(plan, problem, rows, of_rank(own_ends), of_rank(ends));
    }
  };
  on_each_rank([&](const LinePlan& plan, const auto& problem, const LineArray& rows, const LineArray& own,
                   const LineArray& final) {
    const double share = share_of_mean<Lines>(problem.home(), plan, rows);
    for_each_line(FormEnds<Lines, lanes>{problem.home(), rows, own, final, &share}, 2 * x.rows);
  });
  const test::LineProblem<Lines> whole(shape, plan_of_rank(shape, ranks, 0));
  for_each_line(SolveReduced<Lines, lanes>{whole.lines(), {ends.data(), x.count, lines, x.count, x.rows}}, x.rows);
  on_each_rank([&](const LinePlan& plan, const auto& problem, const LineArray& rows, const LineArray& own,
                   const LineArray& final) {
    for_each_line(SetEnds<Lines, lanes>{problem.home(), problem.lines().symmetry + plan.rank, rows, own, final},
                  x.rows);
    solve_alone<Lines>(problem.home(), plan, rows, parts);
  });
  return data.lines();
}

template <class Lines>
void expect_solved_split(const char* what) {
  if (device::is_gpu()) GTEST_SKIP() << "the coefficients are not in host memory";
  for (const int ranks : {1, 2, 3, 4}) {
    for (const int parts : {1, 2}) {
      test::expect_solved<Lines>(
          fmt::format("{} on {} ranks, {} parts each", what, ranks, parts).c_str(),
          {{6, 3, 40, 4}, {4, 5, 79, 5}, {100, 2, 384, 24}, {40, 30, 258, 8}, {6, 3, 12, 1}, {6, 3, 8, 1}},
          [ranks, parts](const auto& shape) { return solve_split<Lines>(shape, ranks, parts); });
    }
  }
}

TEST(EndChanges, ComplexLines) {
  expect_solved_split<ShiftedLines>("complex, split tiles");
}

TEST(EndChanges, RealLines) {
  expect_solved_split<TableLines>("real, split tiles");
}

/// |e_n / e_0| with all rows between the ends, for n = 1, 2, ...
std::vector<double> changes(const RowsFromEnd& from_end, int inner, double shift) {
  std::vector<double> values(static_cast<std::size_t>(inner) + 1, 0);
  double ratio = 0;
  for (int n = inner; n > 0; --n) {
    ratio = from_end.ratio(n, shift, ratio);
    values[static_cast<std::size_t>(n) - 1] = std::abs(ratio);
  }
  for (std::size_t n = 1; n < values.size(); ++n) values[n] *= values[n - 1];
  return values;
}

TEST(EndChanges, ReachNoFurtherThanWhereTheyAreNegligible) {
  constexpr int size = EndReach::rows_in_group;
  if (device::is_gpu()) GTEST_SKIP() << "the coefficients are not in host memory";
  const test::LineShape shape{400, 2, 384, 24};
  int partial = 0;
  for (const int ranks : {1, 2, 3}) {
    for (int rank = 0; rank < ranks; ++rank) {
      const LinePlan plan = plan_of_rank(shape, ranks, rank);
      const test::LineProblem<ShiftedLines> problem(shape, plan);
      const ShiftedLines& home = problem.home();
      const int inner = plan.rows() - 2;
      for (const int step : {1, -1}) {
        if (ranks > 1 && rank == (step > 0 ? 0 : ranks - 1)) continue;  // a wall, whose value hardly any line changes
        const RowsFromEnd from_end = RowsFromEnd::of(step > 0, home);
        for (int i = 0; i < shape.nx; ++i) {
          const std::vector<double> change = changes(from_end, inner, home.shift(i, 0));
          const int groups = ReachFromEnd(step > 0, home).of(home.shift(i, 0));
          const auto beyond = static_cast<std::size_t>(groups * size);
          if (ranks > 1) ASSERT_GE(groups, 1);
          if (groups == 0 || groups == (inner + size - 1) / size) continue;
          ++partial;
          EXPECT_LE(change[beyond], real_epsilon / 16) << "line " << i;
          if (groups > 1) EXPECT_GT(change[beyond - size], real_epsilon / 16 * 0.99) << "line " << i;
        }
      }
    }
  }
  EXPECT_GT(partial, 1000);
}

}  // namespace
}  // namespace sluice
