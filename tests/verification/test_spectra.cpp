// Spectra against fields with known modes, and against the profiles whose parts they are. (That they are the same on
// every process grid: test_process_grid.)
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

#include "core/device/memory.hpp"
#include "solver/statistics/spectra.hpp"
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

/// With a scalar between walls of given value and flux.
FlowCase heated_case(std::array<std::int64_t, 3> cells, const test::Discretisation& form) {
  FlowCase settings = sampled_case(cells, form);
  settings.flow.scalars = {
      {.name = "c", .prandtl = 0.7, .bottom = {ScalarWallKind::value, 2}, .top = {ScalarWallKind::flux, 0.1}}};
  return settings;
}

void set_rough_scalar(Flow& flow) {
  flow.set(flow.state.transported[0].field,
           [](double x, double y, double z) { return 0.7 + std::sin(1e4 * (x + 2 * y + 3 * z)); });
  flow.stepper.fill_halos(flow.state);
}

Sums spectra_of(Flow& flow, const std::vector<double>& heights = {}) {
  Spectra spectra(flow.settings.flow, flow.comm, flow.decomposition, planes_nearest_to(heights, flow.grid));
  flow.stepper.sample(flow.state, 0.25, spectra);
  EXPECT_EQ(spectra.open_block().samples, 1);
  EXPECT_EQ(spectra.open_block().forcing, 0.25);
  return by_name(spectra);
}

/// For each z, the sum over all modes.
std::vector<double> sums_over_modes(const std::vector<double>& spectrum, std::int64_t planes) {
  const auto modes = static_cast<std::ptrdiff_t>(spectrum.size()) / planes;
  std::vector<double> sums;
  for (auto row = spectrum.begin(); row != spectrum.end(); row += modes)
    sums.push_back(std::accumulate(row, row + modes, 0.0));
  return sums;
}

class AllForms : public testing::TestWithParam<test::Discretisation> {};

/// Every mode that the grid has, its amplitude different in each plane and for each mode.
TEST_P(AllForms, KnownModesAreExact) {
  // A GPU has kernels for nx = 64 and for ny = 32, 416 and 800, with 16, 8 and 4 columns (double precision) in a thread
  // block.
  for (const std::array<std::int64_t, 3> cells :
       {std::array<std::int64_t, 3>{8, 6, 4}, {7, 9, 5}, {6, 1, 4}, {64, 32, 4}, {20, 416, 4}, {12, 800, 4}}) {
    Flow flow(sampled_case(cells, GetParam()));
    const std::int64_t nx = cells[0], ny = cells[1], nz = cells[2];
    const auto amplitude = [](std::int64_t m, std::int64_t k) { return 1.0 / static_cast<double>(m + 1 + 3 * k); };
    const auto plane_of = [&](double z) {
      std::int64_t k = 0;
      while (k + 1 < nz && flow.grid.z_center(k) < z - 1e-9) ++k;
      return k;
    };
    // u: modes along x, each with a phase; the highest of an even number is its own complex conjugate.
    const auto wave = [](std::int64_t m, double x, double length, double phase) {
      return std::cos(2 * std::numbers::pi * static_cast<double>(m) * x / length + phase);
    };
    const auto phase = [](std::int64_t m, std::int64_t n) {
      return m == 0 || 2 * m == n ? 0 : 0.3 * static_cast<double>(m);
    };
    flow.set(flow.state.velocity.u, [&](double x, double, double z) {
      double sum = 0;
      for (std::int64_t m = 0; m <= nx / 2; ++m) sum += amplitude(m, plane_of(z)) * wave(m, x, 4, phase(m, nx));
      return sum;
    });
    flow.set(flow.state.velocity.v, [&](double, double y, double z) {
      double sum = 0;
      for (std::int64_t m = 0; m <= ny / 2; ++m) sum += amplitude(m, plane_of(z)) * wave(m, y, 2, phase(m, ny));
      return sum;
    });
    const auto spectra = spectra_of(flow);
    double worst = 0;
    const auto compare = [&](const std::string& name, std::int64_t n, const auto& exact) {
      const std::vector<double>& found = spectra.at(name);
      ASSERT_EQ(std::ssize(found), nz * (n / 2 + 1)) << name;
      for (std::int64_t k = 0; k < nz; ++k) {
        for (std::int64_t m = 0; m <= n / 2; ++m)
          worst = std::max(worst, std::abs(found[static_cast<std::size_t>(k * (n / 2 + 1) + m)] - exact(m, k)));
      }
    };
    const auto power = [&](std::int64_t n) {
      return [=](std::int64_t m, std::int64_t k) {
        return std::pow(amplitude(m, k), 2) * (m == 0 || 2 * m == n ? 1 : 0.5);
      };
    };
    const auto total = [&](std::int64_t n) {
      return [&, n](std::int64_t mode, std::int64_t k) {
        double sum = 0;
        for (std::int64_t m = 0; mode == 0 && m <= n / 2; ++m) sum += power(n)(m, k);
        return sum;
      };
    };
    compare("uu_kx", nx, power(nx));
    compare("vv_ky", ny, power(ny));
    compare("uu_ky", ny, total(nx));  // u does not depend on y
    compare("vv_kx", nx, total(ny));
    test::expect_at_most("spectra of known modes, largest error", worst, test::round_off(1e-14));
  }
}

/// u = cos(k x) and w = cos(k x - 1) / 4 give the cospectrum cos(1) / 8, less what the means to the edges take.
TEST_P(AllForms, CospectrumOfOneWave) {
  for (const std::int64_t nx : {16, 32}) {
    const std::int64_t ny = nx / 2;  // a GPU has kernels for 32 x 16
    FlowCase settings = sampled_case({nx, ny, 6}, GetParam());
    Flow flow(settings);
    const double k = 2 * std::numbers::pi * 3 / settings.length_x;
    flow.set_velocity([&](double x, double, double) { return std::cos(k * x); },
                      [](double, double, double) { return 0; },
                      [&](double x, double, double) { return std::cos(k * x - 1) / 4; });
    const double half = k * flow.grid.dx() / 2;
    const double mean =
        GetParam().order == Order::second ? std::cos(half) : (9 * std::cos(half) - std::cos(3 * half)) / 8;
    const auto spectra = spectra_of(flow);
    double worst = 0;
    for (std::size_t plane = 1; plane < 6; ++plane) {
      const auto compare = [&](const char* name, std::int64_t n, std::size_t line) {
        const auto modes = static_cast<std::size_t>(n / 2 + 1);
        for (std::size_t m = 0; m < modes; ++m)
          worst =
              std::max(worst, std::abs(spectra.at(name)[modes * plane + m] - (m == line ? mean * std::cos(1) / 8 : 0)));
      };
      compare("uw_kx", nx, 3);
      compare("uw_ky", ny, 0);
    }
    test::expect_at_most("cospectrum of one wave, largest error", worst, test::round_off(1e-15));
  }
}

/// c = cos(k x), and w as above: one line in the spectrum of c and one in the cospectrum, cos(1) / 8.
TEST_P(AllForms, OneWaveOfAScalarIsOneLine) {
  // A GPU has kernels for the last two.
  for (const auto& cells : {std::array<std::int64_t, 2>{16, 8}, {32, 16}, {7168, 16}}) {
    const std::int64_t nx = cells[0], ny = cells[1];
    const FlowCase settings = heated_case({nx, ny, 6}, GetParam());
    Flow flow(settings);
    const double kx = 2 * std::numbers::pi * 3 / settings.length_x;
    const double ky = 2 * std::numbers::pi * 2 / settings.length_y;
    flow.set_velocity([](double, double, double) { return 0; }, [](double, double, double) { return 0; },
                      [&](double x, double y, double) { return std::cos(kx * x + ky * y - 1) / 4; });
    flow.set(flow.state.transported[0].field,
             [&](double x, double y, double) { return 1 + std::cos(kx * x + ky * y); });
    flow.stepper.fill_halos(flow.state);
    const auto spectra = spectra_of(flow, {1.0});
    double worst = 0;
    const auto compare = [&](const char* name, std::size_t modes, std::size_t first, std::size_t line, double at_zero,
                             double value) {
      for (std::size_t n = first * modes; n < 6 * modes; ++n) {
        const std::size_t m = n % modes;
        const double expected = m == line ? value : m == 0 ? at_zero : 0;
        worst = std::max(worst, std::abs(spectra.at(name)[n] - expected));
      }
    };
    const auto modes_x = static_cast<std::size_t>(nx / 2 + 1);
    const auto modes_y = static_cast<std::size_t>(ny / 2 + 1);
    compare("c_squared_kx", modes_x, 0, 3, 1, 0.5);
    compare("c_squared_ky", modes_y, 0, 2, 1, 0.5);
    compare("c_w_kx", modes_x, 1, 3, 0, std::cos(1) / 8);
    compare("c_w_ky", modes_y, 1, 2, 0, std::cos(1) / 8);
    const std::size_t line = 2 * modes_x + 3;
    for (std::size_t m = 0; m < modes_x * modes_y; ++m) {
      worst = std::max(worst, std::abs(spectra.at("c_squared_kxky")[m] - (m == line ? 0.5 : m == 0 ? 1 : 0)));
      worst = std::max(worst, std::abs(spectra.at("c_w_kxky")[m] - (m == line ? std::cos(1) / 8 : 0)));
    }
    test::expect_at_most("spectra of one wave of a scalar, largest error", worst, test::round_off(1e-14));
  }
}

TEST_P(AllForms, SumsOverModesAreTheProfilesAndTheStateStaysAsItIs) {
  for (const std::array<std::int64_t, 3> cells : {std::array<std::int64_t, 3>{19, 12, 14}, {64, 32, 6}}) {
    const FlowCase settings = heated_case(cells, GetParam());
    Flow flow(settings);
    Flow plain(settings);
    for (Flow* each : {&flow, &plain}) {
      each->set_random(21);
      set_rough_scalar(*each);
      each->advance(2, 0.01);
    }
    Statistics statistics(flow.grid, flow.stepper.metrics(), settings.flow, flow.stepper.walls(), flow.state.p.box(),
                          {.budgets = false}, flow.comm.world());
    statistics.sample(flow.state, 0.25);
    auto profiles = by_name(statistics);
    const auto spectra = spectra_of(flow);

    const auto nz = static_cast<std::size_t>(settings.cells[2]);
    for (const std::string name : {"uu", "vv", "pp", "ww", "uw", "c_squared", "c_w"}) {
      const bool at_faces = name == "ww" || name == "uw" || name == "c_w";
      const std::vector<double>& profile = profiles.at(name);
      const double largest = std::ranges::max(profile, {}, [](double a) { return std::abs(a); });
      EXPECT_NE(largest, 0) << name;
      for (const char* axis : {"_kx", "_ky"}) {
        std::vector<double> sums =
            sums_over_modes(spectra.at(name + axis), std::ssize(profile) + (name == "ww" ? 1 : 0));
        ASSERT_EQ(sums.size(), at_faces ? nz + 1 : nz);
        if (name == "ww") {  // its profile is the mean of the two faces
          for (std::size_t k = 0; k < nz; ++k) sums[k] = (sums[k] + sums[k + 1]) / 2;
        }
        double worst = 0;
        for (std::size_t k = 0; k < profile.size(); ++k) worst = std::max(worst, std::abs(sums[k] - profile[k]));
        test::expect_at_most(name + axis + ": sum over modes - profile, over the largest value",
                             worst / std::abs(largest), test::round_off(1e-13));
      }
    }

    for (Flow* each : {&flow, &plain}) each->advance(2, 0.01);
    const auto same = [&](const Field& a, const Field& b) { EXPECT_EQ(flow.read(a).values, plain.read(b).values); };
    same(flow.state.velocity.u, plain.state.velocity.u);
    same(flow.state.velocity.v, plain.state.velocity.v);
    same(flow.state.velocity.w, plain.state.velocity.w);
    same(flow.state.p, plain.state.p);
    same(flow.state.transported[0].field, plain.state.transported[0].field);
  }
}

/// One oblique wave on each plane: its amplitude squared over 2 in the mode (kx, |ky|), and a quarter of the product in
/// the cospectrum's.
TEST_P(AllForms, KnownModesInBothDirectionsAreExact) {
  for (const std::array<std::int64_t, 3> cells :
       {std::array<std::int64_t, 3>{8, 6, 6}, {7, 9, 5}, {6, 1, 4}, {6, 16, 4}}) {
    Flow flow(sampled_case(cells, GetParam()));
    const std::vector<double> heights{0.1, 1.0, 1.01, 1.9};
    const ChosenPlanes planes = planes_nearest_to(heights, flow.grid);
    const std::int64_t modes_x = cells[0] / 2 + 1, modes_y = cells[1] / 2 + 1;
    double worst = 0;
    for (std::int64_t mx = 0; mx < modes_x; ++mx) {
      for (std::int64_t my = -(cells[1] - 1) / 2; my <= cells[1] / 2; ++my) {
        flow.set(flow.state.velocity.u, [&](double x, double y, double z) {
          return (1 + z) * std::cos(2 * std::numbers::pi *
                                    (static_cast<double>(mx) * x / 4 +
                                     static_cast<double>(my) * (y / 2 - 0.5 / static_cast<double>(cells[1]))));
        });
        const std::vector<double> found = spectra_of(flow, heights).at("uu_kxky");
        ASSERT_EQ(std::ssize(found), 4 * modes_y * modes_x);
        // A wave that its points see as its own mirror image has its whole square in one coefficient.
        const auto is_own_mirror = [](std::int64_t m, std::int64_t n) { return (2 * m) % n == 0; };
        const double part = is_own_mirror(mx, cells[0]) && is_own_mirror(my, cells[1]) ? 1 : 0.5;
        for (std::size_t n = 0; n < heights.size(); ++n) {
          const double z = flow.grid.z_center(planes.centers[n]);
          for (std::int64_t j = 0; j < modes_y; ++j) {
            for (std::int64_t i = 0; i < modes_x; ++i) {
              const double exact = i == mx && j == std::abs(my) ? part * (1 + z) * (1 + z) : 0;
              const auto at = static_cast<std::size_t>((static_cast<std::int64_t>(n) * modes_y + j) * modes_x + i);
              worst = std::max(worst, std::abs(found[at] - exact));
            }
          }
        }
      }
    }
    test::expect_at_most("spectra of oblique waves, largest error", worst, test::round_off(1e-14));
  }
}

/// Of random fields, with even and odd numbers of modes.
TEST_P(AllForms, SpectraInBothDirectionsSumToThoseInOne) {
  for (const std::array<std::int64_t, 3> cells :
       {std::array<std::int64_t, 3>{12, 10, 8}, {9, 7, 6}, {10, 9, 4}, {36, 48, 6}}) {
    Flow flow(heated_case(cells, GetParam()));
    flow.set_random(5);
    set_rough_scalar(flow);
    flow.advance(1, 0.01);
    const std::vector<double> heights{0, 0.2, 1.0, 2.0};
    const ChosenPlanes planes = planes_nearest_to(heights, flow.grid);
    const auto spectra = spectra_of(flow, heights);
    const auto modes_x = static_cast<std::size_t>(cells[0] / 2 + 1);
    const auto modes_y = static_cast<std::size_t>(cells[1] / 2 + 1);
    double largest = 0;  // of the spectra: a cospectrum is the difference of two, and has their round-off
    for (const std::string name : {"uu", "vv", "pp", "ww", "c_squared", "uw", "c_w"}) {
      const std::vector<double>& both = spectra.at(name + "_kxky");
      ASSERT_EQ(both.size(), heights.size() * modes_x * modes_y);
      double worst = 0;
      const bool is_cospectrum = name == "uw" || name == "c_w";
      double of_this = 0;
      for (std::size_t n = 0; n < heights.size(); ++n) {
        const auto plane = static_cast<std::size_t>(
            (name == "ww" || name == "uw" || name == "c_w" ? planes.faces : planes.centers)[n]);
        std::vector<double> along_x(modes_x);
        std::vector<double> along_y(modes_y);
        for (std::size_t m = 0; m < modes_x * modes_y; ++m) {
          along_x[m % modes_x] += both[n * modes_x * modes_y + m];
          along_y[m / modes_x] += both[n * modes_x * modes_y + m];
        }
        for (const auto& [sums, axis] : {std::pair{along_x, "_kx"}, std::pair{along_y, "_ky"}}) {
          for (std::size_t m = 0; m < sums.size(); ++m) {
            const double expected = spectra.at(name + axis)[plane * sums.size() + m];
            worst = std::max(worst, std::abs(sums[m] - expected));
            of_this = std::max(of_this, std::abs(expected));
          }
        }
      }
      EXPECT_GT(of_this, 0) << name;
      largest = std::max(largest, of_this);
      test::expect_at_most(name + ": sums of the spectrum in both directions - spectra in one, over the largest",
                           worst / (is_cospectrum ? largest : of_this), test::round_off(1e-14));
    }
  }
}

/// A value that is not finite spoils its own plane of the spectra, and is not lost in the sums.
TEST_P(AllForms, NoSpectrumHidesAValueThatIsNotFinite) {
  for (const std::int64_t ny : {8, 16}) {
    const FlowCase settings = sampled_case({16, ny, 6}, GetParam());
    for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      Flow flow(settings);
      flow.set_random(3);
      flow.set(flow.state.velocity.v, [&](double x, double y, double z) {
        const bool there = x < flow.grid.dx() && y < 1.5 * flow.grid.dy() && std::abs(z - flow.grid.z_center(2)) < 1e-9;
        return there ? value : 1.0;
      });
      const auto spectra = spectra_of(flow, {flow.grid.z_center(1), flow.grid.z_center(1), flow.grid.z_center(2)});
      const std::int64_t modes_y = ny / 2 + 1;
      for (const auto& [name, modes] :
           {std::pair{"vv_kx", std::int64_t{9}}, {"vv_ky", modes_y}, {"vv_kxky", 9 * modes_y}}) {
        for (std::ptrdiff_t n = 0; n < std::ssize(spectra.at(name)); ++n)
          EXPECT_EQ(std::isfinite(spectra.at(name)[static_cast<std::size_t>(n)]), n / modes != 2) << name << ' ' << n;
      }
    }
  }
}

TEST_P(AllForms, ASampleLeavesPWithItsHalos) {
  Flow flow(sampled_case({16, 8, 12}, GetParam()));
  flow.set_random(3);
  flow.advance(1, 0.01);
  const auto before = flow.read(flow.state.p).values;
  const Field& p = flow.state.p;
  const std::vector<real> stored = p.buffer().download();
  spectra_of(flow);
  EXPECT_EQ(flow.read(p).values, before);
  const std::vector<real> after = p.buffer().download();
  const auto row = static_cast<std::size_t>(p.row_length());
  std::size_t different = 0;
  for (std::size_t n = 0; n < stored.size(); ++n) {
    const bool padding = n % row >= 16;
    different += !padding && stored[n] != after[n] ? 1 : 0;
  }
  EXPECT_EQ(different, 0u);
}

/// The memory estimate counts a copy of a field for checkpoints, which are not written during a sample.
TEST_P(AllForms, ASampleTakesLessMemoryThanAField) {
  const std::array<std::int64_t, 3> cells{64, 32, 16};
  Flow flow(sampled_case(cells, GetParam()));
  flow.set_random(3);
  const std::size_t before = device::allocated_bytes();
  device::reset_peak_bytes();
  spectra_of(flow, {0.1, 0.5, 1.0, 1.5, 1.9});
  EXPECT_EQ(device::allocated_bytes(), before);
  EXPECT_LT(device::peak_bytes() - before, sizeof(real) * static_cast<std::size_t>(cells[0] * cells[1] * cells[2]));
}

INSTANTIATE_TEST_SUITE_P(Spectra, AllForms, testing::ValuesIn(test::discretisations),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
