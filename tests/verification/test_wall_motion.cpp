// Moving walls. Plates that oscillate in their own plane, and walls that follow a wave of potential flow, whose
// velocity solves the Navier-Stokes equations: exact solutions that hold every place where a wall's velocity enters.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "core/support/error.hpp"
#include "solver/grid/stretching.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using Side = Walls::Side;

/// mean + cosine cos(theta) + sine sin(theta), theta = kx x + ky y - omega t.
struct Wave {
  double cosine, sine, kx, ky, omega, mean;
  SLUICE_INLINE double operator()(double x, double y, double t) const {
    const double theta = kx * x + ky * y - omega * t;
    return mean + cosine * std::cos(theta) + sine * std::sin(theta);
  }
};

FlowCase settings_for(std::array<std::int64_t, 3> cells, const test::Discretisation& form) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  FlowCase settings;
  settings.cells = cells;
  settings.z_blocks = 4;
  settings.z_nodes = tanh_nodes(cells[2], 2, 1, true);
  settings.processes = ranks == 4 ? ProcessGrid{2, 2} : ProcessGrid{1, ranks};
  settings.flow.viscosity = 0.1;
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  return settings;
}

class MovingWalls : public testing::TestWithParam<test::Discretisation> {
 protected:
  void SetUp() override {
    if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  }
  bool is_explicit() const { return GetParam().diffusion == Diffusion::explicit_; }
};

// --- Stokes' second problem between two plates: the lower oscillates along x, the upper along y ---

constexpr double frequency = 2;

/// exp(i omega t) sinh(lambda d) / sinh(2 lambda) with lambda^2 = i omega / nu; d: distance from the plate at rest.
std::complex<double> stokes(double distance, double t) {
  const std::complex<double> lambda = std::sqrt(std::complex<double>(0, frequency / 0.1));
  return std::exp(std::complex<double>(0, frequency * t)) * std::sinh(lambda * distance) / std::sinh(2.0 * lambda);
}

/// The flow between the plates at time 1.
std::unique_ptr<Flow> oscillate(std::int64_t nz, int steps, const test::Discretisation& form) {
  auto flow = std::make_unique<Flow>(settings_for({4, 6, nz}, form), MPI_COMM_WORLD);
  flow->stepper.walls().move(Side::bottom, Location::x_face, wall_motion(Wave{1, 0, 0, 0, frequency, 0}));
  flow->stepper.walls().move(Side::top, Location::y_face, wall_motion(Wave{0, -1, 0, 0, frequency, 0}));
  flow->set_velocity([](double, double, double z) { return stokes(2 - z, 0).real(); },
                     [](double, double, double z) { return stokes(z, 0).imag(); },
                     [](double, double, double) { return 0.0; });
  flow->advance(steps, 1.0 / steps);
  return flow;
}

TEST_P(MovingWalls, OscillatingPlatesFollowTheExactSolutionWithSecondOrder) {
  std::vector<double> sizes, u_errors, v_errors;
  for (const std::int64_t n : {16, 32, 64}) {
    const auto steps = static_cast<int>(is_explicit() ? n * n / 8 : n);
    const auto flow = oscillate(n, steps, GetParam());
    const VectorField& velocity = flow->state.velocity;
    sizes.push_back(1 / static_cast<double>(n));
    u_errors.push_back(flow->rms_error(velocity.u, [](double, double, double z) { return stokes(2 - z, 1).real(); }));
    v_errors.push_back(flow->rms_error(velocity.v, [](double, double, double z) { return stokes(z, 1).imag(); }));

    const double slope = (flow->read(velocity.u)(0, 0, 0) - std::cos(frequency)) / (flow->grid.dz(0) / 2);
    test::expect_at_most("difference of the wall shear from nu (u_0 - u_wall) / (dz_0 / 2)",
                         std::abs(flow->stepper.diagnose(flow->state).shear_bottom - 0.1 * slope), 1e-13);
  }
  test::expect_order("u, " + test::name_of(GetParam()), sizes, u_errors, 1.9);
  test::expect_order("v, " + test::name_of(GetParam()), sizes, v_errors, 1.9);
}

TEST_P(MovingWalls, AreOfSecondOrderInTime) {
  std::vector<double> dts, changes;
  std::vector<double> coarser;
  for (const int steps : {32, 64, 128, 256}) {
    const auto flow = oscillate(16, steps, GetParam());
    const std::vector<double> u = flow->read(flow->state.velocity.u).values;
    double sum = 0;
    for (std::size_t n = 0; n < coarser.size(); ++n) sum += std::pow(u[n] - coarser[n], 2);
    if (!coarser.empty()) {
      dts.push_back(1.0 / steps);
      changes.push_back(std::sqrt(sum / static_cast<double>(u.size())));
    }
    coarser = u;
  }
  test::expect_order("u in time, " + test::name_of(GetParam()), dts, changes, 1.9);
}

// --- a wave of potential flow: phi = -A/kappa cosh(kappa (2 - z)) / sinh(2 kappa) cos(kx x + ky y - omega t) ---

constexpr double amplitude = 0.3;
constexpr double kx = 1;
constexpr double ky = 2;
constexpr double omega = 1.5;

/// The velocity of the wave in the plane z, component by component.
struct PlaneOfWave {
  explicit PlaneOfWave(double z) {
    const double kappa = std::hypot(kx, ky);
    const double scale = amplitude / std::sinh(2 * kappa);
    const double tangential = scale * std::cosh(kappa * (2 - z)) / kappa;
    u = {0, kx * tangential, kx, ky, omega, 0};
    v = {0, ky * tangential, kx, ky, omega, 0};
    w = {scale * std::sinh(kappa * (2 - z)), 0, kx, ky, omega, 0};
  }
  Wave u, v, w;
};

void move_walls(Walls& walls) {
  for (const Side side : Walls::sides) {
    const PlaneOfWave wave(side == Side::bottom ? 0 : 2);
    walls.move(side, Location::x_face, wall_motion(wave.u));
    walls.move(side, Location::y_face, wall_motion(wave.v));
    walls.move(side, Location::z_face, wall_motion(wave.w));
  }
}

TEST_P(MovingWalls, AWaveOfPotentialFlowIsFollowedWithSecondOrder) {
  std::vector<double> sizes, errors, energy_errors;
  // The mean of A^2/4 [(cosh^2 + sinh^2) / sinh^2(2 kappa)] over the height.
  const double kappa = std::hypot(kx, ky);
  const double energy = amplitude * amplitude / 4 / std::tanh(2 * kappa) / (2 * kappa);
  for (const std::int64_t n : {16, 32}) {
    Flow flow(settings_for({n, n, n}, GetParam()), MPI_COMM_WORLD);
    move_walls(flow.stepper.walls());
    flow.set_velocity([](double x, double y, double z) { return PlaneOfWave(z).u(x, y, 0); },
                      [](double x, double y, double z) { return PlaneOfWave(z).v(x, y, 0); },
                      [](double x, double y, double z) { return PlaneOfWave(z).w(x, y, 0); });
    flow.stepper.project(flow.state);
    const auto steps = static_cast<int>(is_explicit() ? n * n / 4 : 2 * n);
    flow.advance(steps, 1.0 / steps);
    sizes.push_back(flow.grid.dx());
    const VectorField& velocity = flow.state.velocity;
    const double u = flow.rms_error(velocity.u, [](double x, double y, double z) { return PlaneOfWave(z).u(x, y, 1); });
    const double v = flow.rms_error(velocity.v, [](double x, double y, double z) { return PlaneOfWave(z).v(x, y, 1); });
    const double w = flow.rms_error(velocity.w, [](double x, double y, double z) { return PlaneOfWave(z).w(x, y, 1); });
    errors.push_back(std::hypot(u, v, w));
    const Diagnostics diagnostics = flow.stepper.diagnose(flow.state);
    energy_errors.push_back(std::abs(diagnostics.kinetic_energy - energy));
    test::expect_at_most("largest divergence", diagnostics.max_divergence, 1e-13);
  }
  test::expect_order("velocity, " + test::name_of(GetParam()), sizes, errors, 1.9);
  test::expect_order("kinetic energy, " + test::name_of(GetParam()), sizes, energy_errors, 1.9);
}

TEST_P(MovingWalls, ThatMoveAtAConstantVelocityGiveTheBitsOfConstants) {
  FlowCase settings = settings_for({8, 8, 16}, GetParam());
  settings.flow.top = {WallKind::no_slip, 0.7, -0.3};
  Flow constant(settings, MPI_COMM_WORLD);
  settings.flow.top = {};
  Flow moving(settings, MPI_COMM_WORLD);
  moving.stepper.walls().move(Side::top, Location::x_face, wall_motion(Wave{0, 0, 0, 0, 0, 0.7}));
  moving.stepper.walls().move(Side::top, Location::y_face, wall_motion(Wave{0, 0, 0, 0, 0, -0.3}));
  for (Flow* flow : {&constant, &moving}) {
    flow->set_random(3);
    flow->advance(3, 0.01);
  }
  const auto fields = constant.state.fields();
  for (std::size_t n = 0; n < fields.size(); ++n)
    EXPECT_EQ(moving.read(moving.state.fields()[n].field).values, constant.read(fields[n].field).values)
        << fields[n].descriptor.name;
}

TEST_P(MovingWalls, ThatLetANetVolumeThroughAreRefused) {
  Flow flow(settings_for({8, 8, 16}, GetParam()), MPI_COMM_WORLD);
  flow.stepper.walls().move(Side::top, Location::z_face, wall_motion(Wave{0.1, 0, 1, 0, 0, 1e-6}));
  EXPECT_THROW(flow.stepper.fill_halos(flow.state), Error);
}

INSTANTIATE_TEST_SUITE_P(Discretisations, MovingWalls, testing::ValuesIn(test::discretisations_and_implicit),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
