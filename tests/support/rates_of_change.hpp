#pragma once
// The rates of change that the momentum equations of the scheme give, written plainly, for tests of budgets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "solver/physics/body_force.hpp"
#include "tests/support/budget_terms.hpp"
#include "tests/support/direct_sums.hpp"

namespace sluice::test {

/// R - grad p of each component, and the velocity. R has the Coriolis force and buoyancy, too.
struct Rates {
  explicit Rates(const Flow& f) : flow(f), direct(f) {
    VectorField tendency(f.state.p.box(), f.settings.flow.order);
    VectorField star(f.state.p.box(), f.settings.flow.order);
    f.stepper.momentum().predict(f.state, f.state.p, {}, tendency, star);
    BodyForces(f.stepper.metrics(), f.settings.flow).add(f.state, f.state.transported, 0, tendency, star);
    r_u = f.read(tendency.u);
    r_v = f.read(tendency.v);
    r_w = f.read(tendency.w);
  }
  double u(std::int64_t i, std::int64_t j, std::int64_t k) const {
    const auto p = [&](std::int64_t n) { return direct.at(direct.p, i + n, j, k); };
    return direct.at(r_u, i, j, k) - direct.derivative(flow.grid.dx(), p);
  }
  double v(std::int64_t i, std::int64_t j, std::int64_t k) const {
    const auto p = [&](std::int64_t n) { return direct.at(direct.p, i, j + n, k); };
    return direct.at(r_v, i, j, k) - direct.derivative(flow.grid.dy(), p);
  }
  double w(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return direct.at(r_w, i, j, k) -
           (direct.at(direct.p, i, j, k + 1) - direct.at(direct.p, i, j, k)) / flow.grid.dz_center(k);
  }

  const Flow& flow;
  Direct direct;
  GlobalArray r_u, r_v, r_w;
};

/// Plane means of a b minus the product of their means.
inline Profile covariance(const Direct& d, std::int64_t end, const Direct::Quantity& a, const Direct::Quantity& b) {
  const Profile mean_a = d.means(0, end, a);
  const Profile mean_b = d.means(0, end, b);
  Profile result =
      d.means(0, end, [&](std::int64_t i, std::int64_t j, std::int64_t k) { return a(i, j, k) * b(i, j, k); });
  for (std::size_t k = 0; k < result.size(); ++k) result[k] -= mean_a[k] * mean_b[k];
  return result;
}

inline void expect_closed(const std::string& what, const Budget& budget, const Profile& rate) {
  ASSERT_EQ(budget.dissipation.size(), rate.size());
  double worst = 0;
  double size = 0;
  for (std::size_t k = 0; k < rate.size(); ++k) {
    worst = std::max(worst, std::abs(budget.sum(k) - rate[k]));
    size = std::max(size, std::abs(rate[k]));
  }
  EXPECT_GT(size, 0) << what;
  expect_at_most(what + ": sum of the terms - rate of change, over the largest rate", worst / size, round_off(1e-12));
}

}  // namespace sluice::test
