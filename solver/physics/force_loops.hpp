#pragma once
// The loops of body forces, for the sources of terms: from kernels of one cell to a BodyForce.
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/stencil/loops.hpp"
#include "solver/momentum/operators.hpp"
#include "solver/momentum/plane_ring.hpp"
#include "solver/physics/body_force.hpp"

namespace sluice {

/// Where the force on one component goes.
struct Forced {
  static constexpr int words = 4;  ///< reads and writes R and u*
  View3<real> tendency, star;
  real alpha_dt;

  template <class C>
  SLUICE_INLINE void add(const C& c, real force) const {
    tendency(c.i, c.j, c.k) += force;
    star(c.i, c.j, c.k) += alpha_dt * force;
  }
};

/// What a force reads and where it goes: whole arrays, or what is seen from one row.
template <class V>
struct ForceArrays {
  V u, v, w;
  View3<const real> c;  ///< the scalar that the force depends on, if it does
  Forced force_u, force_v, force_w;
  Metrics m;
};

inline constexpr int no_scalar = -1;

/// A force that kernels of one cell add. `Kernels::for_each<order>(arrays, action)` calls action(name, kernel) for each
/// kernel, whose words() are those that it reads and writes; `Kernels::reads_velocity` says whether they read u, v and
/// w. scalar: number of the scalar that they read.
template <class Kernels>
class LoopedForce final : public BodyForce {
 public:
  LoopedForce(Kernels kernels, const Metrics& metrics, Order order, int scalar = no_scalar)
      : kernels_(std::move(kernels)), metrics_(metrics), order_(order), scalar_(scalar) {}

  void add(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars, double alpha_dt,
           VectorField& tendency, VectorField& star) const override {
    auto arrays = whole_arrays(scalars, alpha_dt, tendency, star);
    if constexpr (Kernels::reads_velocity) {
      const CorrectedVelocity corrected = velocity.corrected();
      std::tie(arrays.u, arrays.v, arrays.w) = std::tie(corrected.u, corrected.v, corrected.w);
    }
    const Box3 box = star.u.local_box();
    for_each(arrays, [&](const char* name, const auto& kernel) { parallel_for(name, box, kernel); });
  }

  bool reads_velocity() const override { return Kernels::reads_velocity; }

  int words() const override {
    int sum = 0;
    for_each(ForceArrays<View3<const real>>{},
             [&](const char*, const auto& kernel) { sum += std::decay_t<decltype(kernel)>::words(); });
    return sum;
  }

  RowTask row_task(const std::vector<TransportedField>& scalars, double alpha_dt, VectorField& tendency,
                   VectorField& star) const override {
    const auto arrays = whole_arrays(scalars, alpha_dt, tendency, star);
    const int nx = star.u.box().nx();
    return [this, arrays, nx](const VelocityRow& row) {
      for_each(seen_from(arrays, row), [&](const char*, const auto& kernel) {
        detail::for_row<CellOf<std::decay_t<decltype(kernel)>>>(nx, 0, 0, kernel);
      });
    };
  }

 private:
  template <class Arrays, class Action>
  void for_each(const Arrays& arrays, const Action& action) const {
    op::with_order(order_, [&](auto order) { kernels_.template for_each<order>(arrays, action); });
  }

  /// All but the velocity.
  ForceArrays<View3<const real>> whole_arrays(const std::vector<TransportedField>& scalars, double alpha_dt,
                                              VectorField& tendency, VectorField& star) const {
    const auto forced = [&](Field VectorField::*component) {
      return Forced{(tendency.*component).view(), (star.*component).view(), static_cast<real>(alpha_dt)};
    };
    View3<const real> scalar{};
    if (scalar_ != no_scalar) scalar = scalars.at(static_cast<std::size_t>(scalar_)).field.view();
    return {.u = {},
            .v = {},
            .w = {},
            .c = scalar,
            .force_u = forced(&VectorField::u),
            .force_v = forced(&VectorField::v),
            .force_w = forced(&VectorField::w),
            .m = metrics_};
  }

  static ForceArrays<RowWindow> seen_from(const ForceArrays<View3<const real>>& a, const VelocityRow& row) {
    const auto moved = [&](const Forced& f) {
      return Forced{f.tendency.seen_from(row.j, row.k), f.star.seen_from(row.j, row.k), f.alpha_dt};
    };
    return {row.u,
            row.v,
            row.w,
            a.c.origin != nullptr ? a.c.seen_from(row.j, row.k) : a.c,
            moved(a.force_u),
            moved(a.force_v),
            moved(a.force_w),
            a.m.seen_from(row.k)};
  }

  Kernels kernels_;
  Metrics metrics_;
  Order order_;
  int scalar_;
};

}  // namespace sluice
