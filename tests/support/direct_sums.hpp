#pragma once
// Direct sums over the downloaded fields of a flow, to compare statistics with.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "solver/grid/stretching.hpp"
#include "solver/statistics/statistics.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice::test {

using Profiles = std::map<std::string, std::vector<double>>;

inline Statistics statistics_of(const Flow& flow) {
  return {flow.grid,          flow.stepper.metrics(), flow.settings.flow, flow.stepper.walls(),
          flow.state.p.box(), {.budgets = true},      flow.comm.world()};
}

/// The profiles of one sample.
inline Profiles sampled_profiles(const Flow& flow) {
  Statistics statistics = statistics_of(flow);
  statistics.sample(flow.state, 0);
  Profiles profiles;
  for (std::size_t n = 0; n < statistics.profiles().size(); ++n)
    profiles[statistics.profiles()[n].name] = statistics.open_block().sums[n];
  return profiles;
}

/// The fields with periodic neighbours and, beyond the walls, the values that the wall conditions give.
struct Direct {
  explicit Direct(const Flow& f)
      : flow(&f),
        u(f.read(f.state.velocity.u)),
        v(f.read(f.state.velocity.v)),
        w(f.read(f.state.velocity.w)),
        p(f.read(f.state.p)) {}

  double at(const GlobalArray& f, std::int64_t i, std::int64_t j, std::int64_t k) const {
    return f((i + f.cells[0]) % f.cells[0], (j + f.cells[1]) % f.cells[1], k);
  }
  /// u or v with no-slip walls at these velocities.
  double tangential(const GlobalArray& f, std::int64_t i, std::int64_t j, std::int64_t k, double bottom,
                    double top) const {
    if (k < 0) return 2 * bottom - at(f, i, j, 0);
    if (k >= f.cells[2]) return 2 * top - at(f, i, j, f.cells[2] - 1);
    return at(f, i, j, k);
  }
  double u_at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return tangential(u, i, j, k, flow->settings.flow.bottom.velocity[0].constant(),
                      flow->settings.flow.top.velocity[0].constant());
  }
  double v_at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return tangential(v, i, j, k, flow->settings.flow.bottom.velocity[1].constant(),
                      flow->settings.flow.top.velocity[1].constant());
  }
  /// w on the face above cell k; -1 is the bottom wall.
  double w_at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return k < 0 || k + 1 >= w.cells[2] ? 0 : at(w, i, j, k);
  }
  double spacing(std::int64_t k) const { return flow->grid.dz_center(k); }

  bool is_second_order() const { return flow->settings.flow.order == Order::second; }
  /// Of a line of values along x or y, line(n) being n points further on: the value between the points 0 and 1; for
  /// order 4 by eq. (8).
  double halfway(const auto& line) const {
    if (is_second_order()) return (line(0) + line(1)) / 2;
    return 9.0 / 8 * (line(0) + line(1)) / 2 - 1.0 / 8 * (line(-1) + line(2)) / 2;
  }
  /// The derivative there; for order 4 by eq. (7).
  double derivative(double h, const auto& line) const {
    if (is_second_order()) return (line(1) - line(0)) / h;
    return 9.0 / 8 * (line(1) - line(0)) / h - 1.0 / 8 * (line(2) - line(-1)) / (3 * h);
  }

  using Quantity = std::function<double(std::int64_t, std::int64_t, std::int64_t)>;
  /// Plane means of a quantity over planes [first, end).
  std::vector<double> means(std::int64_t first, std::int64_t end, const Quantity& quantity) const {
    std::vector<double> result;
    for (std::int64_t k = first; k < end; ++k) {
      double sum = 0;
      for (std::int64_t j = 0; j < u.cells[1]; ++j) {
        for (std::int64_t i = 0; i < u.cells[0]; ++i) sum += quantity(i, j, k);
      }
      result.push_back(sum / static_cast<double>(u.cells[0] * u.cells[1]));
    }
    return result;
  }
  std::vector<double> at_centers(const Quantity& quantity) const { return means(0, u.cells[2], quantity); }
  std::vector<double> at_faces(const Quantity& quantity) const { return means(-1, u.cells[2], quantity); }

  const Flow* flow;
  GlobalArray u, v, w, p;
};

/// Moving walls, a stretched grid and uneven numbers of cells.
inline FlowCase rough_case(Order order = Order::second) {
  FlowCase settings;
  settings.flow.order = order;
  settings.cells = {19, 11, 14};
  settings.length_x = 4;
  settings.length_y = 2;
  settings.z_nodes = tanh_nodes(14, 2, 2, true);
  settings.grid_velocity = 0.3;
  settings.flow.viscosity = 0.01;
  settings.flow.bottom = {WallKind::no_slip, -0.5, 0.2};
  settings.flow.top = {WallKind::no_slip, 0.7, -0.3};
  settings.flow.forcing = {ForcingKind::bulk_velocity, 0.5};
  return settings;
}

}  // namespace sluice::test
