// Key figures and their intervals: against sluice_post, against series whose mean is known, and as the end of a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/accuracy.hpp"
#include "model/key_figures.hpp"
#include "solver/physics/terms.hpp"
#include "tests/support/buoyancy.hpp"

namespace sluice {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const WallCondition free_slip{WallKind::free_slip, {}};

WallCondition no_slip(double u) {
  return {WallKind::no_slip, {u, 0, 0}};
}

std::vector<ProfileInfo> profiles() {
  std::vector<ProfileInfo> list;
  for (const char* name : {"p", "u", "v", "w", "uu", "vv", "ww"}) list.push_back({name, name});
  for (const char* name : {"uw", "tau_xz", "tau_yz"}) list.push_back({name, name, "1", ProfileAxis::z_face});
  return list;
}

/// A synthetic flow, and what sluice_post.key_figures.key_figures gives for its nine blocks.
struct Example {
  const char* name;
  int nz;
  double height;
  bool couette;
  WallCondition bottom, top;
  bool forced;
  double amplitude;  ///< of the fluctuations
  KeyFigureValues values, half_widths;
};

StatisticsFlow flow_of(const Example& e) {
  StatisticsFlow flow{
      .viscosity = 1.0 / 2800, .bottom = e.bottom, .top = e.top, .couette = e.couette, .z = {}, .z_face = {}};
  for (int k = 0; k <= e.nz; ++k)
    flow.z_face.push_back(e.height / 2 * (1 + std::tanh(1.2 * (2.0 * k / e.nz - 1)) / std::tanh(1.2)));
  flow.z_face.front() = 0;
  flow.z_face.back() = e.height;
  for (std::size_t k = 0; k + 1 < flow.z_face.size(); ++k) flow.z.push_back((flow.z_face[k] + flow.z_face[k + 1]) / 2);
  return flow;
}

StatisticsBlock block_of(const Example& e, const StatisticsFlow& flow, int b) {
  const double a = e.amplitude;
  const double s = a * std::sin(1.3 * b);
  const double c = a * std::cos(0.7 * b * b);
  const double bottom = e.bottom.velocity[0].constant();
  const double top = e.top.velocity[0].constant();
  const double side = e.bottom.kind == WallKind::free_slip || top < bottom ? -1 : 1;
  StatisticsBlock block;
  block.samples = 5 + b % 3;
  block.forcing = e.forced ? 0.002 * static_cast<double>(block.samples) : 0;
  block.time_begin = b;
  block.time_end = b + 1;
  block.sums.resize(profiles().size());
  const auto add = [&](std::size_t n, double mean) {
    block.sums[n].push_back(static_cast<double>(block.samples) * mean);
  };
  for (const double z : flow.z) {
    const double mean = e.couette ? bottom + (top - bottom) * z / e.height : z * (2.1 - z);
    const double u = mean * (1 + 0.05 * s) + 0.01 * c * z + (e.couette ? 0 : bottom);
    const double v = 0.01 * c;
    const double w = 0.02 * s * z * (e.height - z);
    const double near = std::exp(-std::pow((z - 0.4) / 0.3, 2));
    const double far = std::exp(-std::pow((z - 1.6) / 0.3, 2));
    add(0, 0);
    add(1, u);
    add(2, v);
    add(3, w);
    add(4, u * u + a * (0.02 * (1 + 0.2 * c) * near + 0.015 * (1 + 0.1 * s) * far));
    add(5, v * v + a * (0.008 * (1 + 0.1 * s) * near + 0.009 * far));
    add(6, w * w + a * (0.005 * near + 0.006 * (1 + 0.1 * c) * far));
  }
  for (const double z : flow.z_face) {
    const double line = e.couette ? 1 : 1 - z;
    add(7, -side * a * 0.003 * z * (e.height - z) * line * (1 + 0.1 * s));
    add(8, side * 0.002 * line * (1 + 0.05 * c));
    add(9, 0);
  }
  return block;
}

const std::vector<Example> examples{
    {"channel",
     12,
     2,
     false,
     no_slip(0),
     no_slip(0),
     true,
     1,
     {{126.0703109567, 0.006754981050664, 3.340433133995, 2.049617257745, 1.664405212742, 0.5757666740076,
       24.56529765075}},
     {{1.531033719722, 0.0004824065047681, 0.06624010332025, 0.05185251862135, 0.002214815853573, 0.04527654879932,
       0.9037023262899}}},
    {"channel, odd number of cells, moving walls",
     13,
     2,
     false,
     no_slip(0.2),
     no_slip(0.2),
     true,
     1,
     {{126.0703109567, 0.006762767752252, 3.350055589269, 2.057278308098, 1.670777573223, 0.5707308486329,
       24.56529765075}},
     {{1.531033719722, 0.0004829372881841, 0.06627692794376, 0.05205023054681, 0.002251930544369, 0.0448805467318,
       0.9037023262899}}},
    {"couette",
     12,
     2,
     true,
     no_slip(-1),
     no_slip(1),
     false,
     1,
     {{126.0703109567, 0.004054521251206, 3.014992624091, 2.049617257745, 1.664405212742, 1.488786983057,
       22.20982861667}},
     {{1.531033719722, 9.860116110324e-05, 0.04422669511966, 0.05185251862135, 0.002214815853573, 0.1170737028265,
       0.2690552872898}}},
    {"couette, one wall moves",
     13,
     2,
     true,
     no_slip(0),
     no_slip(1),
     false,
     1,
     {{126.0703109567, 0.01621808500483, 3.022210406878, 2.057278308098, 1.670777573223, 1.488786983057,
       11.10491430834}},
     {{1.531033719722, 0.000394404644413, 0.0596858038024, 0.05205023054681, 0.002251930544369, 0.1170737028265,
       0.1345276436449}}},
    {"couette, reversed",
     12,
     2,
     true,
     no_slip(1),
     no_slip(-1),
     false,
     1,
     {{126.0703109567, 0.004054521251206, 3.020426384828, 2.049617257745, 1.664405212742, 1.488786983057,
       22.20982861667}},
     {{1.531033719722, 9.860116110324e-05, 0.03188493566471, 0.05185251862135, 0.002214815853573, 0.1170737028265,
       0.2690552872898}}},
    {"couette with a force",
     12,
     2,
     true,
     no_slip(-1),
     no_slip(1),
     true,
     1,
     {{126.0703109567, 0.004054521251206, 3.247891914759, 1.991977513825, 1.576429304077, 1.488786983057,
       22.27037399894}},
     {{1.531033719722, 9.860116110324e-05, 0.1042488361524, 0.08226619772836, 0.02086269778829, 0.1170737028265,
       0.1605646393129}}},
    {"open channel",
     12,
     1,
     false,
     no_slip(0),
     free_slip,
     true,
     1,
     {{126.0703109567, 0.007800488264052, 3.26222579547, 1.997651966806, 1.570766426434, 0.2198390731778,
       24.52720652432}},
     {{1.531033719722, 0.0005819246770796, 0.1050457035662, 0.0825031991088, 0.01922177690206, 0.01728747941497,
       0.9032086679116}}},
    {"shear at the top",
     12,
     2,
     false,
     free_slip,
     no_slip(0),
     true,
     1,
     {{126.0703109567, 0.006754981050664, 3.252869645806, 2.105679796717, 1.747791754266, 0.5757666740076,
       -1.559512804631}},
     {{1.531033719722, 0.0004824065047681, 0.104731356584, 0.03040764643857, 0.01926964208781, 0.04527654879932,
       0.05924941019101}}},
    {"laminar",
     12,
     2,
     false,
     no_slip(0),
     no_slip(0),
     true,
     0,
     {{125.21980674, 0.006751978606819, nan, nan, nan, nan, 24.5967477525}},
     {{0, 0, 0, 0, 0, 0, 1.286839759979e-14}}},
};

TEST(KeyFigures, AreThoseOfThePostProcessing) {
  for (const Example& e : examples) {
    const StatisticsFlow flow = flow_of(e);
    std::vector<StatisticsBlock> blocks;
    for (int b = 0; b < 9; ++b) blocks.push_back(block_of(e, flow, b));
    const KeyFigures::Estimates found = KeyFigures(flow, profiles()).estimate(blocks);
    for (std::size_t n = 0; n < key_figure_table.size(); ++n) {
      const std::string which = std::string(e.name) + ", " + key_figure_table[n].name;
      EXPECT_EQ(std::isnan(found.values[n]), std::isnan(e.values[n])) << which;
      if (std::isnan(e.values[n])) continue;
      EXPECT_NEAR(found.values[n], e.values[n], 1e-10 * std::abs(e.values[n])) << which;
      EXPECT_NEAR(found.half_widths[n], e.half_widths[n], 1e-9 * std::abs(e.values[n])) << which;
    }
  }
}

/// The channel of the examples with a weaker stress on the top wall.
StatisticsBlock uneven_block(const StatisticsFlow& flow) {
  StatisticsBlock block = block_of(examples[0], flow, 1);
  block.sums[8].back() /= 2;
  return block;
}

TEST(KeyFigures, AreOfBothWallsOrOfTheBottomWallWhereTheHalvesDiffer) {
  StatisticsFlow flow = flow_of(examples[0]);
  const StatisticsBlock block = uneven_block(flow);
  const auto figures = [&] { return KeyFigures(flow, profiles()).estimate({&block, 1}).values; };
  const KeyFigureValues averaged = figures();
  StatisticsFlow uneven_walls = flow;
  uneven_walls.top.kind = WallKind::slip;
  const KeyFigureValues of_bottom = KeyFigures(uneven_walls, profiles()).estimate({&block, 1}).values;
  const double bottom = block.sums[8].front() / static_cast<double>(block.samples);
  for (const double re_tau : {averaged[0], of_bottom[0]}) EXPECT_NEAR(re_tau, 2800 * std::sqrt(0.75 * bottom), 1e-9);
  EXPECT_GT(std::abs(averaged[2] / of_bottom[2] - 1), 0.02);

  const ScalarParameters even{.name = "c", .bottom = {ScalarWallKind::value, 1}, .top = {ScalarWallKind::value, 1}};
  const ScalarParameters odd{.name = "c", .bottom = {ScalarWallKind::value, 1}, .top = {ScalarWallKind::value, 2}};
  const auto expect = [&](const char* which, const KeyFigureValues& expected) {
    for (std::size_t n = 0; n < expected.size(); ++n) EXPECT_EQ(figures()[n], expected[n]) << which << " " << n;
  };
  flow.terms = {.is_mirrored = false};
  expect("rotation about y", of_bottom);
  flow.terms = {.is_mirrored = false, .is_turned = false};
  expect("rotation about x", of_bottom);
  flow.terms = {.is_turned = false, .changes_direction = true};
  expect("rotation about z", averaged);
  const auto buoyant = [](const ScalarParameters& scalar, const std::array<double, 3>& gravity) {
    FlowParameters parameters;
    parameters.scalars = {scalar};
    test::buoyancy_of(parameters) = {.scalar = "c", .coefficient = 1, .direction = gravity};
    return mean_flow(parameters);
  };
  flow.terms = buoyant(odd, {0, 0, -1});
  expect("stable stratification", averaged);
  flow.terms = buoyant(even, {0, 0, -1});
  expect("heavy fluid at the centre", of_bottom);
  flow.terms = buoyant(even, {-1, 0, 0});
  expect("rising flow with walls alike", averaged);
  flow.terms = buoyant(odd, {-1, 0, 0});
  expect("rising flow between different walls", of_bottom);
}

TEST(KeyFigures, HaveNoIntervalFromASingleBlock) {
  const Example& e = examples[0];
  const StatisticsFlow flow = flow_of(e);
  const StatisticsBlock block = block_of(e, flow, 1);
  const KeyFigures::Estimates found = KeyFigures(flow, profiles()).estimate({&block, 1});
  EXPECT_GT(found.values[0], 100);
  EXPECT_TRUE(std::isnan(found.half_widths[0]));
}

/// Walls that move obliquely have the friction coefficient that they have along x: of the stress and the velocity
/// difference in the direction of their motion.
TEST(KeyFigures, FrictionOfObliqueWallsIsThatOfWallsAlongX) {
  const Example& e =
      *std::ranges::find_if(examples, [](const Example& other) { return std::string(other.name) == "couette"; });
  const StatisticsFlow along = flow_of(e);
  StatisticsFlow oblique = along;
  const double c = std::cos(0.7);
  const double s = std::sin(0.7);
  oblique.bottom.velocity = {-c, -s, 0};
  oblique.top.velocity = {c, s, 0};
  std::vector<StatisticsBlock> blocks;
  std::vector<StatisticsBlock> turned;
  for (int b = 0; b < 9; ++b) {
    blocks.push_back(block_of(e, along, b));
    turned.push_back(blocks.back());
    for (std::size_t k = 0; k < turned.back().sums[8].size(); ++k) {
      turned.back().sums[8][k] *= c;
      turned.back().sums[9][k] = s * blocks.back().sums[8][k];
    }
  }
  const KeyFigures::Estimates expected = KeyFigures(along, profiles()).estimate(blocks);
  const KeyFigures::Estimates found = KeyFigures(oblique, profiles()).estimate(turned);
  EXPECT_NEAR(found.values[1] / expected.values[1], 1, 1e-12);
  EXPECT_NEAR(found.half_widths[1] / expected.half_widths[1], 1, 1e-9);
}

/// An autoregressive series of mean 0 and variance 1, whose correlation falls by e over so many blocks.
std::vector<double> series(std::mt19937_64& random, std::size_t count, double correlation_time) {
  std::normal_distribution<double> normal;
  const double factor = std::exp(-1 / correlation_time);
  std::vector<double> values{normal(random)};
  while (values.size() < count)
    values.push_back(factor * values.back() + std::sqrt(1 - factor * factor) * normal(random));
  return values;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(Confidence, IntervalsContainTheTrueMeanIn95Percent) {
  constexpr int trials = 4000;
  for (const auto& [correlation_time, count] : {std::pair(0.1, 30U), std::pair(1.0, 40U), std::pair(2.0, 80U)}) {
    std::mt19937_64 random(count);
    const std::vector<double> samples(count, 3.0);
    int inside = 0;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<double> values = series(random, count, correlation_time);
      const double mean = sum(values) / count;
      for (double& value : values) value = (value - mean) / count;
      inside += std::abs(mean) <= half_width95(values, samples) ? 1 : 0;
    }
    EXPECT_GE(inside, 0.93 * trials) << correlation_time;
    EXPECT_LE(inside, 0.97 * trials) << correlation_time;
  }
}

TEST(Confidence, ACosineOfHalfAPeriodHasTheAmplitudeOfOneOfSix) {
  std::vector<double> values;
  for (int n = 0; n < 48; ++n) {
    const double middle = (n + 0.5) / 48;
    values.push_back(
        (std::numbers::sqrt2 * 0.1 * std::cos(std::numbers::pi * middle) + std::cos(7 * std::numbers::pi * middle)) /
        48);
  }
  EXPECT_NEAR(half_width95(values, std::vector<double>(48, 1.0)), 2.446912 * 0.1 / std::sqrt(6), 1e-7);
}

/// Blocks of a flow whose wall shear is that of the series.
std::vector<StatisticsBlock> blocks_of(const StatisticsFlow& flow, const std::vector<double>& shears) {
  std::vector<StatisticsBlock> blocks;
  for (std::size_t n = 0; n < shears.size(); ++n) {
    StatisticsBlock block;
    block.samples = 4;
    block.time_begin = 100 + 10 * static_cast<double>(n);
    block.time_end = block.time_begin + 10;
    for (const ProfileInfo& profile : profiles())
      block.sums.emplace_back(static_cast<std::size_t>(profile.length({1, 1, std::ssize(flow.z)})), 0.0);
    block.sums[8].front() = 4 * shears[n];
    block.sums[8].back() = -4 * shears[n];
    blocks.push_back(std::move(block));
  }
  return blocks;
}

const StatisticsFlow small{0.01, no_slip(0), no_slip(0), false, {0.5, 1.5}, {0, 1, 2}};

/// Random shears about 1.
std::vector<double> shears(std::size_t count, double scatter) {
  std::mt19937_64 random(5);
  std::vector<double> values = series(random, count, 0.1);
  for (double& value : values) value = 1 + scatter * value;
  return values;
}

/// The number of blocks at which a run ends; 0 if it does not.
std::size_t end_of(const KeyFigures& figures, const AccuracyLimits& limits,
                   const std::vector<StatisticsBlock>& blocks) {
  const std::span all(blocks);
  for (std::size_t count = min_blocks - 1; count <= all.size(); ++count)
    if (assess(figures, limits, all.first(count)).reached) return count;
  return 0;
}

TEST(Accuracy, EndsARunNotBeforeThereAreThirtyBlocks) {
  const KeyFigures figures(small, profiles());
  EXPECT_EQ(end_of(figures, {0.5}, blocks_of(small, shears(40, 0.01))), min_blocks);
  EXPECT_EQ(end_of(figures, {1e-9}, blocks_of(small, shears(40, 0.01))), 0U);
}

TEST(Accuracy, NeedsEveryLimitToHold) {
  const KeyFigures figures(small, profiles());
  const auto blocks = blocks_of(small, shears(40, 0.01));
  EXPECT_TRUE(assess(figures, {0.5}, blocks).reached);
  EXPECT_FALSE(assess(figures, {0.5, {}, 0.5}, blocks).reached) << "the peak of u' is not defined in a laminar flow";
  EXPECT_FALSE(assess(figures, {0.5}, {}).reached);
}

TEST(Accuracy, NeedsLimitsToHaveHeldForATenthOfTheBlocks) {
  const KeyFigures figures(small, profiles());
  const auto blocks = blocks_of(small, shears(200, 0.2));
  const AccuracyLimits limits{0.015};
  std::vector<bool> hold{false};
  for (std::size_t count = 1; count <= blocks.size(); ++count) {
    const auto estimates = figures.estimate(std::span(blocks).first(count));
    hold.push_back(estimates.half_widths[0] <= 0.015 * estimates.values[0]);
  }
  const std::size_t end = end_of(figures, limits, blocks);
  ASSERT_GT(end, min_blocks + 10);
  const auto from = hold.begin() + static_cast<std::ptrdiff_t>(end - (end + 9) / 10);
  EXPECT_EQ(std::count(from + 1, hold.begin() + static_cast<std::ptrdiff_t>(end) + 1, false), 0);
  EXPECT_GT(std::count(hold.begin() + min_blocks, hold.begin() + static_cast<std::ptrdiff_t>(end), false), 0);
}

/// As many digits as the interval has; no interval where there is only round-off; a word where it is not determined.
TEST(Accuracy, PrintsValuesAndIntervalsWithMatchingDigits) {
  Accuracy accuracy{40, {}, {0.01}, false, 0};
  const auto text = [&](double value, double half_width) {
    accuracy.figures.values[0] = value;
    accuracy.figures.half_widths[0] = half_width;
    return figure_text(accuracy, 0);
  };
  EXPECT_EQ(text(180.1234, 3.8), "re_tau 180.1 +- 2.1 % (limit 1 %)");
  EXPECT_EQ(text(180.1234, 0.01), "re_tau 180.123 +- 0.0056 % (limit 1 %)");
  EXPECT_EQ(text(5284, 120), "re_tau 5280 +- 2.3 % (limit 1 %)");
  EXPECT_EQ(text(1, 1.7e-17), "re_tau 1 (limit 1 %)");
  EXPECT_EQ(text(42, 46), "re_tau 42 (not determined: the interval contains 0) (limit 1 %)");
  EXPECT_EQ(text(180.1234, nan), "re_tau 180.12 (no interval) (limit 1 %)");
  EXPECT_EQ(text(nan, nan), "re_tau not defined (limit 1 %)");
}

TEST(Accuracy, AFigureIsWithinItsLimitIn95PercentOfTheRunsThatEndByIt) {
  constexpr int trials = 500;
  constexpr double limit = 0.012;  // reached after 60 blocks on average
  const KeyFigures figures(small, profiles());
  std::mt19937_64 random(3);
  int inside = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> values = series(random, 600, 1);
    for (double& value : values) value = 1 + 0.05 * value;
    const auto blocks = blocks_of(small, values);
    const std::size_t end = end_of(figures, {limit}, blocks);
    ASSERT_GT(end, 0U);
    const double re_tau = figures.estimate(std::span(blocks).first(end)).values[0];
    inside += std::abs(re_tau / 100 - 1) <= limit ? 1 : 0;
  }
  EXPECT_GE(inside, 0.93 * trials);
  EXPECT_LE(inside, 0.97 * trials);
}

TEST(Accuracy, ExtrapolatesWidthsWithTheRootOfTheTimeAveraged) {
  const KeyFigures figures(small, profiles());
  const auto blocks = blocks_of(small, shears(50, 0.2));
  const auto now = figures.estimate(blocks);
  const double limit = now.half_widths[0] / now.values[0] / 3;
  EXPECT_NEAR(assess(figures, {limit}, blocks).expected_time, 100 + 9 * 500, 1e-6);
  // Limits that hold from the first block on: the smallest number of blocks decides.
  EXPECT_NEAR(assess(figures, {1.0}, std::span(blocks).first(10)).expected_time, 100 + 10.0 * min_blocks, 1e-6);
  EXPECT_TRUE(std::isinf(assess(figures, {limit}, std::span(blocks).first(6)).expected_time));
  const std::string line = summary(assess(figures, {limit}, blocks));
  EXPECT_TRUE(line.starts_with("Statistics of 50 blocks: re_tau ")) << line;
  EXPECT_TRUE(line.ends_with("; time.until will probably be reached at time 4600")) << line;
}

TEST(Accuracy, NamesTheFigureFarthestFromItsLimit) {
  Accuracy accuracy;
  accuracy.figures.values = {180, 0.008, 2.5};
  accuracy.figures.half_widths = {0.9, 0.00008, 0.1};
  accuracy.limits = {0.01, 0.002, {}};
  EXPECT_EQ(farthest_limit(accuracy), "cf +- 1 % (limit 0.2 %)");
  accuracy.limits = {0.01, {}, 1.0};
  EXPECT_EQ(farthest_limit(accuracy), "re_tau +- 0.5 % (limit 1 %)");
  accuracy.figures.half_widths[2] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(farthest_limit(accuracy), "u_rms_peak (no interval) (limit 100 %)");
}

}  // namespace
}  // namespace sluice
