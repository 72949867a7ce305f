// A box without walls, which is periodic along z, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "core/device/memory.hpp"
#include "solver/grid/stretching.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using std::cos, std::sin;
using std::numbers::pi;
using test::Flow;
using test::FlowCase;

FlowCase box(std::array<std::int64_t, 3> cells, double viscosity, Order order) {
  FlowCase settings;
  settings.cells = cells;
  settings.z_nodes = uniform_nodes(cells[2], 2 * pi);
  settings.flow.viscosity = viscosity;
  settings.flow.order = order;
  settings.flow.periodic_z = true;
  settings.flow.bottom.kind = settings.flow.top.kind = WallKind::free_slip;
  return settings;
}

double zero(double /*x*/, double /*y*/, double /*z*/) {
  return 0;
}

/// Taylor-Green vortices that a mean flow carries through the period: along the first axis a, along z b.
struct Vortices {
  static constexpr double viscosity = 0.05;
  static constexpr double mean_a = 0.3;
  static constexpr double mean_b = 0.4;
  static constexpr double shift = 0.7;  // w is not 0 on z = 0

  double t;
  double decay() const { return std::exp(-2 * viscosity * t); }
  double a(double x, double z) const { return mean_a + sin(x - mean_a * t) * cos(z - shift - mean_b * t) * decay(); }
  double b(double x, double z) const { return mean_b - cos(x - mean_a * t) * sin(z - shift - mean_b * t) * decay(); }
};

/// The rms error after a fixed time in the plane of z and x, or of z and y.
double error_of_vortices(std::int64_t cells, bool along_y, TridiagonalMethod method, Diffusion diffusion) {
  using Cells = std::array<std::int64_t, 3>;
  FlowCase settings = box(along_y ? Cells{2, cells, 3 * cells / 2} : Cells{cells, 1, 3 * cells / 2},
                          Vortices::viscosity, Order::second);
  settings.flow.tridiagonal = method;
  settings.flow.diffusion = diffusion;
  Flow flow(settings);
  const auto a = [&](double x, double y, double z) { return Vortices{flow.state.time}.a(along_y ? y : x, z); };
  const auto b = [&](double x, double y, double z) { return Vortices{flow.state.time}.b(along_y ? y : x, z); };
  along_y ? flow.set_velocity(zero, a, b) : flow.set_velocity(a, zero, b);
  flow.stepper.project(flow.state);
  const int steps = static_cast<int>(5 * cells);
  flow.advance(steps, 1.5 / steps);
  test::expect_at_most("divergence", flow.stepper.diagnose(flow.state).max_divergence, test::round_off(1e-12));
  return std::hypot(flow.rms_error(along_y ? flow.state.velocity.v : flow.state.velocity.u, a),
                    flow.rms_error(flow.state.velocity.w, b));
}

TEST(Periodic, TaylorGreenVorticesMoveAndDecayWithOrder2) {
  if (sizeof(real) < sizeof(double)) GTEST_SKIP() << "an order of accuracy needs double precision";
  for (const bool along_y : {false, true}) {
    for (const TridiagonalMethod method : {TridiagonalMethod::ptdma, TridiagonalMethod::transpose}) {
      for (const Diffusion diffusion : {Diffusion::explicit_, Diffusion::implicit}) {
        std::vector<double> spacings, errors;
        for (const std::int64_t cells : {16, 32, 64}) {
          spacings.push_back(1.0 / static_cast<double>(cells));
          errors.push_back(error_of_vortices(cells, along_y, method, diffusion));
        }
        test::expect_order(along_y ? "in y and z" : "in x and z", spacings, errors, 1.9);
      }
    }
  }
}

/// The largest difference of the velocity from that of a flow whose axes are permuted: axis n of this flow is axis
/// (n + shift) % 3 of the other.
double largest_difference(Flow& one, Flow& other, std::size_t shift, std::int64_t cells) {
  const auto components = [](Flow& flow) {
    const auto& v = flow.state.velocity;
    return std::array{flow.read(v.u), flow.read(v.v), flow.read(v.w)};
  };
  const auto ours = components(one);
  const auto theirs = components(other);
  double largest = 0;
  for (std::int64_t n = 0; n < cells * cells * cells; ++n) {
    const std::array at{n % cells, n / cells % cells, n / (cells * cells)};
    std::array<std::int64_t, 3> there{};
    for (std::size_t axis = 0; axis < 3; ++axis) there[(axis + shift) % 3] = at[axis];
    for (std::size_t axis = 0; axis < 3; ++axis)
      largest = std::max(largest, std::abs(ours[axis](at[0], at[1], at[2]) -
                                           theirs[(axis + shift) % 3](there[0], there[1], there[2])));
  }
  return largest;
}

// The three-dimensional Taylor-Green vortex: order 2 treats all axes alike.
TEST(Periodic, AxesCanBePermuted) {
  constexpr std::int64_t cells = 24;
  const auto first = [](double a, double b, double c) { return sin(a) * cos(b) * cos(c); };
  const auto second = [](double a, double b, double c) { return -cos(a) * sin(b) * cos(c); };
  const auto run = [&](int shift) {
    auto flow = std::make_unique<Flow>(box({cells, cells, cells}, 0.01, Order::second));
    if (shift == 0) flow->set_velocity(first, second, zero);
    if (shift == 1) {
      flow->set_velocity(
          zero, [&](double x, double y, double z) { return first(y, z, x); },
          [&](double x, double y, double z) { return second(y, z, x); });
    }
    if (shift == 2) {
      flow->set_velocity([&](double x, double y, double z) { return second(z, x, y); }, zero,
                         [&](double x, double y, double z) { return first(z, x, y); });
    }
    flow->stepper.project(flow->state);
    flow->advance(150, 0.04);
    return flow;
  };
  const auto reference = run(0);
  double largest_w = 0;
  for (const double w : reference->read(reference->state.velocity.w).values)
    largest_w = std::max(largest_w, std::abs(w));
  test::expect_at_least("the third component has grown", largest_w, 0.01);
  for (const std::size_t shift : {std::size_t{1}, std::size_t{2}})
    test::expect_at_most("difference", largest_difference(*reference, *run(static_cast<int>(shift)), shift, cells),
                         test::round_off(1e-11));
}

double mean_of(Flow& flow, const Field& field) {
  const auto found = flow.read(field);
  double sum = 0;
  for (const double value : found.values) sum += value;
  return sum / static_cast<double>(found.values.size());
}

class PeriodicOrder : public testing::TestWithParam<Order> {};

INSTANTIATE_TEST_SUITE_P(Orders, PeriodicOrder, testing::Values(Order::second, Order::fourth),
                         [](const auto& info) { return test::name_of(info.param); });

// Without viscosity, advection and pressure keep the momentum, and the energy but for the error of the time steps.
TEST_P(PeriodicOrder, MomentumAndEnergyAreConserved) {
  std::vector<double> steps, errors;
  for (const int n : {20, 40, 80}) {
    Flow flow(box({16, 18, 20}, 0, GetParam()));
    flow.set_random(7);
    const double energy = flow.stepper.diagnose(flow.state).kinetic_energy;
    const double u = mean_of(flow, flow.state.velocity.u);
    const double w = mean_of(flow, flow.state.velocity.w);
    flow.advance(n, 0.4 / n);
    test::expect_at_most("mean of u", std::abs(mean_of(flow, flow.state.velocity.u) - u), test::round_off(1e-14));
    test::expect_at_most("mean of w", std::abs(mean_of(flow, flow.state.velocity.w) - w), test::round_off(1e-14));
    steps.push_back(1.0 / n);
    errors.push_back(std::abs(flow.stepper.diagnose(flow.state).kinetic_energy / energy - 1));
  }
  if (sizeof(real) < sizeof(double)) return;  // its round-off is larger than the error
  test::expect_order("energy", steps, errors, 2.9);
}

// v = cos(2x) cos(3z + 1) moves nothing. Crank-Nicolson multiplies it in each substep by (1 - c k^2)/(1 + c k^2), with
// the modified wavenumber k, for any length of the step: here 300 times what explicit diffusion could bear.
TEST_P(PeriodicOrder, ImplicitStepsOfAnyLengthDampAWaveAsTheyShould) {
  constexpr double viscosity = 3;
  constexpr std::int64_t nx = 16, nz = 24;
  FlowCase settings = box({nx, 4, nz}, viscosity, GetParam());
  const auto wave = [](double x, double /*y*/, double z) { return cos(2 * x) * cos(3 * z + 1); };
  Flow explicitly(settings);
  settings.flow.diffusion = Diffusion::implicit;
  Flow flow(settings);
  flow.set_velocity(zero, wave, zero);
  const double dt = 300 * explicitly.stepper.time_step_limit(explicitly.state);
  const double kx = modified_wavenumber(GetParam(), 2 * pi / nx) / flow.grid.dx();
  const double kz = modified_wavenumber(Order::second, 3 * pi / nz) / flow.grid.dz(0);
  double factor = 1;
  for (int n = 0; n < 4; ++n) {
    flow.advance(1, dt);
    for (int k = 0; k < Rk3::substeps; ++k) {
      const double damping = Rk3::gamma(k) * dt * viscosity / 2 * (kx * kx + kz * kz);
      factor *= (1 - damping) / (1 + damping);
    }
  }
  EXPECT_GT(std::abs(factor), 1e-3);  // huge steps barely damp
  const double error =
      flow.rms_error(flow.state.velocity.v, [&](double x, double y, double z) { return factor * wave(x, y, z); });
  test::expect_at_most("error over the amplitude", error / std::abs(factor), test::round_off(1e-12));
}

/// The bits on CPUs. On GPUs transforms and systems along z depend on what a rank owns, and rounding differs.
TEST_P(PeriodicOrder, AgreesWithOneProcess) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const Diffusion diffusion : {Diffusion::explicit_, Diffusion::implicit}) {
    FlowCase settings = box({16, 18, 36}, 0.01, GetParam());
    settings.z_blocks = 6;
    settings.flow.diffusion = diffusion;
    Flow alone(settings);
    alone.set_random(3);
    alone.advance(5, 0.01);
    for (int py = 1; py <= size; ++py) {
      if (size % py != 0) continue;
      settings.processes = {py, size / py};
      Flow flow(settings, MPI_COMM_WORLD);
      flow.set_random(3);
      flow.advance(5, 0.01);
      const auto expected = alone.state.fields();
      const auto found = flow.state.fields();
      for (std::size_t n = 0; n < expected.size(); ++n) {
        const auto one = alone.read(expected[n].field).values;
        const auto several = flow.read(found[n].field).values;
        const double bound = device::is_gpu() && size > 1 ? test::round_off(1e-11) * test::largest(one) : 0;
        EXPECT_TRUE(std::ranges::equal(one, several, [&](double a, double b) { return std::abs(a - b) <= bound; }))
            << expected[n].descriptor.name << ", " << test::name_of(diffusion) << ", " << py << " processes along y";
      }
    }
  }
}

}  // namespace
}  // namespace sluice
