// The differences of order 4 along x and y: against a plain evaluation of their definition, on single waves, and on a
// decaying exact solution.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solver/grid/stretching.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using std::cos, std::sin;
using std::numbers::pi;
using test::Flow;
using test::FlowCase;
using test::GlobalArray;
using Index = std::int64_t;

/// R = -div(u(u - V)) + nu lap u of order 4 as equations.md writes it, V: velocity of the grid, with every flux,
/// interpolation and difference by its own plain formula. Values at any index: periodic in x and y, mirrored in the
/// resting walls.
class PlainScheme {
 public:
  explicit PlainScheme(const Flow& flow)
      : flow_(&flow),
        u_(flow.read(flow.state.velocity.u)),
        v_(flow.read(flow.state.velocity.v)),
        w_(flow.read(flow.state.velocity.w)) {}

  double r_u(Index i, Index j, Index k) const {
    const auto u = [&](Index n, Index m, Index l) { return at(u_, n, m, l, -1); };
    const auto w = [&](Index n, Index l) { return at_face(n, j, l); };
    const double advection =
        ddx(
            [&](Index e, int apart) {  // e: the centre above face e - 1/2
              return (interpolated([&](Index n) { return u(e - 1 + n, j, k); }) - grid_velocity()) *
                     mean(u(e - half_up(apart), j, k), u(e - 1 + half_up(apart), j, k));
            },
            i + 1) +
        ddy(
            [&](Index e, int apart) {
              return interpolated([&](Index n) { return at(v_, i + n, e, k, -1); }) *
                     mean(u(i, e + 1 - half_up(apart), k), u(i, e + half_up(apart), k));
            },
            j) +
        (interpolated([&](Index n) { return w(i + n, k); }) * mean(u(i, j, k), u(i, j, k + 1)) -
         interpolated([&](Index n) { return w(i + n, k - 1); }) * mean(u(i, j, k - 1), u(i, j, k))) /
            dz(k);
    return nu() * laplacian(u, i, j, k) - advection;
  }

  double r_v(Index i, Index j, Index k) const {
    const auto v = [&](Index n, Index m, Index l) { return at(v_, n, m, l, -1); };
    const auto w = [&](Index m, Index l) { return at_face(i, m, l); };
    const double advection =
        ddx(
            [&](Index e, int apart) {
              return (interpolated([&](Index n) { return at(u_, e, j + n, k, -1); }) - grid_velocity()) *
                     mean(v(e + 1 - half_up(apart), j, k), v(e + half_up(apart), j, k));
            },
            i) +
        ddy(
            [&](Index e, int apart) {
              return interpolated([&](Index n) { return v(i, e - 1 + n, k); }) *
                     mean(v(i, e - half_up(apart), k), v(i, e - 1 + half_up(apart), k));
            },
            j + 1) +
        (interpolated([&](Index n) { return w(j + n, k); }) * mean(v(i, j, k), v(i, j, k + 1)) -
         interpolated([&](Index n) { return w(j + n, k - 1); }) * mean(v(i, j, k - 1), v(i, j, k))) /
            dz(k);
    return nu() * laplacian(v, i, j, k) - advection;
  }

  double r_w(Index i, Index j, Index k) const {
    const auto mass = [&](const GlobalArray& f, Index n, Index m) {
      return (dz(k) * at(f, n, m, k, -1) + dz(k + 1) * at(f, n, m, k + 1, -1)) / 2;
    };
    const double advection =
        ddx(
            [&](Index e, int apart) {
              return (mass(u_, e, j) - dzc(k) * grid_velocity()) *
                     mean(at_face(e + 1 - half_up(apart), j, k), at_face(e + half_up(apart), j, k));
            },
            i) /
            dzc(k) +
        ddy(
            [&](Index e, int apart) {
              return mass(v_, i, e) * mean(at_face(i, e + 1 - half_up(apart), k), at_face(i, e + half_up(apart), k));
            },
            j) /
            dzc(k) +
        (std::pow(mean(at_face(i, j, k), at_face(i, j, k + 1)), 2) -
         std::pow(mean(at_face(i, j, k - 1), at_face(i, j, k)), 2)) /
            dzc(k);
    const double in_plane = second([&](Index n) { return at_face(i + n, j, k); }, dx()) +
                            second([&](Index n) { return at_face(i, j + n, k); }, dy());
    const double along_z =
        ((at_face(i, j, k + 1) - at_face(i, j, k)) / dz(k + 1) - (at_face(i, j, k) - at_face(i, j, k - 1)) / dz(k)) /
        dzc(k);
    return nu() * (in_plane + along_z) - advection;
  }

 private:
  static double mean(double a, double b) { return (a + b) / 2; }
  /// The upper of two points that are 1 or 3 apart, counted from the lower of the two next to the middle.
  static Index half_up(int apart) { return apart == 1 ? 1 : 2; }
  /// 9/8 of the mean over one spacing, -1/8 of that over three, between n = 0 and n = 1.
  static double interpolated(const auto& f) { return 9.0 / 8 * (f(0) + f(1)) / 2 - 1.0 / 8 * (f(-1) + f(2)) / 2; }
  /// d/dx of flux(e, spacings that its transported velocity is averaged over) between the sides e - 1 and e.
  double ddx(const auto& flux, Index e) const { return derivative(flux, e) / dx(); }
  double ddy(const auto& flux, Index e) const { return derivative(flux, e) / dy(); }
  static double derivative(const auto& flux, Index e) {
    return 9.0 / 8 * (flux(e, 1) - flux(e - 1, 1)) - 1.0 / 8 * (flux(e + 1, 3) - flux(e - 2, 3)) / 3;
  }
  static double second(const auto& f, double spacing) {
    const auto d = [&](Index n) { return 9.0 / 8 * (f(n + 1) - f(n)) - 1.0 / 8 * (f(n + 2) - f(n - 1)) / 3; };
    return (9.0 / 8 * (d(0) - d(-1)) - 1.0 / 8 * (d(1) - d(-2)) / 3) / (spacing * spacing);
  }
  double laplacian(const auto& f, Index i, Index j, Index k) const {
    const double along_z =
        ((f(i, j, k + 1) - f(i, j, k)) / dzc(k) - (f(i, j, k) - f(i, j, k - 1)) / dzc(k - 1)) / dz(k);
    return second([&](Index n) { return f(i + n, j, k); }, dx()) +
           second([&](Index n) { return f(i, j + n, k); }, dy()) + along_z;
  }
  double at(const GlobalArray& f, Index i, Index j, Index k, double mirror) const {
    const Index nx = f.cells[0];
    const Index ny = f.cells[1];
    const Index last = f.cells[2] - 1;
    const double sign = k < 0 || k > last ? mirror : 1;
    return sign * f((i % nx + nx) % nx, (j % ny + ny) % ny, std::clamp<Index>(k, 0, last));
  }
  double at_face(Index i, Index j, Index k) const { return k < 0 ? 0 : at(w_, i, j, k, 1); }
  double grid_velocity() const { return flow_->grid.velocity(); }
  double dx() const { return flow_->grid.dx(); }
  double dy() const { return flow_->grid.dy(); }
  double dz(Index k) const { return flow_->grid.dz(k); }
  double dzc(Index k) const { return flow_->grid.dz_center(k); }
  double nu() const { return flow_->settings.flow.viscosity; }

  const Flow* flow_;
  GlobalArray u_, v_, w_;
};

TEST(FourthOrder, TendencyIsThatOfTheEquations) {
  FlowCase settings;
  settings.cells = {11, 9, 8};
  settings.length_x = 3;
  settings.length_y = 1.7;
  settings.z_nodes = tanh_nodes(8, 2, 1.8, true);
  settings.grid_velocity = 0.6;
  settings.flow.viscosity = 0.02;
  settings.flow.order = Order::fourth;
  Flow flow(settings);
  flow.set_random(9);
  VectorField tendency(flow.state.p.box(), Order::fourth);
  VectorField star(flow.state.p.box(), Order::fourth);
  flow.stepper.momentum().predict(flow.state, flow.state.p, {}, tendency, star);
  const PlainScheme plain(flow);
  const auto compare = [&](const char* name, const Field& field, const auto& expected, Index planes) {
    const GlobalArray found = flow.read(field);
    double largest = 0;
    double difference = 0;
    for (Index k = 0; k < planes; ++k) {
      for (Index j = 0; j < settings.cells[1]; ++j) {
        for (Index i = 0; i < settings.cells[0]; ++i) {
          const double exact = expected(i, j, k);
          largest = std::max(largest, std::abs(exact));
          difference = std::max(difference, std::abs(found(i, j, k) - exact));
        }
      }
    }
    test::expect_at_most(std::string("largest error of R of ") + name, difference / largest, test::round_off(1e-14));
  };
  compare(
      "u", tendency.u, [&](Index i, Index j, Index k) { return plain.r_u(i, j, k); }, 8);
  compare(
      "v", tendency.v, [&](Index i, Index j, Index k) { return plain.r_v(i, j, k); }, 8);
  compare(
      "w", tendency.w, [&](Index i, Index j, Index k) { return plain.r_w(i, j, k); }, 7);
}

/// A wave v = cos(m x) in a uniform stream u = U between free-slip walls: R = -U dv/dx + nu d2v/dx2 has exactly the
/// modified wavenumbers of the scheme.
TEST(FourthOrder, SingleWavesHaveTheModifiedWavenumber) {
  const double stream = 0.7;
  const double nu = 0.03;
  const int nx = 16;
  double worst = 0;
  for (int m = 1; m <= nx / 2; ++m) {
    FlowCase settings;
    settings.cells = {nx, 5, 4};
    settings.flow.viscosity = nu;
    settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
    settings.flow.order = Order::fourth;
    Flow flow(settings);
    flow.set_velocity([&](double, double, double) { return stream; },
                      [&](double x, double, double) { return cos(m * x); }, [](double, double, double) { return 0.0; });
    VectorField tendency(flow.state.p.box(), Order::fourth);
    VectorField star(flow.state.p.box(), Order::fourth);
    flow.stepper.momentum().predict(flow.state, flow.state.p, {}, tendency, star);
    const double dx = flow.grid.dx();
    const double t = m * dx;
    const double first = (9.0 / 8 * sin(t) - sin(3 * t) / 24) / dx;
    const double second = -std::pow((9.0 / 8 * 2 * sin(t / 2) - 2 * sin(3 * t / 2) / 24) / dx, 2);
    const GlobalArray found = flow.read(tendency.v);
    const double largest = stream * first + nu * std::abs(second);
    for (Index i = 0; i < nx; ++i) {
      const double x = flow.x(Location::y_face, i);
      const double exact = stream * first * sin(m * x) + nu * second * cos(m * x);
      for (Index j = 0; j < 5; ++j) worst = std::max(worst, std::abs(found(i, j, 2) - exact) / largest);
    }
  }
  test::expect_at_most("largest error of R for 8 waves", worst, test::round_off(1e-14));
}

/// Taylor-Green vortices in (x, y), of unequal spacings, at t = 0.5.
class TaylorGreen : public testing::TestWithParam<Diffusion> {};

TEST_P(TaylorGreen, FourthOrderInXAndY) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  constexpr double nu = 0.05;
  std::vector<double> spacings, velocities, pressures;
  for (const Index n : {24, 48, 96}) {
    FlowCase settings;
    settings.cells = {n, 3 * n / 2, 2};
    settings.flow.viscosity = nu;
    settings.flow.diffusion = GetParam();
    settings.flow.order = Order::fourth;
    settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
    Flow flow(settings);
    const auto u = [](double x, double y, double) { return sin(x) * cos(y); };
    const auto v = [](double x, double y, double) { return -cos(x) * sin(y); };
    const auto zero = [](double, double, double) { return 0.0; };
    flow.set_velocity(u, v, zero);
    flow.stepper.project(flow.state);
    const auto steps = static_cast<int>(n * n / 24);  // so that the error in time falls as fast
    const double dt = 0.5 / steps;
    EXPECT_LE(dt, flow.stepper.time_step_limit(flow.state));
    flow.advance(steps, dt);
    const double decay = std::exp(-2 * nu * flow.state.time);
    const double p_decay = std::exp(-4 * nu * (flow.state.time - dt / 6));
    const auto error = [&](const Field& f, const auto& exact, double factor) {
      return flow.rms_error(f, [&](double x, double y, double z) { return exact(x, y, z) * factor; });
    };
    spacings.push_back(1.0 / static_cast<double>(n));
    velocities.push_back(std::hypot(error(flow.state.velocity.u, u, decay), error(flow.state.velocity.v, v, decay)));
    pressures.push_back(error(
        flow.state.p, [](double x, double y, double) { return (cos(2 * x) + cos(2 * y)) / 4; }, p_decay));
  }
  const std::string name = "Taylor-Green in (x, y), " + test::name_of(GetParam());
  test::expect_order(name + ", velocity", spacings, velocities, 3.9);
  test::expect_order(name + ", pressure", spacings, pressures, 3.9);
}

INSTANTIATE_TEST_SUITE_P(Diffusions, TaylorGreen,
                         testing::Values(Diffusion::explicit_, Diffusion::implicit_z, Diffusion::implicit),
                         [](const auto& diffusion) { return test::name_of(diffusion.param); });

/// A wave of v along x that a uniform stream carries and viscosity damps: v = cos(x - U t) exp(-nu t).
TEST(FourthOrder, APassiveWaveConverges) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  constexpr double stream = 0.7;
  constexpr double nu = 0.03;
  std::vector<double> spacings, errors;
  for (const Index n : {16, 32, 64}) {
    FlowCase settings;
    settings.cells = {n, 3, 2};
    settings.flow.viscosity = nu;
    settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
    settings.flow.order = Order::fourth;
    Flow flow(settings);
    const auto zero = [](double, double, double) { return 0.0; };
    flow.set_velocity([](double, double, double) { return stream; }, [](double x, double, double) { return cos(x); },
                      zero);
    const auto steps = static_cast<int>(n * n / 8);
    flow.advance(steps, 2.0 / steps);
    spacings.push_back(1.0 / static_cast<double>(n));
    errors.push_back(flow.rms_error(flow.state.velocity.v,
                                    [](double x, double, double) { return cos(x - 2 * stream) * std::exp(-2 * nu); }));
  }
  test::expect_order("passive wave", spacings, errors, 3.9);
}

/// The Stokes eigenmode between no-slip walls whose wave vector is at 45 degrees to x (see test_decay.cpp). Along z the
/// scheme is of second order: the decay rate on one grid in z is compared with that of a fine grid in x and y.
double oblique_decay_rate(Index n, Diffusion diffusion) {
  FlowCase settings;
  settings.cells = {n, n, 24};
  settings.length_x = settings.length_y = 2 * pi * std::sqrt(2.0);
  settings.flow.viscosity = 1;
  settings.flow.diffusion = diffusion;
  settings.flow.order = Order::fourth;
  Flow flow(settings);
  const double p = std::sqrt(9.3137398539 - 1);
  constexpr double amplitude = 1e-5;  // so small that advection does not matter
  const auto along = [](double x, double y) { return (x + y) / std::sqrt(2.0); };
  const auto tangential = [&](double x, double y, double z) {
    return amplitude * cos(along(x, y)) * (-p * sin(p * (z - 1)) / cos(p) - std::sinh(z - 1) / std::cosh(1)) /
           std::sqrt(2.0);
  };
  flow.set_velocity(tangential, tangential, [&](double x, double y, double z) {
    return amplitude * sin(along(x, y)) * (cos(p * (z - 1)) / cos(p) - std::cosh(z - 1) / std::cosh(1));
  });
  flow.stepper.project(flow.state);
  constexpr double dt = 0.001;
  EXPECT_LE(dt, flow.stepper.time_step_limit(flow.state));
  flow.advance(100, dt);  // the slowest mode of the discrete operators is left
  const double before = flow.stepper.diagnose(flow.state).kinetic_energy;
  flow.advance(100, dt);
  return std::log(flow.stepper.diagnose(flow.state).kinetic_energy / before) / (200 * dt);
}

class ObliqueStokesMode : public testing::TestWithParam<Diffusion> {};

TEST_P(ObliqueStokesMode, ItsDecayConvergesInXAndY) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  const double fine = oblique_decay_rate(48, GetParam());
  std::vector<double> spacings, errors;
  for (const Index n : {8, 12, 16}) {
    spacings.push_back(1.0 / static_cast<double>(n));
    errors.push_back(std::abs(oblique_decay_rate(n, GetParam()) - fine));
  }
  test::expect_order("decay rate of an oblique Stokes mode, " + test::name_of(GetParam()), spacings, errors, 3.9);
}

INSTANTIATE_TEST_SUITE_P(Diffusions, ObliqueStokesMode,
                         testing::Values(Diffusion::explicit_, Diffusion::implicit_z, Diffusion::implicit),
                         [](const auto& diffusion) { return test::name_of(diffusion.param); });

}  // namespace
}  // namespace sluice
