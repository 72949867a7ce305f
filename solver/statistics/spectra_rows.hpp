#pragma once
// What spectra transform along x: fields, and sums and differences of two fields whose spectra give a cospectrum.
#include <cstdint>
#include <memory>

#include "core/decomp/field.hpp"
#include "core/device/parallel_for.hpp"
#include "solver/momentum/operators.hpp"

namespace sluice::spectra {

/// A field, or the sum of two where the scheme forms their flux.
enum class Values { field, sum_at_edges, sum_at_faces };

/// The values of u, or ubar^z + sign wbar^x at the edges above the cells, or w + sign ubar^z at the faces above the
/// cells, where u may be a scalar. Halos must be valid.
struct Transformed {
  const Field* u;
  Values values = Values::field;
  const Field* w = nullptr;
  real sign = 1;
};

// Each kind of values, as functions of a cell.

struct FieldValues {
  using CellType = Cell;
  op::In u;
  SLUICE_INLINE real operator()(const Cell& c) const { return u(c.i, c.j, c.k); }
};

template <Order order>
struct SumAtEdges {
  using CellType = op::CellFor<order>;
  op::In u, w;
  real sign;

  SLUICE_INLINE real operator()(const CellType& c) const {
    const real u_sum = u(c.i, c.j, c.k) + u(c.i, c.j, c.k + 1);
    const real w_sum = op::sum_above<order>(op::along_x(w, c, c.j, c.k), 0);
    return real(0.5) * (u_sum + sign * w_sum);
  }
};

struct SumAtFaces {
  using CellType = Cell;
  op::In u, w;
  real sign;

  SLUICE_INLINE real operator()(const Cell& c) const {
    return w(c.i, c.j, c.k) + sign * (real(0.5) * (u(c.i, c.j, c.k) + u(c.i, c.j, c.k + 1)));
  }
};

/// Calls action(values) with one of them.
template <class Action>
void with_values(const Transformed& transformed, Order order, const Action& action) {
  const op::In u = transformed.u->view();
  if (transformed.values == Values::field) return action(FieldValues{u});
  const op::In w = transformed.w->view();
  if (transformed.values == Values::sum_at_faces) return action(SumAtFaces{u, w, transformed.sign});
  op::with_order(order, [&](auto chosen) { action(SumAtEdges<chosen>{u, w, transformed.sign}); });
}

/// Transforms values along x that it forms while it reads the fields. On a GPU; elsewhere they are stored first.
class ValueTransform {
 public:
  /// For rows of nx values. Null if there is no kernel, or if it needs more shared memory than the GPU has: kernels
  /// exist for the lengths of RowFourier. Local.
  static std::unique_ptr<ValueTransform> make(std::int64_t nx);
  virtual ~ValueTransform() = default;

  /// Writes the coefficients of each row to `to`, a field of PoissonSolver::make_field(), which may be u.
  virtual void run(const Transformed& transformed, Order order, Field& to) = 0;
};

}  // namespace sluice::spectra
