// Walls as case files describe them: velocities given by formulas, oscillations, travelling waves, blowing and suction,
// opposition control, slip. Exact solutions, and what control must do exactly.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "core/decomp/field_copy.hpp"
#include "core/support/error.hpp"
#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"
#include "solver/walls/opposition_control.hpp"
#include "solver/walls/wall_function.hpp"
#include "solver/walls/wall_response.hpp"
#include "solver/walls/wave_actuation.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using test::GlobalArray;
using Side = Walls::Side;
using Complex = std::complex<double>;
using std::numbers::pi;

constexpr double viscosity = 0.1;

FlowCase settings_for(std::array<std::int64_t, 3> cells, const test::Discretisation& form) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  FlowCase settings;
  settings.cells = cells;
  settings.z_blocks = 4;
  settings.z_nodes = tanh_nodes(cells[2], 2, 1, true);
  settings.processes = ranks == 4 ? ProcessGrid{2, 2} : ProcessGrid{1, ranks};
  settings.flow.viscosity = viscosity;
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  return settings;
}

Formula formula(const char* text) {
  return Formula::parse(text, "xyt");
}

class WallControl : public testing::TestWithParam<test::Discretisation> {
 protected:
  bool is_explicit() const { return GetParam().diffusion == Diffusion::explicit_; }
};

// --- Stokes' second problem between two plates: the lower oscillates along x, the upper along y ---

/// exp(2 i t) sinh(lambda d) / sinh(2 lambda) with lambda^2 = 2 i / nu; d: distance from the plate at rest.
Complex stokes(double distance, double t) {
  const Complex lambda = std::sqrt(Complex(0, 2 / viscosity));
  return std::exp(Complex(0, 2 * t)) * std::sinh(lambda * distance) / std::sinh(2.0 * lambda);
}

TEST_P(WallControl, OscillationsByAFormulaAndByNameFollowTheExactSolution) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  std::vector<double> sizes, u_errors, v_errors;
  for (const std::int64_t n : {16, 32, 64}) {
    FlowCase settings = settings_for({4, 6, n}, GetParam());
    settings.flow.bottom.velocity[0] = formula("cos(2*t)");
    settings.flow.top.actuation = make_actuation(oscillation(), 1, WaveParameters{.period = pi});
    Flow flow(settings, MPI_COMM_WORLD);
    flow.set_velocity([](double, double, double z) { return stokes(2 - z, 0).real(); },
                      [](double, double, double z) { return stokes(z, 0).imag(); },
                      [](double, double, double) { return 0.0; });
    const auto steps = static_cast<int>(is_explicit() ? n * n / 8 : n);
    flow.advance(steps, 1.0 / steps);
    const VectorField& velocity = flow.state.velocity;
    sizes.push_back(1 / static_cast<double>(n));
    u_errors.push_back(flow.rms_error(velocity.u, [](double, double, double z) { return stokes(2 - z, 1).real(); }));
    v_errors.push_back(flow.rms_error(velocity.v, [](double, double, double z) { return stokes(z, 1).imag(); }));
  }
  test::expect_order("u, formula, " + test::name_of(GetParam()), sizes, u_errors, 1.9);
  test::expect_order("v, oscillation, " + test::name_of(GetParam()), sizes, v_errors, 1.9);
}

TEST_P(WallControl, FormulasOnAMovingGridHaveTheCoordinatesOfTheLaboratory) {
  FlowCase settings = settings_for({12, 8, 16}, GetParam());
  settings.grid_velocity = 3;
  for (WallCondition* wall : {&settings.flow.bottom, &settings.flow.top}) wall->velocity[2] = formula("0.1*sin(x)*t");
  Flow flow(settings, MPI_COMM_WORLD);
  flow.set_velocity([](double, double, double) { return 0.0; }, [](double, double, double) { return 0.0; },
                    [](double, double, double) { return 0.0; });
  flow.advance(4, 0.1);
  const GlobalArray w = flow.read(flow.state.velocity.w);
  double worst = 0;
  for (std::int64_t i = 0; i < 12; ++i)
    worst = std::max(worst, std::abs(w(i, 3, 15) - 0.04 * std::sin(flow.x(Location::z_face, i) + 3 * 0.4)));
  test::expect_at_most("difference of w on the wall from its formula", worst, test::round_off(1e-15));
}

// --- laminar flow that fluid crosses from wall to wall: nu u'' - V u' = -1 ---

constexpr double through = 0.25;

/// u at the wall below is that of the wall, -0.3; above 0.5.
double crossed(double z) {
  const double rate = through / viscosity;
  const double exponential = (std::exp(rate * z) - 1) / (std::exp(2 * rate) - 1);
  return -0.3 + z / through + (0.8 - 2 / through) * exponential;
}

TEST_P(WallControl, UniformTranspirationHasTheExponentialProfile) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  std::vector<double> sizes, errors;
  for (const std::int64_t n : {16, 32, 64}) {
    FlowCase settings = settings_for({4, 6, n}, GetParam());
    settings.flow.bottom = {WallKind::no_slip, -0.3, 0, through};
    settings.flow.top = {WallKind::no_slip, 0.5, 0, through};
    settings.flow.forcing = {ForcingKind::pressure_gradient, 1};
    Flow flow(settings, MPI_COMM_WORLD);
    set_laminar(flow.state, flow.stepper, flow.grid, settings.flow);
    const GlobalArray before = flow.read(flow.state.velocity.u);
    flow.advance(20, 0.002);
    test::expect_at_most("change of the laminar profile in 20 steps",
                         test::largest_difference(before.values, flow.read(flow.state.velocity.u).values), 1e-13);
    const double w = flow.rms_error(flow.state.velocity.w, [](double, double, double) { return through; });
    test::expect_at_most("difference of w from that of the walls", w, 1e-13);
    test::expect_at_most("largest divergence", flow.stepper.diagnose(flow.state).max_divergence, 1e-12);
    sizes.push_back(1 / static_cast<double>(n));
    errors.push_back(flow.rms_error(flow.state.velocity.u, [](double, double, double z) { return crossed(z); }));
  }
  test::expect_order("u, " + test::name_of(GetParam()), sizes, errors, 1.9);
}

TEST_P(WallControl, AFlowAtRestReachesTheExponentialProfile) {
  FlowCase settings = settings_for({4, 6, 16}, GetParam());
  settings.flow.bottom = {WallKind::no_slip, -0.3, 0, through};
  settings.flow.top = {WallKind::no_slip, 0.5, 0, through};
  settings.flow.forcing = {ForcingKind::pressure_gradient, 1};
  Flow flow(settings, MPI_COMM_WORLD);
  set_zero(flow.state, flow.stepper);
  flow.advance(4000, 0.03);
  const LaminarProfile profile = laminar_profile(flow.grid, settings.flow);
  const GlobalArray u = flow.read(flow.state.velocity.u);
  double worst = 0;
  for (std::int64_t k = 0; k < 16; ++k)
    worst = std::max(worst, std::abs(u(0, 0, k) - profile.u[static_cast<std::size_t>(k)]));
  test::expect_at_most("distance from the laminar profile", worst, test::round_off(1e-12));
}

// --- waves ---

/// A wave of the spanwise velocity of the lower wall, uniform along y, moves nothing but v: an exact solution.
Complex spanwise_wave(double x, double z, double t) {
  const Complex lambda = std::sqrt(Complex(4, -1.5 / viscosity));
  return std::exp(Complex(0, 2 * x - 1.5 * t)) * std::sinh(lambda * (2 - z)) / std::sinh(2.0 * lambda);
}

TEST_P(WallControl, ASpanwiseTravellingWaveFollowsTheExactSolution) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  std::vector<double> sizes, errors;
  for (const std::int64_t n : {16, 32}) {
    FlowCase settings = settings_for({n, 6, n}, GetParam());
    settings.flow.bottom.actuation =
        make_actuation(travelling_wave(), 1, WaveParameters{.wavelength_x = pi, .period = 2 * pi / 1.5});
    Flow flow(settings, MPI_COMM_WORLD);
    const auto zero = [](double, double, double) { return 0.0; };
    flow.set_velocity(
        zero, [](double x, double, double z) { return spanwise_wave(x, z, 0).imag(); }, zero);
    const auto steps = static_cast<int>(is_explicit() ? n * n / 4 : 2 * n);
    flow.advance(steps, 1.0 / steps);
    sizes.push_back(flow.grid.dx());
    errors.push_back(flow.rms_error(flow.state.velocity.v,
                                    [](double x, double, double z) { return spanwise_wave(x, z, 1).imag(); }));
  }
  test::expect_order("v, " + test::name_of(GetParam()), sizes, errors, 1.9);
}

/// Blowing and suction sin(x - t) of small amplitude through the lower wall: w = Im f(z) exp(i (x - t)), with
/// (D^2 - 1)(D^2 - lambda^2) f = 0, lambda^2 = 1 - i/nu, f = 1 and f' = 0 below, f = f' = 0 above; u = i f'.
class SmallWave {
 public:
  SmallWave() {
    const Complex lambda = std::sqrt(Complex(1, -1 / viscosity));
    roots_ = {1, -1, lambda, -lambda};
    // Real and imaginary parts of the four conditions.
    test::DenseMatrix matrix(8);
    for (std::size_t n = 0; n < 4; ++n) {
      const Complex r = roots_[n];
      const std::array<Complex, 4> column{1.0, r, std::exp(2.0 * r), r * std::exp(2.0 * r)};
      for (std::size_t row = 0; row < 4; ++row) {
        matrix(2 * row, 2 * n) = matrix(2 * row + 1, 2 * n + 1) = column[row].real();
        matrix(2 * row + 1, 2 * n) = column[row].imag();
        matrix(2 * row, 2 * n + 1) = -column[row].imag();
      }
    }
    const std::vector<double> solution = test::solve_dense(matrix, {1, 0, 0, 0, 0, 0, 0, 0});
    for (std::size_t n = 0; n < 4; ++n) factors_[n] = {solution[2 * n], solution[2 * n + 1]};
  }
  double w(double x, double z, double t) const { return (sum(z, false) * std::exp(Complex(0, x - t))).imag(); }
  double u(double x, double z, double t) const {
    return (Complex(0, 1) * sum(z, true) * std::exp(Complex(0, x - t))).imag();
  }

 private:
  Complex sum(double z, bool derivative) const {
    Complex value = 0;
    for (std::size_t n = 0; n < 4; ++n) value += factors_[n] * (derivative ? roots_[n] : 1.0) * std::exp(roots_[n] * z);
    return value;
  }
  std::array<Complex, 4> roots_, factors_;
};

TEST_P(WallControl, AWaveOfBlowingAndSuctionFollowsTheStokesSolution) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  constexpr double small = 1e-6;
  const SmallWave exact;
  std::vector<double> sizes, errors;
  for (const std::int64_t n : {16, 32}) {
    FlowCase settings = settings_for({n, 6, n}, GetParam());
    settings.flow.bottom.actuation =
        make_actuation(blowing_suction(), small, WaveParameters{.wavelength_x = 2 * pi, .period = 2 * pi});
    Flow flow(settings, MPI_COMM_WORLD);
    flow.set_velocity([&](double x, double, double z) { return small * exact.u(x, z, 0); },
                      [](double, double, double) { return 0.0; },
                      [&](double x, double, double z) { return small * exact.w(x, z, 0); });
    flow.stepper.project(flow.state);
    const auto steps = static_cast<int>(is_explicit() ? n * n / 4 : 2 * n);
    flow.advance(steps, 1.0 / steps);
    sizes.push_back(flow.grid.dx());
    const VectorField& velocity = flow.state.velocity;
    const double u = flow.rms_error(velocity.u, [&](double x, double, double z) { return small * exact.u(x, z, 1); });
    const double w = flow.rms_error(velocity.w, [&](double x, double, double z) { return small * exact.w(x, z, 1); });
    errors.push_back(std::hypot(u, w) / small);
  }
  test::expect_order("u and w, " + test::name_of(GetParam()), sizes, errors, 1.9);
}

TEST_P(WallControl, ThatLetsInMoreThanOutIsRefused) {
  FlowCase settings = settings_for({8, 8, 16}, GetParam());
  settings.flow.top.velocity[2] = formula("0.1*sin(x)^2");
  Flow flow(settings, MPI_COMM_WORLD);
  EXPECT_THROW(flow.stepper.fill_halos(flow.state), Error);
}

// --- slip ---

TEST_P(WallControl, CouetteFlowWithSlipIsLinear) {
  FlowCase settings = settings_for({4, 6, 16}, GetParam());
  settings.flow.bottom = {WallKind::slip, -1, 0.5};
  settings.flow.bottom.slip_length = 0.3;
  settings.flow.top = {WallKind::slip, 1, 0.5};
  settings.flow.top.slip_length = 0.7;
  Flow flow(settings, MPI_COMM_WORLD);
  set_zero(flow.state, flow.stepper);
  flow.advance(8000, 0.045);
  const double slope = 2 / (2 + 0.3 + 0.7);
  const auto exact = [&](double, double, double z) { return -1 + slope * (0.3 + z); };
  test::expect_at_most("u", flow.rms_error(flow.state.velocity.u, exact), test::round_off(1e-13));
  test::expect_at_most("v", flow.rms_error(flow.state.velocity.v, [](double, double, double) { return 0.5; }),
                       test::round_off(1e-13));
  const LaminarProfile laminar = laminar_profile(flow.grid, settings.flow);
  for (std::int64_t k = 0; k < 16; ++k)
    EXPECT_NEAR(laminar.u[static_cast<std::size_t>(k)], exact(0, 0, flow.grid.z_center(k)), 1e-14);
}

// --- opposition control ---

WallCondition opposing(double amplitude, double height) {
  WallCondition wall;
  wall.actuation = make_actuation(opposition_control(), amplitude, OppositionParameters{height});
  return wall;
}

TEST_P(WallControl, OppositionSetsMinusWOfTheDetectionPlanes) {
  FlowCase settings = settings_for({12, 8, 16}, GetParam());
  settings.flow.bottom = opposing(0.8, 0.3);
  settings.flow.top = opposing(0.5, 1.2);
  settings.flow.viscosity = 0.01;
  Flow flow(settings, MPI_COMM_WORLD);
  flow.set_random(5);
  const std::int64_t below = detection_face(flow.grid, Side::bottom, 0.3);
  const std::int64_t above = detection_face(flow.grid, Side::top, 1.2);
  EXPECT_NEAR(flow.z(Location::z_face, below), 0.3, flow.grid.dz(below) / 2 + flow.grid.dz(below + 1) / 2);
  EXPECT_NEAR(flow.z(Location::z_face, above), 0.8, flow.grid.dz(above) / 2 + flow.grid.dz(above + 1) / 2);
  for (int k = 0; k < Rk3::substeps; ++k) {
    const GlobalArray before = flow.read(flow.state.velocity.w);
    flow.stepper.substep(flow.state, 0.01, k);
    const GlobalArray w = flow.read(flow.state.velocity.w);
    const GlobalArray u = flow.read(flow.state.velocity.u);
    const GlobalArray v = flow.read(flow.state.velocity.v);
    double at_bottom = 0;
    double at_top = 0;
    double sum = 0;
    double largest = 0;
    for (std::int64_t j = 0; j < 8; ++j) {
      for (std::int64_t i = 0; i < 12; ++i) {
        at_top = std::max(at_top, std::abs(w(i, j, 15) + 0.5 * before(i, j, above)));
        sum += w(i, j, 15);
        largest = std::max(largest, std::abs(w(i, j, 15)));
        // The wall below is seen by continuity, of order 2 here.
        const double outflow = (u(i, j, 0) - u((i + 11) % 12, j, 0)) / flow.grid.dx() +
                               (v(i, j, 0) - v(i, (j + 7) % 8, 0)) / flow.grid.dy();
        const double w_wall = w(i, j, 0) + flow.grid.dz(0) * outflow;
        at_bottom = std::max(at_bottom, std::abs(w_wall + 0.8 * before(i, j, below)));
      }
    }
    test::expect_at_most("difference of w on the top wall", at_top, test::round_off(1e-14));
    if (GetParam().order == Order::second)
      test::expect_at_most("difference of w on the bottom wall", at_bottom, test::round_off(1e-13));
    test::expect_at_most("mean of w on the top wall", std::abs(sum / 96), test::round_off(1e-16));
    test::expect_at_least("largest w on the top wall", largest, 0.01);
    test::expect_at_most("largest divergence", flow.stepper.diagnose(flow.state).max_divergence,
                         test::round_off(1e-12));
  }
}

// --- walls that other code sets ---

TEST_P(WallControl, AFunctionOfOtherCodeHasTheBitsOfOppositionControl) {
  FlowCase settings = settings_for({12, 8, 16}, GetParam());
  settings.flow.viscosity = 0.01;
  FlowCase controlled = settings;
  controlled.flow.bottom = opposing(0.8, 0.3);
  Flow expected(controlled, MPI_COMM_WORLD);
  Flow found(settings, MPI_COMM_WORLD);
  expected.set_random(5);
  found.set_random(5);
  FlowPlane detected(found.comm, found.decomposition, Location::z_face, detection_face(found.grid, Side::bottom, 0.3));
  bool fails = false;
  found.stepper.respond(Side::bottom, [&](const VelocityToCorrect& velocity, const Metrics& metrics, Field& w) {
    if (fails) throw Error(ExitCode::usage, "no control");
    detected.bring(velocity.w(metrics));
    const double mean =
        mean_over_wall(found.stepper.walls(), Side::bottom, detected.plane(), found.grid, found.comm.world());
    std::vector<real> values = download(detected.plane());
    for (real& value : values) value = static_cast<real>(0.8 * (mean - static_cast<double>(value)));
    upload(values, w);
  });
  expected.advance(4, 0.01);
  found.advance(4, 0.01);
  for (const auto& component : {&VectorField::u, &VectorField::v, &VectorField::w})
    EXPECT_EQ(test::relative_difference(expected, expected.state.velocity.*component, found.state.velocity.*component),
              0);
  fails = true;
  EXPECT_THROW(found.advance(1, 0.01), Error);
  EXPECT_EQ(found.state.step, 5);
  test::expect_at_most("largest divergence after a failed response", found.stepper.diagnose(found.state).max_divergence,
                       test::round_off(1e-12));
}

TEST_P(WallControl, PrescribedWallsAreThoseOfTheCase) {
  FlowCase settings = settings_for({12, 8, 16}, GetParam());
  FlowCase moving = settings;
  moving.flow.bottom = {WallKind::no_slip, 0.5, -0.25, 0.125};
  moving.flow.top.velocity[2] = 0.125;
  Flow expected(moving, MPI_COMM_WORLD);
  Flow found(settings, MPI_COMM_WORLD);
  const auto set = [&](Side side, Location component, real value) {
    Field& plane = found.stepper.walls().prescribe(side, component, reach_of(settings.flow.order));
    upload(std::vector<real>(static_cast<std::size_t>(plane.box().volume()), value), plane);
  };
  set(Side::bottom, Location::x_face, 0.5);
  set(Side::bottom, Location::y_face, -0.25);
  set(Side::bottom, Location::z_face, 0.125);
  EXPECT_THROW(found.stepper.project(found.state), Error);  // nothing leaves
  set(Side::top, Location::z_face, 0.125);
  expected.set_random(5);
  found.set_random(5);
  expected.advance(4, 0.01);
  found.advance(4, 0.01);
  for (const auto& component : {&VectorField::u, &VectorField::v, &VectorField::w})
    EXPECT_EQ(test::relative_difference(expected, expected.state.velocity.*component, found.state.velocity.*component),
              0);
}

// --- the energy that walls and force give to the fluid is dissipated or stays ---

/// Volume mean of nu |grad u|^2 in the form of order 2.
double dissipation(const Flow& flow) {
  const std::array fields{flow.read(flow.state.velocity.u), flow.read(flow.state.velocity.v),
                          flow.read(flow.state.velocity.w)};
  const auto& n = flow.grid.cells();
  double sum = 0;
  const auto square = [](double value) { return value * value; };
  const Walls& walls = flow.stepper.walls();
  for (std::size_t c = 0; c < 3; ++c) {
    const GlobalArray& f = fields[c];
    const Location at = std::array{Location::x_face, Location::y_face, Location::z_face}[c];
    const Formula below = walls.condition(Side::bottom).total_velocity(c);
    const Formula above = walls.condition(Side::top).total_velocity(c);
    for (std::int64_t j = 0; j < n[1]; ++j) {
      for (std::int64_t i = 0; i < n[0]; ++i) {
        const FormulaPoint point{flow.x(at, i), flow.y(at, j), 0, flow.state.time};
        for (std::int64_t k = 0; k < n[2]; ++k) {
          const double height = flow.height(at, k);
          sum += height * (square((f((i + 1) % n[0], j, k) - f(i, j, k)) / flow.grid.dx()) +
                           square((f(i, (j + 1) % n[1], k) - f(i, j, k)) / flow.grid.dy()));
          if (c == 2) {
            sum += square(f(i, j, k) - (k > 0 ? f(i, j, k - 1) : below(point))) / flow.grid.dz(k);
          } else {
            if (k > 0) sum += square(f(i, j, k) - f(i, j, k - 1)) / flow.grid.dz_center(k - 1);
            if (k == 0) sum += square(f(i, j, 0) - below(point)) / (flow.grid.dz(0) / 2);
            if (k + 1 == n[2]) sum += square(f(i, j, k) - above(point)) / (flow.grid.dz(k) / 2);
          }
        }
        if (c == 2) {  // horizontal derivatives on the bottom wall, in half a cell; those on the top wall are as small
          const FormulaPoint right{flow.x(at, i + 1), flow.y(at, j), 0, flow.state.time};
          const FormulaPoint behind{flow.x(at, i), flow.y(at, j + 1), 0, flow.state.time};
          sum += flow.grid.dz(0) / 2 *
                 (square((below(right) - below(point)) / flow.grid.dx()) +
                  square((below(behind) - below(point)) / flow.grid.dy()) +
                  square((above(right) - above(point)) / flow.grid.dx()) +
                  square((above(behind) - above(point)) / flow.grid.dy()));
        }
      }
    }
  }
  return flow.settings.flow.viscosity * sum / static_cast<double>(n[0] * n[1]) / 2;
}

double power_of_walls(const Diagnostics& diagnostics) {
  double power = 0;
  for (const NamedValue& value : diagnostics.further) power += value.value;
  return power / 2;  // per volume: the height is 2
}

/// The imbalance of the energy between two states over the power of the walls.
double imbalance(std::int64_t n, const FlowCase& settings, const std::function<void(Flow&)>& start) {
  Flow flow(settings, MPI_COMM_WORLD);
  start(flow);
  const auto steps = static_cast<int>(n);
  const double dt = 0.4 / static_cast<double>(n);
  double supplied = 0;
  double spent = 0;
  double walls = 0;
  const auto add = [&](double weight, double force) {
    const Diagnostics d = flow.stepper.diagnose(flow.state);
    supplied += weight * dt * (power_of_walls(d) + force * d.bulk_velocity);
    walls += weight * dt * std::abs(power_of_walls(d));
    spent += weight * dt * dissipation(flow);
  };
  flow.advance(2, dt);  // for a pressure
  const double before = flow.stepper.diagnose(flow.state).kinetic_energy;
  add(0.5, settings.flow.forcing.value.constant());
  for (int step = 0; step < steps; ++step) {
    flow.advance(1, dt);
    add(step + 1 < steps ? 1 : 0.5, settings.flow.forcing.value.constant());
  }
  const double gained = flow.stepper.diagnose(flow.state).kinetic_energy - before;
  return std::abs(supplied - spent - gained) / walls;
}

TEST_P(WallControl, ThePowerOfTheWallsIsDissipatedOrStays) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  std::vector<double> sizes, laminar;
  for (const std::int64_t n : {16, 32, 64}) {
    FlowCase settings = settings_for({4, 6, n}, GetParam());
    settings.flow.bottom = {WallKind::no_slip, -0.3, formula("cos(2*t)"), through};
    settings.flow.top = {WallKind::no_slip, 0.5, 0, through};
    settings.flow.forcing = {ForcingKind::pressure_gradient, 1};
    sizes.push_back(1 / static_cast<double>(n));
    laminar.push_back(imbalance(is_explicit() ? n * n / 4 : n, settings, [](Flow& flow) {
      set_laminar(flow.state, flow.stepper, flow.grid, flow.settings.flow);
    }));
  }
  test::expect_order("imbalance of a laminar flow, " + test::name_of(GetParam()), sizes, laminar, 1.7);
}

TEST_P(WallControl, ThePowerOfTheWallsIsDissipatedOrStaysInAnUnsteadyFlow) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  if (GetParam().order == Order::fourth) GTEST_SKIP() << "the dissipation of order 4 is not formed here";
  std::vector<double> sizes, errors;
  for (const std::int64_t n : {16, 32}) {
    FlowCase settings = settings_for({n, n, n}, GetParam());
    settings.flow.viscosity = 0.02;
    settings.flow.bottom = {WallKind::no_slip, 0.2, formula("0.5*sin(x - 3*t)"), formula("0.1*sin(2*y + x + t)")};
    settings.flow.top = {WallKind::no_slip, formula("0.5*cos(y)*t"), 0.3, formula("0.2*cos(x - 2*t)")};
    settings.flow.forcing = {ForcingKind::pressure_gradient, 0.5};
    sizes.push_back(1 / static_cast<double>(n));
    errors.push_back(imbalance(4 * n, settings, [](Flow& flow) {
      set_turbulent(flow.state, flow.stepper, flow.grid, flow.settings.flow, 3, flow.comm.world());
    }));
  }
  test::expect_order("imbalance of an unsteady flow, " + test::name_of(GetParam()), sizes, errors, 1.7);
}

INSTANTIATE_TEST_SUITE_P(Discretisations, WallControl, testing::ValuesIn(test::discretisations),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
