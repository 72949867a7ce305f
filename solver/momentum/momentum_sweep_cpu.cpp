// The momentum sweep of a CPU build.
#include <algorithm>
#include <array>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/device/parallel_for.hpp"
#include "solver/momentum/momentum_sweep.hpp"

namespace sluice {

namespace {

/// A row of values with the periodic neighbours at both of its ends, so that no index along x needs to be wrapped.
class PaddedRow {
 public:
  explicit PaddedRow(int nx) : nx_(nx), values_(static_cast<std::size_t>(nx + 2 * padding)) {}

  real* begin() { return values_.data() + padding; }
  const real* begin() const { return values_.data() + padding; }
  void copy(const View3<const real>& f, int j, int k) {
    std::copy_n(&f(0, j, k), nx_, begin());
    wrap();
  }
  /// Fills the ends from the values in between.
  void wrap() {
    for (int n = 1; n <= WideCell::reach; ++n) {
      begin()[-n] = begin()[nx_ - 1 - (n - 1) % nx_];
      begin()[nx_ - 1 + n] = begin()[(n - 1) % nx_];
    }
  }

 private:
  static constexpr int padding = 64 / sizeof(real);  // keeps rows aligned to 64 bytes

  int nx_;
  Buffer<real> values_;  // aligned
};

std::vector<PaddedRow> padded_rows(int count, int nx) {
  std::vector<PaddedRow> rows;
  for (int n = 0; n < count; ++n) rows.emplace_back(nx);
  return rows;
}

/// A field around a row: along x its values come from padded rows of the planes k and k - 1, elsewhere from the array.
struct FieldAroundRow {
  View3<const real> f;
  const real* row;
  const real* row_below = nullptr;
  int k = 0;
  SLUICE_INLINE real operator()(int i, int j, int plane) const { return f(i, j, plane); }
};

struct AlongPaddedRow {
  const real* at;
  SLUICE_INLINE real operator()(int n) const { return at[n]; }
};

SLUICE_INLINE AlongPaddedRow along_x(const FieldAroundRow& field, const WideCell& c) {
  return {field.row + c.i};
}
SLUICE_INLINE AlongPaddedRow along_x(const FieldAroundRow& field, const WideCell& c, int /*j*/, int k) {
  return {(k == field.k ? field.row : field.row_below) + c.i};
}

/// Calls body(cell) for a whole row, for loops that read neighbours along x from padded rows only.
template <class Body>
inline __attribute__((always_inline)) void for_padded_row(int nx, int j, int k, const Body& body) {
#pragma GCC ivdep
  for (int i = 0; i < nx; ++i) body(inner_cell<WideCell>(i, j, k));
}

/// What the sweep of order 4 keeps around one row of cells: the row of each field, padded, and the transporting
/// velocities, each of which serves four control volumes in x or in y.
class RowsOfOrder4 {
 public:
  RowsOfOrder4(const MomentumArrays& arrays, int nx) : a_(arrays), nx_(nx) {}

  /// Moves to row j of plane k: from row j - 1 unless j is the first row.
  void move_to(int j, int k) {
    k_ = k;
    for (int n = j == 0 ? -2 : 1; n <= 1; ++n) fill_sides_above(j + n);
    j_ = j;
    u_.copy(a_.u, j, k);
    v_.copy(a_.v, j, k);
    w_.copy(a_.w, j, k);
    w_below_.copy(a_.w, j, k - 1);
    const FieldAroundRow u_field = u();
    real* const of_u = along_x_[0].begin();
    real* const of_v = along_x_[1].begin();
    real* const of_w = along_x_[2].begin();
    const MomentumArrays& a = a_;
    for_padded_row(
        nx_, j, k, [ =, &a ](const WideCell& c) __attribute__((always_inline)) {
          of_u[c.i] = op::transports_of_u<Order::fourth>(u_field, u_field, c, a.m).x(0);
          of_v[c.i] = op::transports_of_v<Order::fourth>(a.u, a.v, c, a.m).x(0);
          of_w[c.i] = op::transports_of_w(a.u, a.v, c, a.m).x(0);
        });
    for (PaddedRow& row : along_x_) row.wrap();
  }
  /// Also keeps the row of p.
  void take_pressure() { p_.copy(a_.p, j_, k_); }

  FieldAroundRow u() const { return {a_.u, u_.begin(), nullptr, k_}; }
  FieldAroundRow v() const { return {a_.v, v_.begin(), nullptr, k_}; }
  FieldAroundRow w() const { return {a_.w, w_.begin(), w_below_.begin(), k_}; }
  FieldAroundRow p() const { return {a_.p, p_.begin(), nullptr, k_}; }

  struct AlongY {
    const real *two_below, *below, *here, *above;
    int i;
    SLUICE_INLINE real operator()(int n) const {
      return (n == 0 ? here : n == 1 ? above : n == -1 ? below : two_below)[i];
    }
  };
  struct Sides {
    const real *x, *two_below, *below, *here, *above;
    SLUICE_INLINE auto at(const WideCell& c) const {
      return op::Transports{AlongPaddedRow{x + c.i}, AlongY{two_below, below, here, above, c.i}};
    }
  };
  /// The transports of component 0, 1 or 2 around the row.
  Sides sides(int n) const {
    return {along_x_[static_cast<std::size_t>(n)].begin(), sides_above(n, j_ - 2), sides_above(n, j_ - 1),
            sides_above(n, j_), sides_above(n, j_ + 1)};
  }

 private:
  static constexpr int kept = 4;

  static std::size_t slot(int n, int j) {
    const int in_ring = (j + kept) % kept;
    return static_cast<std::size_t>(n) * kept + static_cast<std::size_t>(in_ring);
  }
  const real* sides_above(int n, int j) const { return along_y_[slot(n, j)].begin(); }

  void fill_sides_above(int j) {
    above_.copy(a_.v, j, k_);
    const FieldAroundRow v_field{a_.v, above_.begin(), nullptr, k_};
    real* const of_u = along_y_[slot(0, j)].begin();
    real* const of_v = along_y_[slot(1, j)].begin();
    real* const of_w = along_y_[slot(2, j)].begin();
    const MomentumArrays& a = a_;
    for_padded_row(
        nx_, j, k_, [ =, &a ](const WideCell& c) __attribute__((always_inline)) {
          of_u[c.i] = op::transports_of_u<Order::fourth>(v_field, v_field, c, a.m).y(0);
          of_v[c.i] = op::transports_of_v<Order::fourth>(a.u, a.v, c, a.m).y(0);
          of_w[c.i] = op::transports_of_w(a.u, a.v, c, a.m).y(0);
        });
  }

  MomentumArrays a_;
  int nx_;
  int j_ = 0, k_ = 0;
  PaddedRow u_{nx_}, v_{nx_}, w_{nx_}, w_below_{nx_}, p_{nx_};
  PaddedRow above_{nx_};                                         ///< v of the row whose sides are filled
  std::vector<PaddedRow> along_x_ = padded_rows(3, nx_);         ///< of u, v, w
  std::vector<PaddedRow> along_y_ = padded_rows(3 * kept, nx_);  ///< likewise, for four rows
};

/// The same bits as UpdateVelocity. One loop for each component: all three in one would need more addresses than there
/// are registers.
template <class Kind>
void sweep_rows_of_order_4(const MomentumArrays& arrays, const Box3& box) {
  constexpr bool first = Kind::first;
  constexpr bool implicit_z = Kind::implicit_z;
  constexpr Order order = Order::fourth;
  RowsOfOrder4 rows(arrays, box.nx());
  for (int k = 0; k < box.nz(); ++k) {
    for (int j = 0; j < box.ny(); ++j) {
      rows.move_to(j, k);
      if (implicit_z) rows.take_pressure();
      const MomentumArrays a = arrays;
      const FieldAroundRow u = rows.u();
      const FieldAroundRow v = rows.v();
      const FieldAroundRow w = rows.w();
      const FieldAroundRow p = rows.p();
      const RowsOfOrder4::Sides of_u = rows.sides(0);
      const RowsOfOrder4::Sides of_v = rows.sides(1);
      const RowsOfOrder4::Sides of_w = rows.sides(2);
      for_padded_row(
          box.nx(), j, k, [=](const WideCell& c) __attribute__((always_inline)) {
            update_u<order, first, implicit_z>(a, of_u.at(c), u, w, p, c);
          });
      for_padded_row(
          box.nx(), j, k, [=](const WideCell& c) __attribute__((always_inline)) {
            update_v<order, first, implicit_z>(a, of_v.at(c), v, w, p, c);
          });
      for_padded_row(
          box.nx(), j, k, [=](const WideCell& c) __attribute__((always_inline)) {
            update_w<order, first, implicit_z>(a, of_w.at(c), w, p, c);
          });
    }
  }
}

}  // namespace

void sweep_momentum(const MomentumArrays& arrays, const Box3& box, Order order, bool first, bool implicit_z) {
  if (box.empty()) return;
  with_constants(order, first, implicit_z, [&](auto kind) {
    if constexpr (kind.order == Order::fourth) {
      sweep_rows_of_order_4<decltype(kind)>(arrays, box);
    } else {
      parallel_for("momentum", box, UpdateVelocity<kind.order, kind.first, kind.implicit_z>{arrays});
    }
  });
}

}  // namespace sluice
