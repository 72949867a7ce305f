// Equations (6) and (6a): after a substep with implicit diffusion the Crank-Nicolson momentum equation holds with the
// new velocity and the new pressure, to round-off, at every w face, and for u and v except in the rows at the walls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "poisson/tridiagonal/tridiagonal_rows.hpp"
#include "solver/grid/stretching.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice {
namespace {

using test::Flow;
using test::FlowCase;
using test::GlobalArray;

struct Fields {
  explicit Fields(const Flow& flow)
      : u(flow.read(flow.state.velocity.u)),
        v(flow.read(flow.state.velocity.v)),
        w(flow.read(flow.state.velocity.w)),
        p(flow.read(flow.state.p)) {}
  GlobalArray u, v, w, p;
};

/// R of the present state.
struct Tendency {
  explicit Tendency(const Flow& flow) {
    VectorField r(flow.state.p.box(), flow.settings.flow.order), star(flow.state.p.box(), flow.settings.flow.order);
    flow.stepper.momentum().predict(flow.state, flow.state.p, {}, r, star);
    u = flow.read(r.u);
    v = flow.read(r.v);
    w = flow.read(r.w);
  }
  GlobalArray u, v, w;
};

/// The wall velocity as Lz sees it, besides its homogeneous rows: 2 u_wall / dz^2.
struct WallRows {
  TridiagonalRows rows;
  double bottom = 0, top = 0;

  double apply(const GlobalArray& f, std::int64_t i, std::int64_t j, std::int64_t k) const {
    const auto n = static_cast<std::size_t>(k);
    const std::int64_t last = f.cells[2] - 1;
    return (k > 0 ? rows.lower[n] * f(i, j, k - 1) : bottom) + rows.diagonal[n] * f(i, j, k) +
           (k < last ? rows.upper[n] * f(i, j, k + 1) : top);
  }
};

/// One component: values before and after, its two tendencies, and how it sees p, the force and the walls.
struct Equation {
  const GlobalArray &before, &after, &r, &r_previous;
  const GlobalArray& p;  ///< the new one
  int axis;
  const WallRows& lz;
  double force;
};

/// dp/dx, dp/dy or dp/dz above the centre (i, j, k), by eq. (7) for order 4 along x and y.
double gradient_along(int axis, const Flow& flow, const GlobalArray& p, std::int64_t i, std::int64_t j,
                      std::int64_t k) {
  const auto [nx, ny, nz] = p.cells;
  if (axis == 2) return (p(i, j, k + 1) - p(i, j, k)) / flow.grid.dz_center(k);
  const double spacing = axis == 0 ? flow.grid.dx() : flow.grid.dy();
  const auto line = [&](std::int64_t n) { return axis == 0 ? p((i + n + nx) % nx, j, k) : p(i, (j + n + ny) % ny, k); };
  const double one = (line(1) - line(0)) / spacing;
  return flow.settings.flow.order == Order::second ? one
                                                   : 9.0 / 8 * one - 1.0 / 8 * (line(2) - line(-1)) / (3 * spacing);
}

/// The second difference along x or y, as a difference of differences.
double second_along(int axis, const Flow& flow, const GlobalArray& f, std::int64_t i, std::int64_t j, std::int64_t k) {
  const auto [nx, ny, nz] = f.cells;
  const double spacing = axis == 0 ? flow.grid.dx() : flow.grid.dy();
  const auto line = [&](std::int64_t n) {
    return axis == 0 ? f((i + n + 3 * nx) % nx, j, k) : f(i, (j + n + 3 * ny) % ny, k);
  };
  const auto slope = [&](std::int64_t n) {  // at n + 1/2
    const double one = (line(n + 1) - line(n)) / spacing;
    return flow.settings.flow.order == Order::second
               ? one
               : 9.0 / 8 * one - 1.0 / 8 * (line(n + 2) - line(n - 1)) / (3 * spacing);
  };
  const double one = (slope(0) - slope(-1)) / spacing;
  return flow.settings.flow.order == Order::second ? one
                                                   : 9.0 / 8 * one - 1.0 / 8 * (slope(1) - slope(-2)) / (3 * spacing);
}

/// Largest residual of u_new - c Lz u_new = u + dt [alpha R + beta R_prev - gamma grad p_new + gamma f] + c
/// Lz u over planes [first, end), relative to the largest change of the component; L in place of Lz where diffusion is
/// implicit in all directions.
double residual(const Flow& flow, const Equation& eq, double dt, int substep, std::int64_t first, std::int64_t end) {
  const auto n = static_cast<std::size_t>(substep);
  const double gamma_dt = Rk3::gamma(substep) * dt;
  const double c = gamma_dt * flow.settings.flow.viscosity / 2;
  const auto& cells = flow.grid.cells();
  const bool implicit = flow.settings.flow.diffusion == Diffusion::implicit;
  const auto second = [&](const GlobalArray& f, std::int64_t i, std::int64_t j, std::int64_t k) {
    const double along_z = eq.lz.apply(f, i, j, k);
    return implicit ? along_z + second_along(0, flow, f, i, j, k) + second_along(1, flow, f, i, j, k) : along_z;
  };
  double worst = 0;
  double change = 0;
  for (std::int64_t k = first; k < end; ++k) {
    for (std::int64_t j = 0; j < cells[1]; ++j) {
      for (std::int64_t i = 0; i < cells[0]; ++i) {
        const double gradient = gradient_along(eq.axis, flow, eq.p, i, j, k);
        const double old_part = substep > 0 ? Rk3::beta[n] * eq.r_previous(i, j, k) : 0;
        const double right = eq.before(i, j, k) + dt * (Rk3::alpha[n] * eq.r(i, j, k) + old_part) -
                             gamma_dt * (gradient - eq.force) + c * second(eq.before, i, j, k);
        const double left = eq.after(i, j, k) - c * second(eq.after, i, j, k);
        worst = std::max(worst, std::abs(left - right));
        change = std::max(change, std::abs(eq.after(i, j, k) - eq.before(i, j, k)));
      }
    }
  }
  return worst / change;
}

WallRows tangential_rows(const Flow& flow, double bottom, double top) {
  const auto row = [](const WallCondition& wall) {
    return wall.kind == WallKind::no_slip ? WallRow::dirichlet : WallRow::neumann;
  };
  const FlowParameters& parameters = flow.settings.flow;
  const auto value = [&](const WallCondition& wall, double velocity, std::int64_t k) {
    return wall.kind == WallKind::no_slip ? 2 * velocity / (flow.grid.dz(k) * flow.grid.dz(k)) : 0;
  };
  return {second_derivative_centers(flow.grid.z_nodes(), row(parameters.bottom), row(parameters.top)),
          value(parameters.bottom, bottom, 0), value(parameters.top, top, flow.grid.cells()[2] - 1)};
}

/// Checks the equation after each of the six substeps of two steps.
void check_substeps(const FlowCase& settings) {
  Flow flow(settings);
  flow.set_random(5);
  const FlowParameters& parameters = settings.flow;
  const WallRows rows_u =
      tangential_rows(flow, parameters.bottom.velocity[0].constant(), parameters.top.velocity[0].constant());
  const WallRows rows_v =
      tangential_rows(flow, parameters.bottom.velocity[1].constant(), parameters.top.velocity[1].constant());
  const WallRows rows_w{second_derivative_faces(flow.grid.z_nodes()), 0, 0};
  const double dt = 0.5 * flow.stepper.time_step_limit(flow.state);
  const std::int64_t nz = settings.cells[2];
  double worst_u = 0, worst_v = 0, worst_w = 0;
  Tendency previous(flow);
  for (int n = 0; n < 6; ++n) {
    const int k = n % Rk3::substeps;
    const Fields before(flow);
    const Tendency r(flow);
    const double force = flow.stepper.substep(flow.state, dt, k).x;
    const Fields after(flow);
    worst_u = std::max(
        worst_u, residual(flow, {before.u, after.u, r.u, previous.u, after.p, 0, rows_u, force}, dt, k, 1, nz - 1));
    worst_v = std::max(worst_v,
                       residual(flow, {before.v, after.v, r.v, previous.v, after.p, 1, rows_v, 0}, dt, k, 1, nz - 1));
    worst_w = std::max(worst_w,
                       residual(flow, {before.w, after.w, r.w, previous.w, after.p, 2, rows_w, 0}, dt, k, 0, nz - 1));
    previous = r;
  }
  const double wide = 2 * parameters.viscosity * dt / std::pow(flow.grid.dz_min(), 2);
  std::printf("  2 nu dt / dz_min^2 = %.3g\n", wide);
  const double bound = test::round_off(1e-12);
  test::expect_at_most("w, every face: residual over change", worst_w, bound);
  test::expect_at_most("u, inner rows: residual over change", worst_u, bound);
  test::expect_at_most("v, inner rows: residual over change", worst_v, bound);
}

FlowCase settings_for(const test::Discretisation& form, std::array<std::int64_t, 3> cells, TridiagonalMethod method) {
  FlowCase settings;
  settings.cells = cells;
  settings.length_x = 4;
  settings.length_y = 2;
  settings.z_nodes = tanh_nodes(cells[2], 2, 2, true);
  settings.flow.viscosity = 0.05;
  settings.flow.bottom = {WallKind::no_slip, -0.5, 0.3};
  settings.flow.top = {WallKind::no_slip, 0.8, -0.2};
  settings.flow.forcing = {ForcingKind::bulk_velocity, 0.6};
  settings.flow.diffusion = form.diffusion;
  settings.flow.order = form.order;
  settings.flow.tridiagonal = method;
  settings.z_blocks = 3;
  return settings;
}

class CrankNicolson : public testing::TestWithParam<test::Discretisation> {};

TEST_P(CrankNicolson, HoldsAfterEverySubstepBetweenMovingWalls) {
  check_substeps(settings_for(GetParam(), {12, 9, 20}, TridiagonalMethod::ptdma));
  check_substeps(settings_for(GetParam(), {9, 10, 17}, TridiagonalMethod::transpose));
}

TEST_P(CrankNicolson, HoldsAfterEverySubstepOfAnOpenChannel) {
  FlowCase settings = settings_for(GetParam(), {12, 9, 20}, TridiagonalMethod::ptdma);
  settings.flow.top.kind = WallKind::free_slip;
  settings.flow.forcing = {ForcingKind::pressure_gradient, 0.7};
  check_substeps(settings);
}

using Form = test::Discretisation;
INSTANTIATE_TEST_SUITE_P(Forms, CrankNicolson,
                         testing::Values(Form{Diffusion::implicit_z, Order::second},
                                         Form{Diffusion::implicit_z, Order::fourth},
                                         Form{Diffusion::implicit, Order::second},
                                         Form{Diffusion::implicit, Order::fourth}),
                         [](const auto& form) { return test::name_of(form.param); });

}  // namespace
}  // namespace sluice
