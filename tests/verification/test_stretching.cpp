// The faces of the grid along z: increasing, symmetric to the bit, and on their documented formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/support/error.hpp"
#include "solver/grid/grid.hpp"
#include "solver/grid/stretching.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

void expect_increasing(const std::vector<double>& z, double height) {
  EXPECT_EQ(z.front(), 0);
  EXPECT_EQ(z.back(), height);
  for (std::size_t k = 1; k < z.size(); ++k) EXPECT_GT(z[k], z[k - 1]) << k;
}

/// The upper faces are the height minus the lower ones, with nothing lost.
void expect_symmetric(const std::vector<double>& z) {
  const std::size_t nz = z.size() - 1;
  for (std::size_t k = 0; 2 * k <= nz; ++k) EXPECT_EQ(z[nz - k], z.back() - z[k]) << k;
  if (nz % 2 == 0) {
    EXPECT_EQ(z[nz / 2], z.back() / 2);
  }
}

TEST(Stretching, TanhFollowsItsFormula) {
  for (const std::int64_t nz : {144, 33}) {
    for (const double a : {0.5, 1.6, 2.5}) {
      const std::vector<double> z = tanh_nodes(nz, 2, a, true);
      expect_increasing(z, 2);
      expect_symmetric(z);
      double worst = 0;
      for (std::int64_t k = 0; k <= nz; ++k) {
        const double formula =
            1 + std::tanh(a * (2.0 * static_cast<double>(k) / static_cast<double>(nz) - 1)) / std::tanh(a);
        worst = std::max(worst, std::abs(z[static_cast<std::size_t>(k)] - formula));
      }
      test::expect_at_most("tanh faces, distance from the formula", worst, 1e-15);
    }
  }
}

TEST(Stretching, OpenChannelIsTheLowerHalfOfAChannel) {
  const std::vector<double> channel = tanh_nodes(96, 2, 1.7, true);
  const std::vector<double> open = tanh_nodes(48, 1, 1.7, false);
  expect_increasing(open, 1);
  double worst = 0;
  for (std::size_t k = 0; k <= 48; ++k) worst = std::max(worst, std::abs(open[k] - channel[k]));
  test::expect_at_most("open channel - lower half", worst, 1e-15);
  const std::vector<double> natural = natural_nodes(144, 2, 182, true);
  const std::vector<double> natural_open = natural_nodes(72, 1, 182, false);
  worst = 0;
  for (std::size_t k = 0; k <= 72; ++k) worst = std::max(worst, std::abs(natural_open[k] - natural[k]));
  test::expect_at_most("natural, open channel - lower half", worst, 1e-15);
}

/// Pirozzoli & Orlandi 2021, eq. (13), at Re_tau = 182 with 144 cells.
TEST(Stretching, NaturalFollowsItsFormula) {
  constexpr double re_tau = 182;
  const std::vector<double> z = natural_nodes(144, 2, re_tau, true);
  expect_increasing(z, 2);
  expect_symmetric(z);
  // alpha is what puts face 72 at z+ = re_tau
  const auto z_plus = [](double k, double alpha) {
    const double ratio = k * k / 1600;
    return (0.05 * k + std::pow(0.75 * alpha * 0.8 * k, 4.0 / 3) * ratio) / (1 + ratio);
  };
  double low = 0.3, high = 4;
  for (int n = 0; n < 100; ++n) (z_plus(72, (low + high) / 2) < re_tau ? low : high) = (low + high) / 2;
  double worst = 0;
  for (int k = 0; k <= 72; ++k)
    worst = std::max(worst, std::abs(z[static_cast<std::size_t>(k)] * re_tau - z_plus(k, low)));
  test::expect_at_most("natural faces at Re_tau 182, distance from the formula in wall units", worst, 1e-10);
  test::expect_at_most("spacing in Kolmogorov lengths", low, 2);
  test::expect_at_least("spacing in Kolmogorov lengths", low, 0.8);
  test::expect_at_most("first centre, wall units", (z[0] + z[1]) / 2 * re_tau, 0.5);
  test::expect_at_most("centre spacing, wall units", (z[72] - z[71]) * re_tau, 5);
  EXPECT_THROW(natural_nodes(16, 2, 5000, true), Error);
  EXPECT_THROW(natural_nodes(4096, 2, 100, true), Error);
}

std::string fault_of(const std::string& text, std::int64_t nz = 2, double height = 2) {
  try {
    nodes_from_text(text, "z.txt", nz, height);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return {};
}

TEST(Stretching, FacesAreReadAsProgramsWriteThem) {
  const std::vector<double> expected{0, 0.0625, 0.5, 2};
  EXPECT_EQ(nodes_from_text("0\n0.0625\n0.5\n2\n", "z.txt", 3, 2), expected);
  EXPECT_EQ(nodes_from_text("  0.0D+00\r\n  6.25D-02\r\n  5.0d-1\r\n  2.D0\r\n", "z.txt", 3, 2), expected);
  EXPECT_EQ(nodes_from_text("\xef\xbb\xbf# faces\n+0.0\n\n .625E-1 # near the wall\n.5\n2", "z.txt", 3, 2), expected);
}

TEST(Stretching, FaultsOfFacesHaveTheirPlace) {
  EXPECT_EQ(fault_of("0\n1\n2\n"), "");
  for (const char* bad : {"nan", "inf", "-inf", "1.0D", "D1", "0x1", "1,0", "1 1", "+-1", "--1", "1d1d1", "1e999"})
    EXPECT_EQ(fault_of(std::string("0\n") + bad + "\n2\n"),
              std::string("z.txt:2: '") + bad + "' is not a number; expected one face coordinate per line");
  EXPECT_EQ(fault_of(std::string("0\n1\0\n2\n", 7)),
            "z.txt:2:2: control character 0x00 in '1\\x00'; a file of face coordinates is plain text");
  EXPECT_EQ(fault_of("\xff\xfe"), "z.txt:1:1: text in UTF-16; a file of face coordinates is UTF-8");
  EXPECT_EQ(fault_of("0\n2\n"), "z.txt: 2 face coordinates, but grid.cells asks for 2 cells in z, which have 3 faces");
  EXPECT_EQ(fault_of("0\n.5\n1\n"),
            "z.txt: the faces run from 0 to 1, but the domain from 0 to 2; multiply all of them by 2");
  EXPECT_EQ(fault_of("-1\n0\n1\n"),
            "z.txt: the faces run from -1 to 1, but the domain from 0 to 2; shift and scale them to that height");
}

TEST(Stretching, GridMetricsFollowTheFaces) {
  const std::vector<double> z = tanh_nodes(31, 2, 2, true);
  const Grid grid({8, 4, 31}, 4, 2, z);
  for (std::int64_t k = 0; k < 31; ++k) {
    const auto n = static_cast<std::size_t>(k);
    EXPECT_EQ(grid.z_center(k), (z[n] + z[n + 1]) / 2);
    EXPECT_EQ(grid.dz(k), z[n + 1] - z[n]);
    if (k < 30) {
      EXPECT_NEAR(grid.dz_center(k), grid.z_center(k + 1) - grid.z_center(k), 1e-15);
    }
  }
  EXPECT_EQ(grid.dz(-1), grid.dz(0));
  EXPECT_EQ(grid.dz(31), grid.dz(30));
  EXPECT_EQ(grid.dz_min(), std::min(grid.dz(0), grid.dz(30)));
  EXPECT_EQ(grid.dx(), 0.5);
  std::vector<double> folded = z;
  std::swap(folded[3], folded[4]);
  EXPECT_THROW(Grid({8, 4, 31}, 4, 2, folded), Error);
}

}  // namespace
}  // namespace sluice
