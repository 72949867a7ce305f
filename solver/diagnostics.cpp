// What the log and the time series say of a flow: energy, wall shear, div u, means of scalars. Between steps.
#include "solver/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/stencil/loops.hpp"
#include "core/support/collective.hpp"
#include "model/mean_flow.hpp"
#include "solver/momentum/operators.hpp"
#include "solver/physics/terms.hpp"
#include "solver/state/volume_mean.hpp"

namespace sluice {

namespace {

using op::In;

/// u dz and |u|^2/2 dz. For w, dz is the height of its own control volume: the distance between centres.
struct MomentumAndEnergy {
  In u, v, w;
  Metrics m;
  SLUICE_INLINE void operator()(Cell c, double (&value)[2]) const {
    const auto at_u = static_cast<double>(u(c.i, c.j, c.k));
    const auto at_v = static_cast<double>(v(c.i, c.j, c.k));
    const auto at_w = static_cast<double>(w(c.i, c.j, c.k));
    const auto dz = static_cast<double>(m.dz[c.k]);
    const double dz_w = (dz + static_cast<double>(m.dz[c.k + 1])) / 2;
    value[0] = at_u * dz;
    value[1] = ((at_u * at_u + at_v * at_v) * dz + at_w * at_w * dz_w) / 2;
  }
};

template <Order order>
struct AbsDivergence {
  using CellType = op::CellFor<order>;
  In u, v, w;
  Metrics m;
  SLUICE_INLINE double operator()(CellType c) const {
    return std::abs(static_cast<double>(op::divergence<order>(u, v, w, c, m)));
  }
};

struct Magnitude {
  View3<const real> values;
  SLUICE_INLINE double operator()(Cell c) const { return std::abs(static_cast<double>(values(c.i, c.j, c.k))); }
};

/// Corrects MomentumAndEnergy for w on a wall, where the control volume is half a cell high. At the bottom (`weight` 1)
/// that sum has no such term; at the top (-1) its term is twice too large.
struct EnergyOnWall {
  WallValue w;
  double weight;
  Metrics m;
  SLUICE_INLINE void operator()(Cell c, double (&value)[1]) const {
    value[0] = weight * w(c.i, c.j) * w(c.i, c.j) * static_cast<double>(m.dz[c.k]) / 4;
  }
};

/// c dz.
struct WeightedScalar {
  In c;
  Metrics m;
  SLUICE_INLINE void operator()(Cell at, double (&value)[1]) const {
    value[0] = weighted_by_height(c(at.i, at.j, at.k), at.k, m);
  }
};

/// du/dz at the face below plane k.
struct ShearBelow {
  In u;
  Metrics m;
  SLUICE_INLINE void operator()(Cell c, double (&value)[1]) const {
    value[0] = static_cast<double>((u(c.i, c.j, c.k) - u(c.i, c.j, c.k - 1)) * m.inv_dz_center[c.k - 1]);
  }
};

/// Power of a wall at one point: minus the shear on the fluid times the velocity of the wall, and the pressure, the
/// viscous normal stress and the kinetic energy that w carries in.
struct PowerOfWall {
  In u, v, w, p;
  WallValue wall_u, wall_v, wall_w;
  double nu, inv_dz, sign;  ///< sign: 1 at the bottom, -1 at the top
  int k, next, nx;          ///< k: plane at the wall; next: that of the first w inside
  SLUICE_INLINE void operator()(Cell c, double (&value)[1]) const {
    const double at_u = wall_u(c.i, c.j);
    const double at_v = wall_v(c.i, c.j);
    const double at_w = wall_w(c.i, c.j);
    const auto inside = [](const In& f, int i, int j, int plane) { return static_cast<double>(f(i, j, plane)); };
    // Derivatives towards the fluid.
    const double shear_u = (inside(u, c.i, c.j, k) - inside(u, c.i, c.j, k - static_cast<int>(sign))) * inv_dz;
    const double shear_v = (inside(v, c.i, c.j, k) - inside(v, c.i, c.j, k - static_cast<int>(sign))) * inv_dz;
    const double strain_w = (inside(w, c.i, c.j, next) - at_w) * inv_dz;
    const double w_at_u = (at_w + wall_w(c.i + 1 < nx ? c.i + 1 : 0, c.j)) / 2;
    const double w_at_v = (at_w + wall_w(c.i, c.j + 1)) / 2;
    value[0] = -nu * (shear_u * at_u + shear_v * at_v + strain_w * at_w) + sign * inside(p, c.i, c.j, k) * at_w +
               sign * (at_u * at_u * w_at_u + at_v * at_v * w_at_v + at_w * at_w * at_w) / 2;
  }
};

}  // namespace

bool Diagnostics::finite() const {
  return std::isfinite(bulk_velocity) && std::isfinite(kinetic_energy) && std::isfinite(max_divergence) &&
         std::isfinite(shear_bottom) && std::isfinite(shear_top) &&
         std::ranges::all_of(scalars, [](const Scalar& scalar) { return std::isfinite(scalar.largest); }) &&
         std::ranges::all_of(further, [](const NamedValue& value) { return std::isfinite(value.value); });
}

std::vector<std::string> further_diagnostics(const FlowParameters& flow) {
  std::vector<std::string> names;
  if (flow.spanwise_forcing.kind != ForcingKind::none) names.emplace_back("bulk_velocity_y");
  for (const ScalarParameters& scalar : flow.scalars) {
    for (const char* of_scalar : {"_mean", "_flux_bottom", "_flux_top"}) names.push_back(scalar.name + of_scalar);
  }
  if (flow.bottom.is_actuated()) names.emplace_back("power_bottom");  // of the wall on the fluid, per wall area
  if (flow.top.is_actuated()) names.emplace_back("power_top");
  return names;
}

double global_max(double local, MPI_Comm comm) {
  // MPI_MAX may lose a NaN, so a flag is reduced beside the value.
  double both[2] = {std::isnan(local) ? 0 : local, std::isnan(local) ? 1.0 : 0.0};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
  return both[1] > 0 ? std::nan("") : both[0];
}

Diagnostics diagnose(const State& state, const Grid& grid, const Metrics& metrics, const FlowParameters& flow,
                     const Walls& walls, MPI_Comm comm) {
  const VectorField& velocity = state.velocity;
  const In u = velocity.u.view();
  const In v = velocity.v.view();
  const In w = velocity.w.view();
  const Box3 box = velocity.u.local_box();
  std::array<ExactSum, 8> sums;
  for (const auto& plane : reduce_planes<2>("momentum and energy", box, MomentumAndEnergy{u, v, w, metrics})) {
    sums[0] += plane[0];
    sums[1] += plane[1];
  }
  const auto plane_at = [&](bool owned, std::int64_t k) {
    Box3 plane = box;
    plane.lo[2] = k;
    plane.hi[2] = owned ? k + 1 : k;
    return plane;
  };
  for (const Walls::Side side : Walls::sides) {
    const WallValue wall = walls.velocity(side, Location::z_face);
    if (wall.is_zero()) continue;
    const bool bottom = side == Walls::Side::bottom;
    sums[1] += reduce_sum("energy on wall", plane_at(walls.owns(side), bottom ? 0 : box.hi[2] - 1),
                          EnergyOnWall{wall, bottom ? 1.0 : -1.0, metrics});
  }
  const auto gradient = [&](Walls::Side side, const In& f) {
    const std::int64_t k = side == Walls::Side::bottom ? 0 : box.hi[2];
    return reduce_sum("wall shear", plane_at(walls.owns(side), k), ShearBelow{f, metrics});
  };
  sums[2] = gradient(Walls::Side::bottom, u);
  sums[3] = gradient(Walls::Side::top, u);
  const bool changes_direction = mean_flow(flow).changes_direction;
  if (changes_direction) {
    sums[6] = gradient(Walls::Side::bottom, v);
    sums[7] = gradient(Walls::Side::top, v);
  }
  for (const Walls::Side side : Walls::sides) {
    if (!walls.condition(side).is_actuated() || !walls.owns(side)) continue;
    const bool bottom = side == Walls::Side::bottom;
    const int last = static_cast<int>(box.hi[2]) - 1;
    const int k = bottom ? 0 : last;
    const PowerOfWall power{u,
                            v,
                            w,
                            state.p.view(),
                            walls.velocity(side, Location::x_face),
                            walls.velocity(side, Location::y_face),
                            walls.velocity(side, Location::z_face),
                            flow.viscosity,
                            1 / grid.dz(bottom ? 0 : grid.cells()[2] - 1),
                            bottom ? 1.0 : -1.0,
                            k,
                            bottom ? 0 : last - 1,
                            static_cast<int>(box.hi[0])};
    sums[bottom ? 4 : 5] = reduce_sum("power of a wall", plane_at(true, k), power);
  }
  all_reduce(sums, comm);

  const double columns = static_cast<double>(grid.cells()[0]) * static_cast<double>(grid.cells()[1]);
  Diagnostics d;
  d.bulk_velocity = sums[0].value() / (columns * grid.length_z());
  d.kinetic_energy = sums[1].value() / (columns * grid.length_z());
  d.shear_bottom = flow.viscosity * sums[2].value() / columns;
  d.shear_top = flow.viscosity * sums[3].value() / columns;
  const auto stress = [&](double shear, const ExactSum& along_y) {
    return stress_of_u_tau(changes_direction, shear, flow.viscosity * along_y.value() / columns);
  };
  d.stress_bottom = stress(d.shear_bottom, sums[6]);
  d.stress_top = stress(d.shear_top, sums[7]);
  d.max_divergence =
      global_max(op::reduce_max<AbsDivergence>("largest divergence", box, flow.order, u, v, w, metrics), comm);
  if (flow.spanwise_forcing.kind != ForcingKind::none)
    d.further.push_back({"bulk_velocity_y", volume_mean(velocity.v, grid, metrics, comm)});
  for (std::size_t n = 0; n < state.transported.size(); ++n) {
    const In c = state.transported[n].field.view();
    std::array<ExactSum, 3> of_scalar{ExactSum(), gradient(Walls::Side::bottom, c), gradient(Walls::Side::top, c)};
    for (const auto& plane : reduce_planes<1>("scalar", box, WeightedScalar{c, metrics})) of_scalar[0] += plane[0];
    all_reduce(of_scalar, comm);
    const double kappa = flow.diffusivity(flow.scalars.at(n));
    d.scalars.push_back({.mean = of_scalar[0].value() / (columns * grid.length_z()),
                         .largest = global_max(reduce_max("largest magnitude", box, Magnitude{c}), comm),
                         .flux_bottom = -kappa * of_scalar[1].value() / columns,
                         .flux_top = kappa * of_scalar[2].value() / columns});
    const std::string& name = flow.scalars[n].name;
    d.further.push_back({name + "_mean", d.scalars[n].mean});
    d.further.push_back({name + "_flux_bottom", d.scalars[n].flux_bottom});
    d.further.push_back({name + "_flux_top", d.scalars[n].flux_top});
  }
  if (flow.bottom.is_actuated()) d.further.push_back({"power_bottom", sums[4].value() / columns});
  if (flow.top.is_actuated()) d.further.push_back({"power_top", sums[5].value() / columns});
  return d;
}

}  // namespace sluice
