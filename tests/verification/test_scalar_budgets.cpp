// The budgets of the variance of a scalar, cc, and of its fluxes uc and wc, formed from one sample of the statistics as
// docs/equations.md says: they add up to the rate of change that the equations of the scheme give; those of a scalar
// that obeys the equation of u are the budgets of uu and uw; each term converges to its exact value.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "solver/physics/number_sources.hpp"
#include "solver/physics/sources.hpp"
#include "solver/transport/scalar_sweep.hpp"
#include "tests/support/budget_terms.hpp"
#include "tests/support/buoyancy.hpp"
#include "tests/support/direct_sums.hpp"
#include "tests/support/rates_of_change.hpp"
#include "tests/support/rotation.hpp"
#include "tests/support/smooth_flow.hpp"

namespace sluice {
namespace {

using test::Budget;
using test::Budgets;
using test::covariance;
using test::Derivative;
using test::Direct;
using test::expect_closed;
using test::Flow;
using test::FlowCase;
using test::GlobalArray;
using test::Profile;
using test::Profiles;
using test::Rates;
using test::SmoothFlow;
using Index = std::int64_t;

/// Budgets of one scalar from profiles. Number f of a face profile is the face below centre f.
class ScalarBudgets {
 public:
  ScalarBudgets(const Flow& flow, const Profiles& profiles, std::size_t number)
      : flow_(flow.settings.flow),
        scalar_(flow_.scalars[number]),
        grid_(flow.grid),
        of_(profiles),
        nz_(flow.settings.cells[2]) {}

  /// At the centres.
  Budget of_variance() const {
    Budget b;
    const Profile& mean = of("");
    for (Index k = 0; k < nz_; ++k) {
      b.production.push_back(2 * production(mean, of("_w"), of("_w_jump"), k));
      b.transport.push_back(-(triple(k + 1) - triple(k)) / grid_.dz(k));
      b.diffusion.push_back((variance_flux(k + 1) - variance_flux(k)) / grid_.dz(k));
      b.dissipation.push_back(2 * kappa() * (at(of("_dx_squared"), k) + at(of("_dy_squared"), k)) +
                              half_sum_of_faces(k, [&](Index f) {
                                return 2 * kappa() * (at(of("_dz_squared"), f) - std::pow(gradient(f), 2));
                              }));
      b.source.push_back(2 * source() * (at(of("_u"), k) - at(of_.at("u"), k) * at(mean, k)));
    }
    return b;
  }

  /// At the centres.
  Budget of_uc() const {
    Budget b;
    const Profile& mean = of("");
    const Profile& u = of_.at("u");
    for (Index k = 0; k < nz_; ++k) {
      const double dz = grid_.dz(k);
      const auto jump = [&](const Profile& p) { return (at(p, k + 1) - at(p, k)) / dz; };
      const double by_shear = production(u, of("_w"), of("_w_jump"), k);
      const double by_gradient = production(mean, of_.at("uw"), of_.at("uw_jump"), k);
      const double advection = at(of("_u_advection"), k) + at(mean, k) * jump(of_.at("uw")) + at(u, k) * jump(of("_w"));
      b.production.push_back(by_shear + by_gradient);
      b.transport.push_back(advection - by_shear - by_gradient);
      b.pressure_strain.push_back(at(of("_u_pressure"), k));
      b.diffusion.push_back((flux_of_uc(k + 1) - flux_of_uc(k)) / dz);
      b.dissipation.push_back(
          half_sum_of_faces(
              k, [&](Index f) { return at(of("_u_dissipation_z"), f) - (nu() + kappa()) * shear(f) * gradient(f); }) -
          at(of("_u_diffusion_xy"), k));
      b.source.push_back(at(of("_u_source"), k) - source() * std::pow(at(u, k), 2));
      if (!has_forces()) continue;
      const double mean_force = 2 * test::rotation_of(flow_).rate[2] * at(of_.at("v"), k);
      b.coriolis.push_back(at(of("_u_coriolis"), k) - at(mean, k) * mean_force);
      b.buoyancy.push_back(at(of("_u_buoyancy"), k) -
                           at(mean, k) * buoyancy(0) * at(of_.at(test::buoyancy_of(flow_).scalar), k));
    }
    return b;
  }

  /// On the inner faces; entry 0 is face 1.
  Budget of_wc() const {
    Budget b;
    for (Index f = 1; f < nz_; ++f) {
      const double dz = grid_.dz_center(f - 1);
      const auto slope = [&](const Profile& p) { return (at(p, f) - at(p, f - 1)) / dz; };
      const auto mean = [&](const Profile& p) { return (at(p, f) + at(p, f - 1)) / 2; };
      const auto weighted = [&](const Profile& p) {
        return (grid_.dz(f - 1) * at(p, f - 1) + grid_.dz(f) * at(p, f)) / (2 * dz);
      };
      const double c = mean(of(""));
      const double production = -at(of_.at("ww_face"), f) * gradient(f);
      const double pressure_gradient = at(of("_p_gradient"), f) - mean(of_.at("p")) * gradient(f);
      b.production.push_back(production);
      b.transport.push_back(at(of("_w_advection"), f) + c * slope(of_.at("ww_flux")) - production);
      b.pressure_strain.push_back(pressure_gradient);
      b.pressure_transport.push_back(at(of("_w_pressure"), f) + c * slope(of_.at("p")) - pressure_gradient);
      b.diffusion.push_back(at(of("_w_diffusion_z"), f) + at(of("_w_dissipation_z"), f));
      b.dissipation.push_back(at(of("_w_dissipation_z"), f) - at(of("_w_diffusion_xy"), f));
      b.source.push_back(source() * at(of_.at("uw"), f));
      if (!has_forces()) continue;
      const auto& rate = test::rotation_of(flow_).rate;
      const double mean_force = 2 * (rate[1] * weighted(of_.at("u")) - rate[0] * weighted(of_.at("v")));
      b.coriolis.push_back(at(of("_w_coriolis"), f) - c * mean_force);
      b.buoyancy.push_back(at(of("_w_buoyancy"), f) - c * buoyancy(2) * mean(of_.at(test::buoyancy_of(flow_).scalar)));
    }
    return b;
  }

 private:
  static double at(const Profile& profile, Index k) { return profile[static_cast<std::size_t>(k)]; }
  const Profile& of(const std::string& ending) const { return of_.at(scalar_.name + ending); }
  double nu() const { return flow_.viscosity; }
  double kappa() const { return flow_.diffusivity(scalar_); }
  double source() const { return source_of(scalar_).in_sweep(scalar_).times_u; }
  double buoyancy(std::size_t axis) const {
    return -test::buoyancy_of(flow_).coefficient * test::buoyancy_of(flow_).direction[axis];
  }
  bool has_forces() const { return test::rotation_of(flow_).active() && test::buoyancy_of(flow_).active(); }
  /// Derivatives of the means on face f.
  double gradient(Index f) const { return at(of("_gradient_flux"), f) / kappa(); }
  double shear(Index f) const { return at(of_.at("tau_xz"), f) / nu(); }
  double variance(Index k) const { return at(of("_squared"), k) - std::pow(at(of(""), k), 2); }

  /// -<q'w'> dA/dz in cell k, with the fluxes of q of this cell through both faces.
  double production(const Profile& a, const Profile& flux, const Profile& jump, Index k) const {
    const double below = k > 0 ? at(a, k) - at(a, k - 1) : 0;  // w is 0 on the walls
    const double above = k + 1 < nz_ ? at(a, k + 1) - at(a, k) : 0;
    return -(above * (at(flux, k + 1) - at(jump, k + 1)) + below * (at(flux, k) + at(jump, k))) / (2 * grid_.dz(k));
  }
  double half_sum_of_faces(Index k, const auto& on_face) const {
    return (on_face(k + 1) * grid_.dz_center(k) + on_face(k) * grid_.dz_center(k - 1)) / (2 * grid_.dz(k));
  }
  double triple(Index f) const {
    if (f == 0 || f == nz_) return 0;
    const double flux = at(of("_w"), f);
    const double jump = at(of("_w_jump"), f);
    return at(of("_squared_w_flux"), f) - at(of(""), f - 1) * (flux + jump) - at(of(""), f) * (flux - jump);
  }
  double variance_flux(Index f) const {
    if (f == 0 || f == nz_) return 0;
    return kappa() * (variance(f) - variance(f - 1)) / grid_.dz_center(f - 1);
  }
  double flux_of_uc(Index f) const {
    // The means on the face; on a wall from the centre inside.
    const Index k = f < nz_ ? f : f - 1;
    const double to_face = (f < nz_ ? -1 : 1) * grid_.dz_center(f - 1) / 2;
    const double c = at(of(""), k) + gradient(f) * to_face;
    const double u = at(of_.at("u"), k) + shear(f) * to_face;
    return at(of("_u_diffusion_z"), f) - nu() * c * shear(f) - kappa() * u * gradient(f);
  }

  const FlowParameters& flow_;
  const ScalarParameters& scalar_;
  const Grid& grid_;
  const Profiles& of_;
  Index nz_;
};

/// R of the equation of a scalar; sources that are uniform change no covariance.
GlobalArray rate_of_scalar(const Flow& flow, std::size_t number) {
  const ScalarParameters& scalar = flow.settings.flow.scalars[number];
  const Field& c = flow.state.transported[number].field;
  const Order order = flow.settings.flow.order;
  Field tendency = make_field(flow.state.transported[number].descriptor, c.box(), order);
  Field star = make_field(flow.state.transported[number].descriptor, c.box(), order);
  sweep_scalar({.c = c.view(),
                .tendency = tendency.view(),
                .star = star.view(),
                .m = flow.stepper.metrics(),
                .kappa = static_cast<real>(flow.settings.flow.diffusivity(scalar)),
                .uniform_source = 0,
                .streamwise_source = static_cast<real>(source_of(scalar).in_sweep(scalar).times_u),
                .alpha_dt = 0,
                .beta_dt = 0,
                .half_kappa_gamma_dt = 0,
                .velocity = flow.state},
               c.local_box(), {order, true, false});
  return flow.read(tendency);
}

Profile sum_of(Profile a, const Profile& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += b[k];
  return a;
}

class ScalarBudgetsOfRoughFlow : public testing::TestWithParam<Order> {
 protected:
  /// Every kind of wall and source, an oblique rotation and oblique gravity.
  static FlowCase settings_for(Order order) {
    FlowCase settings = test::rough_case(order);
    test::rotation_of(settings.flow) = {.rate = {0.9, -1.4, 1.1}, .geostrophic = {0.5, 0.1}};
    settings.flow.scalars = {{.name = "a",
                              .prandtl = 0.7,
                              .bottom = {ScalarWallKind::value, 0.4},
                              .top = {ScalarWallKind::flux, -0.02},
                              .source = TermParameters::with(StreamwiseSource{3})},
                             {.name = "b",
                              .prandtl = 3,
                              .bottom = {ScalarWallKind::flux, 0.01},
                              .top = {ScalarWallKind::value, -1},
                              .source = TermParameters::with(UniformSource{0.5})}};
    test::buoyancy_of(settings.flow) = {.scalar = "a", .coefficient = 2, .reference = 0.1, .direction = {0.6, 0, -0.8}};
    return settings;
  }
};

TEST_P(ScalarBudgetsOfRoughFlow, TermsAddUpToTheRateOfChange) {
  Flow flow(settings_for(GetParam()));
  flow.set_random(21);
  for (auto& [descriptor, field] : flow.state.transported) {
    const double offset = descriptor.name == "a" ? 0.3 : -0.4;
    flow.set(field,
             [&](double x, double y, double z) { return offset + std::sin(1e4 * (x + 2 * y + 3 * z + offset)); });
  }
  flow.stepper.fill_halos(flow.state);
  flow.advance(2, 0.5 * flow.stepper.time_step_limit(flow.state));
  const Profiles profiles = test::sampled_profiles(flow);
  const Rates rate(flow);
  const Direct& d = rate.direct;
  const Index nz = flow.settings.cells[2];
  const auto along_x = [&d](const auto& f, Index first) {
    return [&d, &f, first](Index i, Index j, Index k) {
      return d.halfway([&](Index n) { return f(i + first + n, j, k); });
    };
  };
  const auto on_face = [](const auto& f) {
    return [&f](Index i, Index j, Index k) { return (f(i, j, k) + f(i, j, k + 1)) / 2; };
  };
  const auto u = [&](Index i, Index j, Index k) { return d.at(d.u, i, j, k); };
  const auto w = [&](Index i, Index j, Index k) { return d.w_at(i, j, k); };
  const auto r_u = [&](Index i, Index j, Index k) { return rate.u(i, j, k); };
  const auto r_w = [&](Index i, Index j, Index k) { return rate.w(i, j, k); };
  for (std::size_t n = 0; n < 2; ++n) {
    const std::string name = flow.settings.flow.scalars[n].name;
    const ScalarBudgets budgets(flow, profiles, n);
    const GlobalArray scalar = flow.read(flow.state.transported[n].field);
    const GlobalArray tendency = rate_of_scalar(flow, n);
    const auto c = [&](Index i, Index j, Index k) { return d.at(scalar, i, j, k); };
    const auto r_c = [&](Index i, Index j, Index k) { return d.at(tendency, i, j, k); };
    expect_closed(name + name, budgets.of_variance(), sum_of(covariance(d, nz, c, r_c), covariance(d, nz, c, r_c)));
    expect_closed("u" + name, budgets.of_uc(),
                  sum_of(covariance(d, nz, along_x(c, 0), r_u), covariance(d, nz, along_x(u, -1), r_c)));
    expect_closed("w" + name, budgets.of_wc(),
                  sum_of(covariance(d, nz - 1, on_face(c), r_w), covariance(d, nz - 1, on_face(r_c), w)));
    const auto largest = [](const Profile& term) {
      return std::abs(std::ranges::max(term, {}, [](double value) { return std::abs(value); }));
    };
    for (const Budget& budget : {budgets.of_uc(), budgets.of_wc()}) {
      test::expect_at_least("Coriolis term over dissipation", largest(budget.coriolis) / largest(budget.dissipation),
                            1e-3);
      test::expect_at_least("buoyancy over dissipation", largest(budget.buoyancy) / largest(budget.dissipation), 1e-3);
    }
  }
}

void expect_same(const std::string& what, const Budget& found, const Budget& expected) {
  double size = 0;
  double worst = 0;
  for (const auto& term : {&Budget::production, &Budget::transport, &Budget::pressure_strain,
                           &Budget::pressure_transport, &Budget::diffusion, &Budget::dissipation}) {
    for (std::size_t k = 0; k < expected.dissipation.size(); ++k) {
      const auto at = [k](const Profile& values) { return values.empty() ? 0 : values[k]; };
      size = std::max(size, std::abs(at(expected.*term)));
      worst = std::max(worst, std::abs(at(found.*term) - at(expected.*term)));
    }
  }
  EXPECT_GT(size, 0);
  test::expect_at_most(what + ": largest difference of a term, over the largest term", worst / size,
                       test::round_off(1e-13));
}

/// Where nothing depends on x, no pressure force acts on u. A scalar with Prandtl number 1, the walls of u and a source
/// equal to the driving force is u then, and its budgets are those of u, term by term.
TEST_P(ScalarBudgetsOfRoughFlow, AreThoseOfUWhereItsEquationIsTheSame) {
  FlowCase settings = test::rough_case(GetParam());
  settings.flow.forcing = {ForcingKind::pressure_gradient, 0.2};
  const WallCondition& bottom = settings.flow.bottom;
  const WallCondition& top = settings.flow.top;
  settings.flow.scalars = {{.name = "c",
                            .prandtl = 1,
                            .bottom = {ScalarWallKind::value, bottom.velocity[0].constant()},
                            .top = {ScalarWallKind::value, top.velocity[0].constant()},
                            .source = TermParameters::with(UniformSource{0.2})}};
  Flow flow(settings);
  const auto rough = [](double y, double z, double phase) { return std::sin(1e4 * (2 * y + 3 * z) + phase); };
  flow.set_velocity([&](double, double y, double z) { return rough(y, z, 0); },
                    [&](double, double y, double z) { return rough(y, z, 1); },
                    [&](double, double y, double z) { return z < 1.999 ? rough(y, z, 2) : 0; });
  flow.stepper.project(flow.state);
  scatter(flow.read(flow.state.velocity.u), flow.state.transported[0].field, 0);
  flow.stepper.fill_halos(flow.state);
  flow.advance(3, 0.5 * flow.stepper.time_step_limit(flow.state));
  const Profiles profiles = test::sampled_profiles(flow);
  const Budgets velocity(flow, profiles);
  const ScalarBudgets scalar(flow, profiles, 0);
  expect_same("cc and uu", scalar.of_variance(), velocity.along("u"));
  expect_same("uc and uu", scalar.of_uc(), velocity.along("u"));
  expect_same("wc and uw", scalar.of_wc(), velocity.of_uw());
}

INSTANTIATE_TEST_SUITE_P(Orders, ScalarBudgetsOfRoughFlow, testing::Values(Order::second, Order::fourth),
                         [](const auto& order) { return test::name_of(order.param); });

/// The terms of the exact budgets at a height z, of a scalar with the fluctuations of the pressure of the smooth flow
/// moved along x, between insulated walls.
struct ExactBudgets {
  using D = Derivative;
  SmoothFlow f;
  double nu, kappa, source;

  double c(double x, double y, double z, D d = {}) const {
    return f.p(x + 0.9, y, z, d) - (d.x + d.y == 0 ? SmoothFlow::mean_p(z, d.z) : 0);
  }
  static double mean_c(double z, int d = 0) { return 0.8 * SmoothFlow::mean_u(z, d); }

  struct Terms {
    double production, transport, pressure_strain, pressure_transport, diffusion, dissipation, source;
  };
  /// Of <a b> with diffusivities of a and b.
  Terms of(const auto& a, double nu_a, const auto& b, double nu_b, double z) const {
    const D none, dx{1, 0, 0}, dy{0, 1, 0}, dz{0, 0, 1}, dzz{0, 0, 2};
    const auto mean = [](const auto& quantity) { return test::plane_average(quantity); };
    Terms terms{};
    terms.transport = -mean([&](double x, double y) {
      return a(x, y, z, dz) * b(x, y, z, none) * f.w(x, y, z) + a(x, y, z, none) * b(x, y, z, dz) * f.w(x, y, z) +
             a(x, y, z, none) * b(x, y, z, none) * f.w(x, y, z, dz);
    });
    terms.diffusion = mean([&](double x, double y) {
      return nu_a * a(x, y, z, dzz) * b(x, y, z, none) + (nu_a + nu_b) * a(x, y, z, dz) * b(x, y, z, dz) +
             nu_b * a(x, y, z, none) * b(x, y, z, dzz);
    });
    terms.dissipation =
        (nu_a + nu_b) * mean([&](double x, double y) {
          return a(x, y, z, dx) * b(x, y, z, dx) + a(x, y, z, dy) * b(x, y, z, dy) + a(x, y, z, dz) * b(x, y, z, dz);
        });
    return terms;
  }
  Terms cc(double z) const {
    const auto of_c = [&](double x, double y, double s, D d) { return c(x, y, s, d); };
    const auto mean = [](const auto& quantity) { return test::plane_average(quantity); };
    Terms terms = of(of_c, kappa, of_c, kappa, z);
    terms.production = -2 * mean([&](double x, double y) { return c(x, y, z) * f.w(x, y, z); }) * mean_c(z, 1);
    terms.source = 2 * source * mean([&](double x, double y) { return c(x, y, z) * f.u(x, y, z); });
    return terms;
  }
  Terms uc(double z) const {
    const auto of_u = [&](double x, double y, double s, D d) { return f.u(x, y, s, d); };
    const auto of_c = [&](double x, double y, double s, D d) { return c(x, y, s, d); };
    const auto mean = [](const auto& quantity) { return test::plane_average(quantity); };
    Terms terms = of(of_u, nu, of_c, kappa, z);
    terms.production = -mean([&](double x, double y) {
      return f.w(x, y, z) * (f.u(x, y, z) * mean_c(z, 1) + c(x, y, z) * SmoothFlow::mean_u(z, 1));
    });
    terms.pressure_strain = mean([&](double x, double y) { return f.p(x, y, z) * c(x, y, z, {1, 0, 0}); });
    terms.source = source * mean([&](double x, double y) { return std::pow(f.u(x, y, z), 2); });
    return terms;
  }
  Terms wc(double z) const {
    const auto of_w = [&](double x, double y, double s, D d) { return f.w(x, y, s, d); };
    const auto of_c = [&](double x, double y, double s, D d) { return c(x, y, s, d); };
    const auto mean = [](const auto& quantity) { return test::plane_average(quantity); };
    Terms terms = of(of_w, nu, of_c, kappa, z);
    terms.production = -mean([&](double x, double y) { return std::pow(f.w(x, y, z), 2); }) * mean_c(z, 1);
    const D dz{0, 0, 1};
    terms.pressure_strain =
        mean([&](double x, double y) { return (f.p(x, y, z) - SmoothFlow::mean_p(z)) * c(x, y, z, dz); });
    terms.pressure_transport = -mean([&](double x, double y) {
      return (f.p(x, y, z, dz) - SmoothFlow::mean_p(z, 1)) * c(x, y, z) +
             (f.p(x, y, z) - SmoothFlow::mean_p(z)) * c(x, y, z, dz);
    });
    terms.source = source * mean([&](double x, double y) { return f.u(x, y, z) * f.w(x, y, z); });
    return terms;
  }
};

/// Largest errors of the terms of a budget, over their largest values; those that are zero are left out.
std::map<std::string, double> errors_of(const Grid& grid, const Budget& found, bool at_faces, const auto& terms_at) {
  std::map<std::string, double> largest;
  std::map<std::string, double> scale;
  for (std::size_t k = 0; k < found.dissipation.size(); ++k) {
    const ExactBudgets::Terms exact = terms_at(at_faces ? grid.z_nodes()[k + 1] : grid.z_center(static_cast<Index>(k)));
    const auto note = [&](const char* term, const Profile& values, double value) {
      largest[term] = std::max(largest[term], std::abs((values.empty() ? 0 : values[k]) - value));
      scale[term] = std::max(scale[term], std::abs(value));
    };
    note("production", found.production, exact.production);
    note("transport", found.transport, exact.transport);
    note("pressure gradient", found.pressure_strain, exact.pressure_strain);
    note("pressure transport", found.pressure_transport, exact.pressure_transport);
    // In the cell at a wall, diffusion on a stretched grid is of first order.
    if (at_faces || (k > 0 && k + 1 < found.dissipation.size())) note("diffusion", found.diffusion, exact.diffusion);
    note("dissipation", found.dissipation, exact.dissipation);
    note("source", found.source, exact.source);
  }
  std::map<std::string, double> errors;
  for (const auto& [term, value] : largest) {
    if (scale[term] > 0) errors[term] = value / scale[term];
  }
  return errors;
}

TEST(ScalarBudgetsOfSmoothFlow, EachTermConvergesToItsExactValue) {
  const ExactBudgets exact{.f = {}, .nu = 0.05, .kappa = 0.05 / 0.7, .source = 0.6};
  const SmoothFlow& smooth = exact.f;
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
      settings.flow.scalars = {
          {.name = "c", .prandtl = 0.7, .source = TermParameters::with(StreamwiseSource{exact.source})}};  // insulated
      Flow flow(settings);
      flow.set_velocity([&](double x, double y, double z) { return SmoothFlow::mean_u(z) + smooth.u(x, y, z); },
                        [&](double x, double y, double z) { return smooth.v(x, y, z); },
                        [&](double x, double y, double z) { return smooth.w(x, y, z); });
      flow.set(flow.state.p, [&](double x, double y, double z) { return smooth.p(x, y, z); });
      flow.set(flow.state.transported[0].field,
               [&](double x, double y, double z) { return ExactBudgets::mean_c(z) + exact.c(x, y, z); });
      flow.stepper.fill_halos(flow.state);
      const Profiles profiles = test::sampled_profiles(flow);
      const ScalarBudgets budgets(flow, profiles, 0);
      sizes.push_back(1.0 / static_cast<double>(n));
      const auto compare = [&](const std::string& name, const Budget& found, bool at_faces, const auto& terms_at) {
        for (const auto& [term, error] : errors_of(flow.grid, found, at_faces, terms_at))
          errors[name + " " + term].push_back(error);
      };
      compare("cc", budgets.of_variance(), false, [&](double z) { return exact.cc(z); });
      compare("uc", budgets.of_uc(), false, [&](double z) { return exact.uc(z); });
      compare("wc", budgets.of_wc(), true, [&](double z) { return exact.wc(z); });
    }
    EXPECT_EQ(errors.size(), 5u + 6u + 7u);
    for (const auto& [term, values] : errors)
      test::expect_order(test::name_of(order) + ", " + term, sizes, values, 1.85);
  }
}

}  // namespace
}  // namespace sluice
