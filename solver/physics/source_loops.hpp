#pragma once
// The loop of a source, for the sources of scalars: from a function of one value to a SourceLoop.
#include <memory>

#include "core/device/parallel_for.hpp"
#include "solver/momentum/plane_ring.hpp"
#include "solver/physics/source.hpp"

namespace sluice {

/// R += s(c), c* += alpha dt s(c).
template <class Function>
struct AddFunctionOfScalar {
  SourceArrays a;
  Function s;
  SLUICE_INLINE void operator()(Cell at) const {
    const real added = s(a.c(at.i, at.j, at.k));
    a.tendency(at.i, at.j, at.k) += added;
    a.star(at.i, at.j, at.k) += a.alpha_dt * added;
  }
};

/// A source s(c) that depends on the value of the scalar in the cell: `SLUICE_INLINE real operator()(real c) const` of
/// the function.
template <class Function>
class FunctionOfScalar final : public SourceLoop {
 public:
  explicit FunctionOfScalar(const Function& s) : s_(s) {}

  void add(const Box3& box, const SourceArrays& arrays) const override {
    parallel_for("source", box, AddFunctionOfScalar<Function>{arrays, s_});
  }
  RowTask row_task(int nx, const SourceArrays& arrays) const override {
    return [this, arrays, nx](const VelocityRow& row) {
      detail::for_row<Cell>(nx, 0, 0, AddFunctionOfScalar<Function>{arrays.seen_from(row.j, row.k), s_});
    };
  }

 private:
  Function s_;
};

}  // namespace sluice
