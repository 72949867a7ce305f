// Corrects u* to u, eq. (3), and p, eq. (6): the last part of a substep before the halos, or only what halos and walls
// need of it, where the next momentum sweep does the rest.
#include "solver/correction/correction_sweep.hpp"

#include <utility>

#include "core/device/parallel_for.hpp"
#include "core/device/together.hpp"
#include "core/stencil/first_differences.hpp"
#include "solver/state/vector_view.hpp"

namespace sluice {

namespace {

/// Eq. (3) in one cell.
template <Order order>
struct Correct {
  using CellType = op::CellFor<order>;
  Correction correction;
  VectorView<real> star;
  Metrics m;
  SLUICE_INLINE void operator()(CellType c) const {
    const Around phi = around(correction.phi, c);
    const CellType here = relative_cell(c);
    const Metrics mk = m.seen_from(c.k);
    const std::ptrdiff_t at = star.offset(c);
    const CorrectionWeights weights = correction.numbers.weights();
    const real response = correction.response[c.k];
    const real u = corrected_u<order>(star.u[at], weights, phi, here, mk, response);
    const real v = corrected_v<order>(star.v[at], weights, phi, here, mk, response);
    const real w = corrected_w(star.w[at], weights, phi, here, mk);
    star.u[at] = u;
    star.v[at] = v;
    star.w[at] = w;
  }
};

/// Eq. (6) in one cell.
template <Order order>
struct UpdatePressure {
  using CellType = op::CellFor<order>;
  Correction correction;
  real* p;  ///< address of cell (0, 0, 0)
  std::ptrdiff_t stride_y, stride_z;
  Metrics m;
  SLUICE_INLINE void operator()(CellType c) const {
    const Around phi = around(correction.phi, c);
    real& here = p[c.i + c.j * stride_y + c.k * stride_z];
    here = updated_pressure(here, correction.numbers.weights(), phi, relative_cell(c), m.seen_from(c.k));
  }
};

/// Eq. (6a) in one cell.
template <Order order>
struct UpdatePressureByDivergence {
  using CellType = op::CellFor<order>;
  View3<real> p;
  View3<const real> phi, u, v, w;
  Metrics m;
  real half_viscosity;
  SLUICE_INLINE void operator()(CellType c) const {
    p(c.i, c.j, c.k) += multiply_add(-half_viscosity, op::divergence<order>(u, v, w, c, m), phi(c.i, c.j, c.k));
  }
};

/// Eqs. (3) and (6) in the same pass.
template <Order order>
struct CorrectWithPressure {
  using CellType = op::CellFor<order>;
  Correct<order> velocity;
  UpdatePressure<order> pressure;
  SLUICE_INLINE void operator()(CellType c) const {
    velocity(c);
    pressure(c);
  }
};

/// phi around a halo plane. The plane beyond, which the field lacks, is in an array of its own.
struct PhiAroundHalo {
  View3<const real> phi, beyond;
  int plane_beyond;
  SLUICE_INLINE real operator()(int i, int j, int k) const {
    return k == plane_beyond ? beyond(i, j, 0) : phi(i, j, k);
  }
};

/// Eqs. (3) and, if `with_pressure`, (6) in a halo plane.
template <Order order>
struct CorrectHalo {
  using CellType = op::CellFor<order>;
  Correct<order> velocity;
  PhiAroundHalo phi;
  bool with_pressure = false;
  View3<real> p{};
  View3<const real> old_p{};
  SLUICE_INLINE void operator()(CellType c) const {
    const auto& [correction, star, m] = velocity;
    const std::ptrdiff_t at = star.offset(c);
    const CorrectionWeights weights = correction.numbers.weights();
    const real response = correction.response[c.k];
    star.u[at] = corrected_u<order>(star.u[at], weights, phi, c, m, response);
    star.v[at] = corrected_v<order>(star.v[at], weights, phi, c, m, response);
    star.w[at] = corrected_w(star.w[at], weights, phi, c, m);
    if (with_pressure) p(c.i, c.j, c.k) = updated_pressure(old_p(c.i, c.j, c.k), weights, phi, c, m);
  }
};

template <Order order>
UpdatePressure<order> pressure_update_of(const Metrics& metrics, Field& p, const Correction& correction) {
  const View3<real> view = p.view();
  return {correction, view.origin, view.stride_y, view.stride_z, metrics};
}

}  // namespace

void CorrectionSweep::correct(VectorField& star, Field* p, const Correction& correction, const Box3& cells) const {
  op::with_order(order_, [&](auto order) {
    const Correct<order> velocity{correction, vector_view(star), metrics_};
    if (p == nullptr) {
      parallel_for("correction", cells, velocity);
    } else {
      parallel_for("correction", cells,
                   CorrectWithPressure<order>{velocity, pressure_update_of<order>(metrics_, *p, correction)});
    }
  });
}

void CorrectionSweep::correct(VectorField& star, Field* p, const Correction& correction) const {
  correct(star, p, correction, box_.local());
}

void CorrectionSweep::update_pressure(Field& p, const Correction& correction) const {
  op::with_order(order_, [&](auto order) {
    parallel_for("pressure", box_.local(), pressure_update_of<order>(metrics_, p, correction));
  });
}

void CorrectionSweep::update_pressure(Field& p, const Field& phi, const VectorField& star,
                                      double half_viscosity) const {
  op::with_order(order_, [&](auto order) {
    parallel_for("pressure", box_.local(),
                 UpdatePressureByDivergence<order>{p.view(), phi.view(), star.u.view(), star.v.view(), star.w.view(),
                                                   metrics_, static_cast<real>(half_viscosity)});
  });
}

std::optional<PendingCorrection> CorrectionSweep::correct_rim(VectorField& star, Field* p,
                                                              const Correction& correction) const {
  const PendingCorrection left{correction.numbers, p != nullptr, reach_of(order_), box_.ny(), box_.nz()};
  const Box3 inside = inside_rim(left);
  if (inside.empty()) {
    correct(star, p, correction);
    return {};
  }
  const auto part = [&](std::int64_t y0, std::int64_t y1, std::int64_t z0, std::int64_t z1) {
    correct(star, p, correction, {{0, y0, z0}, {box_.nx(), y1, z1}});
  };
  const auto [ny, nz] = std::pair(box_.extent(1), box_.extent(2));
  const device::Independent independent;
  part(0, inside.lo[1], 0, nz);
  part(inside.hi[1], ny, 0, nz);
  part(inside.lo[1], inside.hi[1], 0, inside.lo[2]);
  part(inside.lo[1], inside.hi[1], inside.hi[2], nz);
  return left;
}

void CorrectionSweep::correct_halos(VectorField& star, Field* p, const Field* old_p, const Correction& correction,
                                    const HaloExchange& halo, const HaloExchange::PlanesBeyond& beyond) const {
  op::with_order(order_, [&](auto order) {
    const auto in_plane = [&](int k, const Field* next, int plane_beyond) {
      CorrectHalo<order> kernel{{correction, vector_view(star), metrics_}, {correction.phi, {}, plane_beyond}};
      if (next != nullptr) kernel.phi.beyond = next->view();
      if (p != nullptr) {
        kernel.with_pressure = true;
        kernel.p = p->view();
        kernel.old_p = old_p->view();
      }
      parallel_for("correction of halos", {{0, 0, k}, {box_.nx(), box_.ny(), k + 1}}, kernel);
    };
    if (halo.has_lower()) in_plane(-1, beyond.below, -2);
    if (halo.has_upper()) in_plane(box_.nz(), beyond.above, box_.nz() + 1);
  });
}

void CorrectionSweep::complete(VectorField& velocity, Field& p, const PendingCorrection& left, View3<const real> phi,
                               const real* response) const {
  correct(velocity, left.with_pressure ? &p : nullptr, {phi, response, left.numbers}, inside_rim(left));
}

Box3 CorrectionSweep::inside_rim(const PendingCorrection& left) const {
  constexpr int rim_z = PendingCorrection::rim_z;
  return {{0, left.rim_y, rim_z}, {box_.nx(), box_.ny() - left.rim_y, box_.nz() - rim_z}};
}

}  // namespace sluice
