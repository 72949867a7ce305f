// The terms of the budgets of uu, vv, ww and uw, formed from one sample of the statistics as docs/equations.md says,
// add up to the rate of change that the momentum equations of the scheme give: sums over the velocity times
// R - grad p, written plainly.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "tests/support/direct_sums.hpp"

namespace sluice {
namespace {

using test::Direct;
using test::Flow;
using test::FlowCase;
using test::GlobalArray;
using test::Profiles;
using Index = std::int64_t;
using Profile = std::vector<double>;

struct Budget {
  Profile production, transport, pressure_strain, pressure_transport, diffusion, dissipation;
  double sum(std::size_t k) const {
    const auto at = [k](const Profile& term) { return term.empty() ? 0 : term[k]; };
    return at(production) + at(transport) + at(pressure_strain) + at(pressure_transport) + at(diffusion) -
           at(dissipation);
  }
};

/// Budgets from profiles. Number f of a face profile is the face below centre f.
class Budgets {
 public:
  Budgets(const Flow& flow, const Profiles& profiles) : flow_(flow), of_(profiles), nz_(flow.settings.cells[2]) {}

  /// At the centres, of uu or vv.
  Budget along(const std::string& c) const {
    const bool is_u = c == "u";
    const Profile& mean = of_.at(c);
    const Profile& flux = of_.at(c + "w");
    const Profile& jump = of_.at(c + "w_jump");
    const Profile& stress = of_.at(is_u ? "tau_xz" : "tau_yz");
    Budget b;
    for (Index k = 0; k < nz_; ++k) {
      const double dz = flow_.grid.dz(k);
      const double inner_below = k > 0 ? at(mean, k) - at(mean, k - 1) : 0;  // w is 0 on the walls
      const double inner_above = k + 1 < nz_ ? at(mean, k + 1) - at(mean, k) : 0;
      b.production.push_back(
          -(inner_above * (at(flux, k + 1) - at(jump, k + 1)) + inner_below * (at(flux, k) + at(jump, k))) / dz);
      b.transport.push_back(-(triple(c, k + 1) - triple(c, k)) / dz);
      b.pressure_strain.push_back(2 * at(of_.at(is_u ? "p_dudx" : "p_dvdy"), k));
      b.diffusion.push_back((diffusive_flux(c, k + 1) - diffusive_flux(c, k)) / dz);
      const auto gradient = [&](Index f) {  // variance of the derivative along z, times the distance of the centres
        const double of_mean = at(stress, f) / nu();
        return (at(of_.at("d" + c + "dz_squared"), f) - of_mean * of_mean) * flow_.grid.dz_center(f - 1);
      };
      b.dissipation.push_back(2 * nu() *
                                  (at(of_.at("d" + c + "dx_squared"), k) + at(of_.at("d" + c + "dy_squared"), k)) +
                              nu() * (gradient(k + 1) + gradient(k)) / dz);
    }
    return b;
  }

  /// Of ww on the inner faces; entry 0 is face 1.
  Budget of_ww() const {
    Budget b;
    for (Index f = 1; f < nz_; ++f) {
      const double dz = flow_.grid.dz_center(f - 1);
      const double above = flow_.grid.dz(f);
      const double below = flow_.grid.dz(f - 1);
      const auto jump = [&](const char* name) { return at(of_.at(name), f) - at(of_.at(name), f - 1); };
      const auto around = [&](const char* name) {
        return above * at(of_.at(name), f) + below * at(of_.at(name), f - 1);
      };
      const Profile& ww = of_.at("ww_face");
      b.transport.push_back(-jump("www_flux") / dz);
      b.pressure_strain.push_back(around("p_dwdz") / dz);
      b.pressure_transport.push_back(-2 * jump("pw") / dz);
      b.diffusion.push_back(nu() * ((at(ww, f + 1) - at(ww, f)) / above - (at(ww, f) - at(ww, f - 1)) / below) / dz);
      b.dissipation.push_back(2 * nu() * (at(of_.at("dwdx_squared"), f) + at(of_.at("dwdy_squared"), f)) +
                              nu() * around("dwdz_squared") / dz);
    }
    return b;
  }

  /// Of uw on the inner faces; entry 0 is face 1.
  Budget of_uw() const {
    Budget b;
    for (Index f = 1; f < nz_; ++f) {
      const double dz = flow_.grid.dz_center(f - 1);
      const auto jump = [&](const char* name) { return at(of_.at(name), f) - at(of_.at(name), f - 1); };
      const double mean_u = (at(of_.at("u"), f - 1) + at(of_.at("u"), f)) / 2;
      const double mean_p = (at(of_.at("p"), f - 1) + at(of_.at("p"), f)) / 2;
      const double shear = jump("u") / dz;
      const double production = -at(of_.at("ww_face"), f) * shear;
      const double strain = at(of_.at("p_strain_xz"), f) - mean_p * shear;
      const double dissipation = at(of_.at("uw_dissipation_z"), f) - at(of_.at("uw_viscous_xy"), f);
      b.production.push_back(production);
      b.transport.push_back(at(of_.at("uw_advection"), f) + mean_u * jump("ww_flux") / dz - production);
      b.pressure_strain.push_back(strain);
      b.pressure_transport.push_back(at(of_.at("uw_pressure"), f) + mean_u * jump("p") / dz - strain);
      b.dissipation.push_back(dissipation);
      b.diffusion.push_back(at(of_.at("uw_viscous_z"), f) + at(of_.at("uw_dissipation_z"), f));
    }
    return b;
  }

 private:
  static double at(const Profile& profile, Index k) { return profile[static_cast<std::size_t>(k)]; }
  double nu() const { return flow_.settings.flow.viscosity; }
  double variance(const std::string& c, Index k) const { return at(of_.at(c + c), k) - std::pow(at(of_.at(c), k), 2); }

  /// <c' c' w'> on face f, of c below and above.
  double triple(const std::string& c, Index f) const {
    if (f == 0 || f == nz_) return 0;
    const Profile& mean = of_.at(c);
    const double flux = at(of_.at(c + "w"), f);
    const double jump = at(of_.at(c + "w_jump"), f);
    return at(of_.at(c + c + "w_flux"), f) - at(mean, f - 1) * (flux + jump) - at(mean, f) * (flux - jump);
  }
  /// No flux through the walls, where fluctuations vanish.
  double diffusive_flux(const std::string& c, Index f) const {
    if (f == 0 || f == nz_) return 0;
    return nu() * (variance(c, f) - variance(c, f - 1)) / flow_.grid.dz_center(f - 1);
  }

  const Flow& flow_;
  const Profiles& of_;
  Index nz_;
};

/// R - grad p of each component, and the velocity.
struct Rates {
  explicit Rates(const Flow& f) : flow(f), direct(f) {
    VectorField tendency(f.state.p.box(), f.settings.flow.order);
    VectorField star(f.state.p.box(), f.settings.flow.order);
    f.stepper.momentum().predict(f.state, {}, tendency, star);
    r_u = f.read(tendency.u);
    r_v = f.read(tendency.v);
    r_w = f.read(tendency.w);
  }
  double u(Index i, Index j, Index k) const {
    const auto p = [&](Index n) { return direct.at(direct.p, i + n, j, k); };
    return direct.at(r_u, i, j, k) - direct.derivative(flow.grid.dx(), p);
  }
  double v(Index i, Index j, Index k) const {
    const auto p = [&](Index n) { return direct.at(direct.p, i, j + n, k); };
    return direct.at(r_v, i, j, k) - direct.derivative(flow.grid.dy(), p);
  }
  double w(Index i, Index j, Index k) const {
    return direct.at(r_w, i, j, k) -
           (direct.at(direct.p, i, j, k + 1) - direct.at(direct.p, i, j, k)) / flow.grid.dz_center(k);
  }

  const Flow& flow;
  Direct direct;
  GlobalArray r_u, r_v, r_w;
};

/// Plane means of a b minus the product of their means.
Profile covariance(const Direct& d, Index end, const Direct::Quantity& a, const Direct::Quantity& b) {
  const Profile mean_a = d.means(0, end, a);
  const Profile mean_b = d.means(0, end, b);
  Profile result = d.means(0, end, [&](Index i, Index j, Index k) { return a(i, j, k) * b(i, j, k); });
  for (std::size_t k = 0; k < result.size(); ++k) result[k] -= mean_a[k] * mean_b[k];
  return result;
}

void expect_closed(const std::string& what, const Budget& budget, const Profile& rate) {
  ASSERT_EQ(budget.dissipation.size(), rate.size());
  double worst = 0;
  double size = 0;
  for (std::size_t k = 0; k < rate.size(); ++k) {
    worst = std::max(worst, std::abs(budget.sum(k) - rate[k]));
    size = std::max(size, std::abs(rate[k]));
  }
  EXPECT_GT(size, 0) << what;
  test::expect_at_most(what + ": sum of the terms - rate of change, over the largest rate", worst / size,
                       test::round_off(1e-12));
}

class BudgetsOfRoughFlow : public testing::TestWithParam<Order> {
 protected:
  BudgetsOfRoughFlow() : flow(test::rough_case(GetParam())) {
    flow.set_random(21);
    flow.advance(2, 0.5 * flow.stepper.time_step_limit(flow.state));
    profiles = test::sampled_profiles(flow);
  }
  Flow flow;
  Profiles profiles;
};

TEST_P(BudgetsOfRoughFlow, TermsAddUpToTheRateOfChange) {
  const Budgets budgets(flow, profiles);
  const Rates rate(flow);
  const Direct& d = rate.direct;
  const Index nz = flow.settings.cells[2];
  const auto u = [&](Index i, Index j, Index k) { return d.at(d.u, i, j, k); };
  const auto v = [&](Index i, Index j, Index k) { return d.at(d.v, i, j, k); };
  const auto w = [&](Index i, Index j, Index k) { return d.w_at(i, j, k); };
  const auto r_u = [&](Index i, Index j, Index k) { return rate.u(i, j, k); };
  const auto r_v = [&](Index i, Index j, Index k) { return rate.v(i, j, k); };
  const auto r_w = [&](Index i, Index j, Index k) { return rate.w(i, j, k); };
  const auto twice = [](Profile profile) {
    for (double& value : profile) value *= 2;
    return profile;
  };
  expect_closed("uu", budgets.along("u"), twice(covariance(d, nz, u, r_u)));
  expect_closed("vv", budgets.along("v"), twice(covariance(d, nz, v, r_v)));
  expect_closed("ww", budgets.of_ww(), twice(covariance(d, nz - 1, w, r_w)));

  // uw is the mean of u below and above the face times w interpolated to the same point.
  const auto on_face = [](const auto& f) {
    return [&f](Index i, Index j, Index k) { return (f(i, j, k) + f(i, j, k + 1)) / 2; };
  };
  const auto along_x = [&d](const auto& f) {
    return [&d, &f](Index i, Index j, Index k) { return d.halfway([&](Index n) { return f(i + n, j, k); }); };
  };
  Profile rate_of_uw = covariance(d, nz - 1, on_face(u), along_x(r_w));
  const Profile other = covariance(d, nz - 1, on_face(r_u), along_x(w));
  for (std::size_t k = 0; k < other.size(); ++k) rate_of_uw[k] += other[k];
  expect_closed("uw", budgets.of_uw(), rate_of_uw);
}

/// Pressure moves energy between the components, and creates none.
TEST_P(BudgetsOfRoughFlow, PressureStrainHasNoTrace) {
  double worst = 0;
  double size = 0;
  for (std::size_t k = 0; k < profiles.at("p_dudx").size(); ++k) {
    const double terms[] = {profiles.at("p_dudx")[k], profiles.at("p_dvdy")[k], profiles.at("p_dwdz")[k]};
    worst = std::max(worst, std::abs(terms[0] + terms[1] + terms[2]));
    size = std::max(size, std::abs(terms[0]));
  }
  test::expect_at_most("p div u over p du/dx", worst / size, test::round_off(1e-12));
}

/// Number of derivatives along x, y and z.
struct Derivative {
  int x = 0, y = 0, z = 0;
};

/// A smooth, divergence-free flow between free-slip walls at z = 0 and pi: a mean velocity and Fourier modes.
class SmoothFlow {
 public:
  double u(double x, double y, double z, Derivative d = {}) const {
    double sum = 0;
    for (const Mode& m : modes)
      sum += m.a * sine(m.kx, m.phase, x, d.x) * cosine(m.ky, 0, y, d.y) * cosine(m.kz, 0, z, d.z);
    return sum;
  }
  double v(double x, double y, double z, Derivative d = {}) const {
    double sum = 0;
    for (const Mode& m : modes)
      sum += m.b * cosine(m.kx, m.phase, x, d.x) * sine(m.ky, 0, y, d.y) * cosine(m.kz, 0, z, d.z);
    return sum;
  }
  double w(double x, double y, double z, Derivative d = {}) const {
    double sum = 0;
    for (const Mode& m : modes) {
      const double c = -(m.kx * m.a + m.ky * m.b) / m.kz;
      sum += c * cosine(m.kx, m.phase, x, d.x) * cosine(m.ky, 0, y, d.y) * sine(m.kz, 0, z, d.z);
    }
    return sum;
  }
  double p(double x, double y, double z, Derivative d = {}) const {
    return cosine(1, 0.3, x, d.x) * cosine(1, 0, y, d.y) * cosine(1, 0, z, d.z) +
           0.7 * sine(2, 0, x, d.x) * cosine(2, 0, y, d.y) * cosine(2, 0, z, d.z) +
           0.4 * (d.x + d.y == 0 ? cosine(2, 0, z, d.z) : 0);
  }
  static double mean_u(double z, int d = 0) { return 1.5 * cosine(1, 0, z, d); }

 private:
  struct Mode {
    double kx, ky, kz, phase, a, b;
  };
  /// The d-th derivative of sin(k x + phase).
  static double sine(double k, double phase, double x, int d) {
    return std::pow(k, d) * std::sin(k * x + phase + d * std::numbers::pi / 2);
  }
  static double cosine(double k, double phase, double x, int d) { return sine(k, phase + std::numbers::pi / 2, x, d); }
  std::array<Mode, 4> modes{
      {{1, 1, 1, 0, 1.0, 0.6}, {1, 1, 2, 1.1, 0.8, -0.5}, {2, 2, 1, 0.4, 0.7, 0.9}, {1, 1, 3, 2.0, -0.6, 0.4}}};
};

/// The terms of the exact budgets, averages over x and y at a height z.
struct ExactBudgets {
  using D = Derivative;
  SmoothFlow f;
  double nu;

  /// Exact for products of few modes.
  static double average(const auto& quantity) {
    constexpr int n = 24;
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) sum += quantity(2 * std::numbers::pi * i / n, 2 * std::numbers::pi * j / n);
    }
    return sum / (n * n);
  }

  /// Terms of the budget of <a b> at z, with a(x, y, z, derivative) and the like; strain(x, y) and
  /// pressure_transport(x, y): the integrands of the two pressure terms.
  struct Terms {
    double production, transport, pressure_strain, pressure_transport, diffusion, dissipation;
  };
  Terms of(const auto& a, const auto& b, double production, double z, const auto& strain,
           const auto& pressure_transport) const {
    const D none, dx{1, 0, 0}, dy{0, 1, 0}, dz{0, 0, 1}, dzz{0, 0, 2};
    const auto mean = [&](const auto& quantity) { return average(quantity); };
    return {
        production,
        -mean([&](double x, double y) {
          return a(x, y, z, dz) * b(x, y, z, none) * f.w(x, y, z) + a(x, y, z, none) * b(x, y, z, dz) * f.w(x, y, z) +
                 a(x, y, z, none) * b(x, y, z, none) * f.w(x, y, z, dz);
        }),
        mean(strain),
        mean(pressure_transport),
        nu * mean([&](double x, double y) {
          return a(x, y, z, dzz) * b(x, y, z, none) + 2 * a(x, y, z, dz) * b(x, y, z, dz) +
                 a(x, y, z, none) * b(x, y, z, dzz);
        }),
        2 * nu * mean([&](double x, double y) {
          return a(x, y, z, dx) * b(x, y, z, dx) + a(x, y, z, dy) * b(x, y, z, dy) + a(x, y, z, dz) * b(x, y, z, dz);
        })};
  }
  Terms uu(double z) const {
    const auto u = [&](double x, double y, double s, D d) { return f.u(x, y, s, d); };
    const double uw = average([&](double x, double y) { return f.u(x, y, z) * f.w(x, y, z); });
    return of(
        u, u, -2 * uw * SmoothFlow::mean_u(z, 1), z,
        [&](double x, double y) {
          return 2 * f.p(x, y, z) * f.u(x, y, z, {1, 0, 0});
        },
        [](double, double) { return 0.0; });
  }
  Terms vv(double z) const {
    const auto v = [&](double x, double y, double s, D d) { return f.v(x, y, s, d); };
    return of(
        v, v, 0, z,
        [&](double x, double y) {
          return 2 * f.p(x, y, z) * f.v(x, y, z, {0, 1, 0});
        },
        [](double, double) { return 0.0; });
  }
  Terms ww(double z) const {
    const auto w = [&](double x, double y, double s, D d) { return f.w(x, y, s, d); };
    const D dz{0, 0, 1};
    return of(
        w, w, 0, z, [&](double x, double y) { return 2 * f.p(x, y, z) * f.w(x, y, z, dz); },
        [&](double x, double y) { return -2 * (f.p(x, y, z, dz) * f.w(x, y, z) + f.p(x, y, z) * f.w(x, y, z, dz)); });
  }
  Terms uw(double z) const {
    const auto u = [&](double x, double y, double s, D d) { return f.u(x, y, s, d); };
    const auto w = [&](double x, double y, double s, D d) { return f.w(x, y, s, d); };
    const D dx{1, 0, 0}, dz{0, 0, 1};
    const double p = average([&](double x, double y) { return f.p(x, y, z); });
    const double ww = average([&](double x, double y) { return f.w(x, y, z) * f.w(x, y, z); });
    return of(
        u, w, -ww * SmoothFlow::mean_u(z, 1), z,
        [&](double x, double y) { return (f.p(x, y, z) - p) * (f.u(x, y, z, dz) + f.w(x, y, z, dx)); },
        [&](double x, double y) {
          const double of_mean = 0.4 * -2 * std::sin(2 * z);
          return -((f.p(x, y, z, dz) - of_mean) * f.u(x, y, z) + (f.p(x, y, z) - p) * f.u(x, y, z, dz));
        });
  }
};

/// Each term of the budgets converges to its exact value with the order of the scheme along z.
TEST(BudgetsOfSmoothFlow, EachTermConvergesToItsExactValue) {
  const SmoothFlow smooth;
  const ExactBudgets exact{smooth, 0.05};
  for (const Order order : {Order::second, Order::fourth}) {
    std::map<std::string, std::vector<double>> errors;
    std::vector<double> sizes;
    for (const Index n : {16, 32}) {
      FlowCase settings;
      settings.cells = {n, n, 2 * n};
      settings.z_nodes = tanh_nodes(2 * n, std::numbers::pi, 0.8, true);
      settings.flow.order = order;
      settings.flow.viscosity = exact.nu;
      settings.flow.bottom.kind = WallKind::free_slip;
      settings.flow.top.kind = WallKind::free_slip;
      Flow flow(settings);
      flow.set_velocity([&](double x, double y, double z) { return SmoothFlow::mean_u(z) + smooth.u(x, y, z); },
                        [&](double x, double y, double z) { return smooth.v(x, y, z); },
                        [&](double x, double y, double z) { return smooth.w(x, y, z); });
      flow.set(flow.state.p, [&](double x, double y, double z) { return smooth.p(x, y, z); });
      flow.stepper.fill_halos(flow.state);
      const Profiles profiles = test::sampled_profiles(flow);
      const Budgets budgets(flow, profiles);
      sizes.push_back(1.0 / static_cast<double>(n));
      const auto compare = [&](const std::string& name, const Budget& found, bool at_faces, const auto& terms_at) {
        std::map<std::string, double> largest;
        std::map<std::string, double> scale;
        for (std::size_t k = 0; k < found.dissipation.size(); ++k) {
          const auto plane = static_cast<Index>(k);
          const double z = at_faces ? flow.grid.z_nodes()[k + 1] : flow.grid.z_center(plane);
          const ExactBudgets::Terms terms = terms_at(z);
          const auto note = [&](const char* term, const Profile& values, double value) {
            const double difference = std::abs((values.empty() ? 0 : values[k]) - value);
            largest[term] = std::max(largest[term], difference);
            scale[term] = std::max(scale[term], std::abs(value));
          };
          note("production", found.production, terms.production);
          note("transport", found.transport, terms.transport);
          note("pressure strain", found.pressure_strain, terms.pressure_strain);
          note("pressure transport", found.pressure_transport, terms.pressure_transport);
          // In the cell at a wall, diffusion on a stretched grid is of first order.
          if (at_faces || (k > 0 && k + 1 < found.dissipation.size()))
            note("diffusion", found.diffusion, terms.diffusion);
          note("dissipation", found.dissipation, terms.dissipation);
        }
        for (const auto& [term, value] : largest) {
          if (scale[term] > 0) errors[name + " " + term].push_back(value / scale[term]);
        }
      };
      compare("uu", budgets.along("u"), false, [&](double z) { return exact.uu(z); });
      compare("vv", budgets.along("v"), false, [&](double z) { return exact.vv(z); });
      compare("ww", budgets.of_ww(), true, [&](double z) { return exact.ww(z); });
      compare("uw", budgets.of_uw(), true, [&](double z) { return exact.uw(z); });
    }
    for (const auto& [term, values] : errors)
      test::expect_order(test::name_of(order) + ", " + term, sizes, values, 1.85);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, BudgetsOfRoughFlow, testing::Values(Order::second, Order::fourth),
                         [](const auto& order) { return test::name_of(order.param); });

}  // namespace
}  // namespace sluice
