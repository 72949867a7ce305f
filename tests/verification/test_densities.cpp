// Histograms of fields with known values, and quadrants against sums over the points. (That they are the same on every
// process grid: test_process_grid.)
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

#include "core/device/memory.hpp"
#include "core/support/random.hpp"
#include "solver/statistics/densities.hpp"
#include "solver/statistics/statistics.hpp"
#include "tests/support/flow_case.hpp"
#include "tests/support/sampled_flow.hpp"

namespace sluice {
namespace {

using test::by_name;
using test::Flow;
using test::FlowCase;
using test::sampled_case;
using test::Sums;

Densities densities_of(const Flow& flow, const std::vector<std::int64_t>& faces = {}) {
  return {flow.grid, flow.stepper.metrics(), flow.settings.flow, flow.stepper.walls(), flow.state.p.box(),
          faces,     flow.comm.world()};
}

/// Counts of one plane.
std::vector<double> plane_of(const std::vector<double>& counts, std::size_t plane, std::size_t bins) {
  const auto first = counts.begin() + static_cast<std::ptrdiff_t>(plane * bins);
  return {first, first + static_cast<std::ptrdiff_t>(bins)};
}

double total(const std::vector<double>& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0.0);
}

class AllForms : public testing::TestWithParam<test::Discretisation> {};

/// Along x, u, v and w take the values -1, 1, 1, -1 ... times a number for each plane, so that the standard deviation
/// is that number, and the values lie on edges of bins 8 widths from the middle. The second sample has the values moved
/// by whole and a half widths, some of them beyond all bins.
TEST_P(AllForms, KnownValuesAreCountedInTheirBins) {
  const std::array<std::int64_t, 3> cells{8, 6, 5};
  Flow flow(sampled_case(cells, GetParam()));
  Densities densities = densities_of(flow);
  const auto sign = [&](double x) { return std::cos(4 * std::numbers::pi * x / 4 + 0.1) > 0 ? 1.0 : -1.0; };
  const auto set = [&](double shift) {
    const auto value = [=](double x, double /*y*/, double z) { return 3 + (1 + z) * (sign(x) + shift / 8); };
    flow.set_velocity(value, value, [=](double x, double /*y*/, double z) { return (1 + z) * (sign(x) + shift / 8); });
    flow.set(flow.state.p, value);
  };
  set(0);
  densities.sample(flow.state, 0);
  set(2.5);
  densities.sample(flow.state, 0);
  set(200);
  densities.sample(flow.state, 0);
  set(-200);
  densities.sample(flow.state, 0);
  const Sums sums = by_name(densities);
  for (const std::string name : {"u", "v", "w", "p"}) {
    const bool faces = name == "w";
    for (std::size_t k = faces ? 1 : 0; k < 5; ++k) {
      const double z = faces ? flow.grid.z_nodes()[k] : flow.grid.z_center(static_cast<std::int64_t>(k));
      EXPECT_NEAR(sums.at(name + "_middle")[k], faces ? 0 : 3, test::round_off(1e-14));
      EXPECT_NEAR(sums.at(name + "_width")[k], (1 + z) / 8, test::round_off(1e-14));
      const std::vector<double> counts = plane_of(sums.at(name + "_histogram"), k, 128);
      EXPECT_EQ(total(counts), 4 * 48);
      EXPECT_EQ(counts[0], 48);
      EXPECT_EQ(counts[127], 48);
      EXPECT_EQ(counts[64 - 8 + 2], 24);
      EXPECT_EQ(counts[64 + 8 + 2], 24);
      EXPECT_EQ(counts[64 - 8] + counts[64 - 9], 24);  // on the edge of these bins
      EXPECT_EQ(counts[64 + 8] + counts[64 + 7], 24);
    }
  }
  EXPECT_EQ(densities.open_block().samples, 4);
}

/// On a wall nothing fluctuates, and all points are in one bin, whatever the round-off of u there.
TEST_P(AllForms, WallsWithoutFluctuationsHaveOneBin) {
  Flow flow(sampled_case({8, 6, 5}, GetParam()));
  flow.set_random(3);
  Densities densities = densities_of(flow, {0, 5});
  densities.sample(flow.state, 0);
  const Sums sums = by_name(densities);
  for (const std::size_t face : {0, 5}) {
    EXPECT_EQ(plane_of(sums.at("w_histogram"), face, 128)[64], 48);
    for (int n = 1; n <= 4; ++n) EXPECT_NEAR(sums.at("uw_q" + std::to_string(n))[face], 0, 1e-18);
  }
  for (const std::size_t wall : {0, 1}) {
    const std::vector<double> joint = plane_of(sums.at("uw_joint"), wall, 64 * 64);
    EXPECT_EQ(total(joint), 48);
    EXPECT_EQ(joint[32 * 64 + 32], 48);
    EXPECT_EQ(total(plane_of(sums.at("shear_joint"), wall, 64 * 64)), 48);
  }
  for (const double width : sums.at("w_width")) EXPECT_GT(width, 0);
}

/// Every count against a loop over the points of a random flow, with the bins that the file gives.
TEST_P(AllForms, HistogramsAreThoseOfThePoints) {
  const std::array<std::int64_t, 3> cells{19, 12, 9};
  const FlowCase settings = sampled_case(cells, GetParam());
  Flow flow(settings);
  flow.set_random(5);
  flow.advance(2, 0.01);
  const std::vector<std::int64_t> faces{0, 2, 2, 8};
  Densities densities = densities_of(flow, faces);
  densities.sample(flow.state, 0);
  flow.advance(3, 0.01);
  densities.sample(flow.state, 0);
  const Sums sums = by_name(densities);

  // The second sample again, in the bins of the first: the block of a restarted run.
  StatisticsBlock first = densities.open_block();
  for (std::size_t n = 0; n < first.sums.size(); ++n) {
    if (!densities.profiles()[n].constant) std::ranges::fill(first.sums[n], 0.0);
  }
  Densities second = densities_of(flow, faces);
  second.set_open_block(first);
  second.sample(flow.state, 0);
  Sums found = by_name(second);

  const auto u = flow.read(flow.state.velocity.u);
  const auto v = flow.read(flow.state.velocity.v);
  const auto w = flow.read(flow.state.velocity.w);
  const auto p = flow.read(flow.state.p);
  const auto bin = [&](const std::string& name, std::size_t plane, double value, int bins) {
    const double widths = (value - sums.at(name + "_middle")[plane]) / sums.at(name + "_width")[plane];
    return static_cast<std::size_t>(std::clamp(std::floor(widths * bins / 128) + 0.5 * bins, 0.0, bins - 1.0));
  };
  const auto at = [&](const auto& field, std::int64_t i, std::int64_t j, std::int64_t k) {
    return field((i + cells[0]) % cells[0], j, k);
  };
  const auto expect_same = [&](const std::string& name, const std::vector<double>& expected) {
    ASSERT_EQ(found.at(name).size(), expected.size()) << name;
    double different = 0;
    for (std::size_t n = 0; n < expected.size(); ++n) different += std::abs(found.at(name)[n] - expected[n]);
    EXPECT_LE(different, sizeof(real) == sizeof(double) ? 0 : 40) << name;
  };
  for (const auto& [name, field] : {std::pair{"u", &u}, {"v", &v}, {"p", &p}, {"w", &w}}) {
    const std::size_t above = field == &w ? 1 : 0;
    std::vector<double> expected((9 + above) * 128);
    if (above == 1) expected[64] = 19 * 12;  // w = 0 on the bottom wall
    for (std::int64_t k = 0; k < 9; ++k) {
      const std::size_t plane = static_cast<std::size_t>(k) + above;
      for (std::int64_t j = 0; j < 12; ++j) {
        for (std::int64_t i = 0; i < 19; ++i) ++expected[plane * 128 + bin(name, plane, at(*field, i, j, k), 128)];
      }
    }
    expect_same(std::string(name) + "_histogram", expected);
  }

  // Away from the walls: u and w where the flux is formed, and its quadrants.
  const bool second_order = settings.flow.order == Order::second;
  std::vector<double> joint(faces.size() * 64 * 64);
  for (std::size_t n = 1; n < faces.size(); ++n) {
    const std::int64_t below = faces[n] - 1;
    std::vector<double> us, ws;
    for (std::int64_t j = 0; j < 12; ++j) {
      for (std::int64_t i = 0; i < 19; ++i) {
        us.push_back((at(u, i, j, below) + at(u, i, j, below + 1)) / 2);
        const double near = at(w, i, j, below) + at(w, i + 1, j, below);
        const double far = at(w, i - 1, j, below) + at(w, i + 2, j, below);
        ws.push_back(second_order ? near / 2 : (9 * near - far) / 16);
        const std::size_t of_u = bin("u_joint", n, us.back(), 64);
        ++joint[n * 64 * 64 + of_u * 64 + bin("w_joint", n, ws.back(), 64)];
      }
    }
    const auto points = static_cast<double>(us.size());
    const double u_mean = total(us) / points;
    const double w_mean = total(ws) / points;
    double flux[4] = {}, fraction[4] = {};
    for (std::size_t m = 0; m < us.size(); ++m) {
      const double du = us[m] - u_mean, dw = ws[m] - w_mean;
      const std::size_t quadrant = dw > 0 ? (du > 0 ? 0 : 1) : (du > 0 ? 3 : 2);
      flux[quadrant] += du * dw / points;
      fraction[quadrant] += 1 / points;
    }
    for (std::size_t q = 0; q < 4; ++q) {
      const std::string number = std::to_string(q + 1);
      const auto face = static_cast<std::size_t>(faces[n]);
      EXPECT_NEAR(found.at("uw_q" + number)[face], flux[q], test::round_off(1e-14));
      EXPECT_NEAR(found.at("fraction_q" + number)[face], fraction[q], test::round_off(1e-14));
    }
  }
  std::copy_n(found.at("uw_joint").begin(), 64 * 64, joint.begin());  // on the wall
  expect_same("uw_joint", joint);
}

TEST_P(AllForms, QuadrantsAddUpToTheFlux) {
  const FlowCase settings = sampled_case({19, 12, 14}, GetParam());
  Flow flow(settings);
  flow.set_random(21);
  flow.advance(2, 0.01);
  Statistics statistics(flow.grid, flow.stepper.metrics(), settings.flow, flow.stepper.walls(), flow.state.p.box(),
                        {.budgets = false}, flow.comm.world());
  statistics.sample(flow.state, 0.25);
  Densities densities = densities_of(flow);
  densities.sample(flow.state, 0.25);
  EXPECT_EQ(densities.open_block().forcing, 0.25);
  const Sums profiles = by_name(statistics);
  const Sums sums = by_name(densities);
  double worst = 0, largest = 0;
  for (std::size_t face = 1; face < 14; ++face) {
    double parts = 0, points = 0;
    for (const char* n : {"1", "2", "3", "4"}) {
      parts += sums.at(std::string("uw_q") + n)[face];
      points += sums.at(std::string("fraction_q") + n)[face];
    }
    // The mean of w is zero: no net flux through any plane.
    worst = std::max(worst, std::abs(parts - profiles.at("uw")[face]));
    largest = std::max(largest, std::abs(parts));
    EXPECT_NEAR(points, 1, 1e-14);
    EXPECT_GE(sums.at("uw_q1")[face], 0);
    EXPECT_LE(sums.at("uw_q2")[face], 0);
  }
  test::expect_at_most("quadrants - flux, over the largest flux", worst / largest, test::round_off(1e-12));
}

/// The shear of u = z^2 + noise, exactly as the statistics' stress has it.
TEST_P(AllForms, WallShearIsTheViscousStressAtTheWalls) {
  const FlowCase settings = sampled_case({16, 12, 8}, GetParam());
  Flow flow(settings);
  flow.set_random(9);
  flow.advance(1, 0.01);
  Statistics statistics(flow.grid, flow.stepper.metrics(), settings.flow, flow.stepper.walls(), flow.state.p.box(),
                        {.budgets = false}, flow.comm.world());
  statistics.sample(flow.state, 0);
  Densities densities = densities_of(flow);
  densities.sample(flow.state, 0);
  const Sums profiles = by_name(statistics);
  const Sums sums = by_name(densities);
  for (const auto& [name, stress] : {std::pair{"shear_x", "tau_xz"}, {"shear_y", "tau_yz"}}) {
    EXPECT_EQ(sums.at(std::string(name) + "_middle")[0], profiles.at(stress).front());
    EXPECT_EQ(sums.at(std::string(name) + "_middle")[1], profiles.at(stress).back());
    const std::vector<double>& counts = sums.at(std::string(name) + "_histogram");
    EXPECT_EQ(total(counts), 2 * 16 * 12);
    // The joint histogram has the same points: its sums over the other component, in bins that are two widths wide.
    for (std::size_t wall = 0; wall < 2; ++wall) {
      const std::vector<double> joint = plane_of(sums.at("shear_joint"), wall, 64 * 64);
      for (std::size_t bin = 0; bin < 64; ++bin) {
        double sum = 0;
        for (std::size_t other = 0; other < 64; ++other)
          sum += std::string(name) == "shear_x" ? joint[bin * 64 + other] : joint[other * 64 + bin];
        EXPECT_EQ(sum, counts[wall * 128 + 2 * bin] + counts[wall * 128 + 2 * bin + 1]) << name << bin;
      }
    }
  }
}

/// A value that is not finite is counted within the histogram, and spoils the quadrants of its planes alone.
TEST_P(AllForms, ValuesThatAreNotFiniteStayInTheirPlanes) {
  for (const double value :
       {std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    Flow flow(sampled_case({16, 8, 6}, GetParam()));
    flow.set_random(3);
    Densities densities = densities_of(flow, {3});
    densities.sample(flow.state, 0);
    flow.set(flow.state.velocity.u, [&](double x, double y, double z) {
      const bool there =
          x < 1.5 * flow.grid.dx() && y < 1.5 * flow.grid.dy() && std::abs(z - flow.grid.z_center(2)) < 1e-9;
      return there ? value : 0.1;
    });
    densities.sample(flow.state, 0);
    const Sums sums = by_name(densities);
    for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(total(plane_of(sums.at("u_histogram"), k, 128)), 2 * 16 * 8);
    EXPECT_EQ(total(sums.at("uw_joint")), 2 * 16 * 8);
    for (std::size_t face = 0; face < 7; ++face)
      EXPECT_EQ(std::isfinite(sums.at("uw_q1")[face]), face != 2 && face != 3) << face;
  }
}

/// A normal distribution gives the histogram of a normal distribution, within the error of so many points.
TEST(Densities, AGaussianFieldHasItsHistogram) {
  FlowCase settings = sampled_case({128, 128, 4}, test::discretisations[0]);
  Flow flow(settings);
  std::uint64_t n = 0;
  const auto gaussian = [&](double /*x*/, double /*y*/, double /*z*/) {
    n += 2;
    return 0.5 +
           0.2 * std::sqrt(-2 * std::log(1 - uniform01(7, n))) * std::cos(2 * std::numbers::pi * uniform01(7, n + 1));
  };
  flow.set(flow.state.p, gaussian);
  Densities densities = densities_of(flow);
  densities.sample(flow.state, 0);
  const Sums sums = by_name(densities);
  const std::vector<double> counts = plane_of(sums.at("p_histogram"), 1, 128);
  const double middle = sums.at("p_middle")[1], width = sums.at("p_width")[1];
  EXPECT_NEAR(middle, 0.5, 0.2 * 4 / 128);
  EXPECT_NEAR(width, 0.2 / 8, 0.2 / 8 * 4 / 128);
  double chi_squared = 0;
  int bins = 0;
  for (int b = 0; b < 128; ++b) {
    const auto below = [&](int edge) {
      return 0.5 * std::erfc(-(middle + (edge - 64) * width - 0.5) / 0.2 / std::sqrt(2));
    };
    const double expected = 128 * 128 * (below(b + 1) - below(b));
    if (expected < 10) continue;
    chi_squared += std::pow(counts[static_cast<std::size_t>(b)] - expected, 2) / expected;
    ++bins;
  }
  test::expect_at_most("chi squared per bin of a Gaussian field", chi_squared / bins, 1.6);
}

/// Constants stay through blocks, and end with the flow parameters.
TEST(Densities, BlocksHaveTheSameBins) {
  Flow flow(sampled_case({16, 8, 6}, test::discretisations[0]));
  flow.set_random(3);
  Densities densities = densities_of(flow);
  densities.sample(flow.state, 0);
  const Sums first = by_name(densities);
  flow.set_random(4);
  densities.sample(flow.state, 0);
  densities.close_block(1);
  EXPECT_EQ(by_name(densities).at("u_width"), first.at("u_width"));
  EXPECT_EQ(total(by_name(densities).at("u_histogram")), 0);

  Densities restarted = densities_of(flow);  // from a checkpoint between two blocks
  restarted.set_open_block(densities.open_block());
  for (Densities* each : {&densities, &restarted}) each->sample(flow.state, 0);
  EXPECT_EQ(by_name(densities), by_name(restarted));
  EXPECT_EQ(by_name(densities).at("u_middle"), first.at("u_middle"));

  Densities anew = densities_of(flow);
  anew.set_open_block(densities.open_block());
  anew.start_anew();
  anew.sample(flow.state, 0);
  EXPECT_NE(by_name(anew).at("u_width"), first.at("u_width"));
}

/// The memory estimate counts a copy of a field for checkpoints, which are not written during a sample.
TEST(Densities, ASampleKeepsLittleMemory) {
  const std::array<std::int64_t, 3> cells{128, 64, 16};
  Flow flow(sampled_case(cells, test::discretisations[0]));
  flow.set_random(3);
  densities_of(flow).sample(flow.state, 0);  // allocates what all reductions on a GPU share
  Densities densities = densities_of(flow);
  const std::size_t before = device::allocated_bytes();
  device::reset_peak_bytes();
  densities.sample(flow.state, 0);
  const auto field = sizeof(real) * static_cast<std::size_t>(cells[0] * cells[1] * cells[2]);
  const auto kept = static_cast<double>(device::allocated_bytes() - before);
  EXPECT_LT(kept, 2 * Densities::block_bytes(cells, 0));
  EXPECT_LT(device::peak_bytes() - before, field);
}

INSTANTIATE_TEST_SUITE_P(Densities, AllForms, testing::ValuesIn(test::discretisations),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
