#include "solver/projection.hpp"

#include <type_traits>
#include <utility>

#include "core/device/parallel_for.hpp"
#include "poisson/fft/divergence_rows.hpp"
#include "solver/forcing.hpp"
#include "solver/momentum/correction.hpp"
#include "solver/state/vector_view.hpp"
#include "solver/time_step_limit.hpp"

namespace sluice {

namespace {

/// Sums the mean of v*.
struct SpanwiseMean {
  View3<const real> v;
  Metrics m;
  SLUICE_INLINE real compute(Cell c) const { return v(c.i, c.j, c.k); }
  SLUICE_INLINE double write(Cell c, real value) const { return weighted_by_height(value, c.k, m); }
};

/// Eq. (3) in one cell. Also returns the cell's advective rate for a reduction. The ordinary flow has no force along y,
/// and none in its kernel.
template <Order order, bool spanwise>
struct Correct {
  using CellType = op::CellFor<order>;
  Correction correction;
  VectorView<real> star;
  Metrics m;

  struct Computed {
    real u, v, w;
  };
  SLUICE_INLINE Computed compute(CellType c) const {
    const Around phi = around(correction.phi, c);
    const CellType here = relative_cell(c);
    const Metrics mk = m.seen_from(c.k);
    const std::ptrdiff_t at = star.offset(c);
    const real response = correction.response[c.k];
    return {corrected_u<order>(star.u[at], correction, phi, here, mk, response),
            corrected_v<order, spanwise>(star.v[at], correction, phi, here, mk, response),
            corrected_w(star.w[at], correction, phi, here, mk)};
  }
  SLUICE_INLINE double write(CellType c, const Computed& corrected) const {
    const std::ptrdiff_t at = star.offset(c);
    star.u[at] = corrected.u;
    star.v[at] = corrected.v;
    star.w[at] = corrected.w;
    return advective_rate<order>(corrected.u, corrected.v, corrected.w, c.k, m);
  }
  /// For a loop that reduces nothing.
  SLUICE_INLINE void operator()(CellType c) const { write(c, compute(c)); }
};

/// phi - gamma dt nu/2 Lz phi, which eq. (6) adds to p.
template <class F, class C>
SLUICE_INLINE real change_of_pressure(const F& phi, const C& c, const Metrics& m, real half_nu_gamma_dt) {
  return phi(c.i, c.j, c.k) - half_nu_gamma_dt * op::d2dz2_center(phi, c, m);
}

/// Eq. (6) alone.
struct UpdatePressure {
  View3<const real> phi;
  View3<real> p;
  Metrics m;
  real half_nu_gamma_dt;
  SLUICE_INLINE void operator()(int i, int j, int k) const {
    p(i, j, k) += change_of_pressure(phi, Cell{i, j, k, i, i}, m, half_nu_gamma_dt);
  }
};

/// Eq. (3), and eq. (6) in the same pass.
template <Order order, bool spanwise>
struct CorrectWithPressure {
  using CellType = op::CellFor<order>;
  Correct<order, spanwise> velocity;
  real* p;  ///< address of cell (0, 0, 0) in an array of the velocity's layout
  real half_nu_gamma_dt;

  struct Computed {
    typename Correct<order, spanwise>::Computed velocity;
    real p;
  };
  SLUICE_INLINE Computed compute(CellType c) const {
    const real change = change_of_pressure(around(velocity.correction.phi, c), relative_cell(c),
                                           velocity.m.seen_from(c.k), half_nu_gamma_dt);
    return {velocity.compute(c), p[velocity.star.offset(c)] + change};
  }
  SLUICE_INLINE double write(CellType c, const Computed& corrected) const {
    p[velocity.star.offset(c)] = corrected.p;
    return velocity.write(c, corrected.velocity);
  }
};

/// Calls action(order, spanwise) with both as constants.
void with_kernel(Order order, bool spanwise, auto&& action) {
  op::with_order(order, [&](auto of_order) {
    spanwise ? action(of_order, std::true_type{}) : action(of_order, std::false_type{});
  });
}

}  // namespace

Projection::Projection(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                       const Metrics& metrics, const Walls& walls, HaloExchange& halo, const FlowParameters& flow,
                       const ExchangeSet& exchanges)
    : box_(decomposition.x_pencil(comm.rank())),
      metrics_(metrics),
      walls_(&walls),
      halo_(&halo),
      order_(flow.order),
      spanwise_(flow.spanwise_forcing.kind != ForcingKind::none),
      poisson_(comm, decomposition, {grid.dx(), grid.dy(), grid.z_nodes(), flow.order, flow.periodic_z},
               flow.tridiagonal, exchanges) {}

void Projection::solve(VectorField& star, double gamma_dt, Field& phi, PhaseTimers& timers) {
  const bool wide = order_ == Order::fourth;
  {
    const PhaseTimers::Scope scope(timers, "halo exchange");
    // div u* reads v(j-1) and w(k-1) only; of order 4, also v(j-2) and v(j+1).
    halo_->update_y(star.v, {.lower = wide ? 2 : 1, .upper = wide ? 1 : 0});
    halo_->update_z(star.w, {.lower = 1, .upper = 0});
    walls_->apply_normal(star.w);
  }
  if (spanwise_) {
    const PhaseTimers::Scope scope(timers, "divergence");
    reduce_sum("mean of v*", box_.local(), SpanwiseMean{std::as_const(star.v).view(), metrics_}, v_star_sum_);
  }
  // The right-hand side is op::divergence of u* / (gamma dt).
  const DivergenceRows rows{
      vector_view(std::as_const(star)), order_, metrics_.inv_dx, metrics_.inv_dy, metrics_.inv_dz, metrics_.dz,
      static_cast<real>(1 / gamma_dt)};
  poisson_.solve_divergence(rows, phi, u_star_sum_, timers);
  const PhaseTimers::Scope scope(timers, "halo exchange");
  // The correction of order 4 reads phi(j-1) to phi(j+2).
  halo_->update_y(phi, {.lower = 1, .upper = wide ? 2 : 1});
  halo_->update_z(phi, {.lower = 1, .upper = 1});
  walls_->apply_neumann(phi);
}

void Projection::correct(VectorField& star, const Correction& correction) {
  with_kernel(order_, spanwise_, [&](auto order, auto spanwise) {
    const Correct<order, spanwise> kernel{correction, vector_view(star), metrics_};
    reduce_max("correction", box_.local(), kernel, largest_rate_);
  });
}

void Projection::correct(VectorField& star, Field& p, const Correction& correction, double half_nu_gamma_dt) {
  SLUICE_REQUIRE(p.row_length() == star.u.row_length() && p.halo() == star.u.halo(), "p and u must have one layout");
  with_kernel(order_, spanwise_, [&](auto order, auto spanwise) {
    const CorrectWithPressure<order, spanwise> kernel{
        {correction, vector_view(star), metrics_}, p.view().origin, static_cast<real>(half_nu_gamma_dt)};
    reduce_max("correction", box_.local(), kernel, largest_rate_);
  });
}

PendingCorrection Projection::correct_rim(VectorField& star, const Correction& correction) {
  const int ny = box_.ny();
  const int nz = box_.nz();
  const int rim_y = reach_of(order_);
  constexpr int rim_z = PendingCorrection::rim_z;
  const auto box = [&](int y0, int y1, int z0, int z1) { return Box3{{0, y0, z0}, {box_.nx(), y1, z1}}; };
  const std::vector<Box3> parts =
      ny <= 2 * rim_y || nz <= 2 * rim_z
          ? std::vector{box_.local()}
          : std::vector{box(0, rim_y, 0, nz), box(ny - rim_y, ny, 0, nz), box(rim_y, ny - rim_y, 0, rim_z),
                        box(rim_y, ny - rim_y, nz - rim_z, nz)};
  with_kernel(order_, spanwise_, [&](auto order, auto spanwise) {
    for (const Box3& part : parts)
      parallel_for("correction", part, Correct<order, spanwise>{correction, vector_view(star), metrics_});
  });
  return {correction, rim_y, ny, nz};
}

void Projection::update_pressure(Field& p, const Field& phi, double half_nu_gamma_dt) {
  parallel_for("pressure", box_.local(),
               UpdatePressure{phi.view(), p.view(), metrics_, static_cast<real>(half_nu_gamma_dt)});
}

}  // namespace sluice
