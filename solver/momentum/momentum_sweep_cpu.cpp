// The momentum sweep of a CPU build.
#include <array>
#include <vector>

#include "core/device/parallel_for.hpp"
#include "solver/momentum/momentum_sweep.hpp"

namespace sluice {

namespace {

/// The transporting velocities of order 4 along one row of cells. Each serves four control volumes in x or in y, so
/// they are computed once and kept, row by row. Same bits as UpdateVelocity.
class TransportRows {
 public:
  TransportRows(const MomentumArrays& arrays, int nx) : a_(&arrays), nx_(nx) {
    for (std::vector<real>& row : along_x_) row.resize(static_cast<std::size_t>(nx));
    for (std::vector<real>& row : along_y_) row.resize(static_cast<std::size_t>(nx));
  }

  /// Moves to row j of plane k; the next row but in the first call for a plane.
  void move_to(int j, int k, bool first) {
    if (first) {
      for (int n = -2; n < 1; ++n) fill_row_above(j + n, k);
    }
    fill_row_above(j + 1, k);
    newest_ = j + 1;
    real* const of_u = along_x_[0].data();
    real* const of_v = along_x_[1].data();
    real* const of_w = along_x_[2].data();
    detail::for_row<WideCell>(
        nx_, j, k, [ =, this ](WideCell c) __attribute__((always_inline)) {
          of_u[c.i] = op::transports_of_u<Order::fourth>(a_->u, a_->v, c).x(0);
          of_v[c.i] = op::transports_of_v<Order::fourth>(a_->u, a_->v, c).x(0);
          of_w[c.i] = op::transports_of_w(a_->u, a_->v, c, a_->m).x(0);
        });
  }

  struct AlongX {
    const real* row;
    const WideCell& c;
    SLUICE_INLINE real operator()(int n) const { return row[c.x(n)]; }
  };
  struct AlongY {
    const real *two_below, *below, *here, *above;
    int i;
    SLUICE_INLINE real operator()(int n) const {
      return (n == 0 ? here : n == 1 ? above : n == -1 ? below : two_below)[i];
    }
  };
  /// The transports of one component around a row.
  struct Rows {
    const real *x, *two_below, *below, *here, *above;
    SLUICE_INLINE auto at(const WideCell& c) const {
      return op::Transports{AlongX{x, c}, AlongY{two_below, below, here, above, c.i}};
    }
  };
  /// Of component 0, 1 or 2.
  Rows of(int n) const {
    return {along_x_[static_cast<std::size_t>(n)].data(), row_along_y(n, newest_ - 3), row_along_y(n, newest_ - 2),
            row_along_y(n, newest_ - 1), row_along_y(n, newest_)};
  }

 private:
  static constexpr int kept = 4;

  const real* row_along_y(int n, int j) const {
    return along_y_[static_cast<std::size_t>(n * kept + (j + kept) % kept)].data();
  }
  real* row_along_y(int n, int j) { return along_y_[static_cast<std::size_t>(n * kept + (j + kept) % kept)].data(); }

  void fill_row_above(int j, int k) {
    real* const of_u = row_along_y(0, j);
    real* const of_v = row_along_y(1, j);
    real* const of_w = row_along_y(2, j);
    detail::for_row<WideCell>(
        nx_, j, k, [ =, this ](WideCell c) __attribute__((always_inline)) {
          of_u[c.i] = op::transports_of_u<Order::fourth>(a_->u, a_->v, c).y(0);
          of_v[c.i] = op::transports_of_v<Order::fourth>(a_->u, a_->v, c).y(0);
          of_w[c.i] = op::transports_of_w(a_->u, a_->v, c, a_->m).y(0);
        });
  }

  const MomentumArrays* a_;
  int nx_;
  int newest_ = 0;
  std::array<std::vector<real>, 3> along_x_;         ///< of u, v, w
  std::array<std::vector<real>, 3 * kept> along_y_;  ///< of u, v, w; row j is in slot j modulo `kept`
};

/// One loop for each component: all three in one would need more addresses than there are registers.
template <class Kind>
void sweep_in_rows(const MomentumArrays& arrays, const Box3& box) {
  constexpr Order order = Kind::order;
  constexpr bool first = Kind::first;
  constexpr bool implicit_z = Kind::implicit_z;
  TransportRows rows(arrays, box.nx());
  for (int k = 0; k < box.nz(); ++k) {
    for (int j = 0; j < box.ny(); ++j) {
      rows.move_to(j, k, j == 0);
      const MomentumArrays a = arrays;
      const TransportRows::Rows of_u = rows.of(0);
      const TransportRows::Rows of_v = rows.of(1);
      const TransportRows::Rows of_w = rows.of(2);
      detail::for_row<WideCell>(
          box.nx(), j,
          k, [=](WideCell c) __attribute__((always_inline)) { update_u<order, first, implicit_z>(a, of_u.at(c), c); });
      detail::for_row<WideCell>(
          box.nx(), j,
          k, [=](WideCell c) __attribute__((always_inline)) { update_v<order, first, implicit_z>(a, of_v.at(c), c); });
      detail::for_row<WideCell>(
          box.nx(), j,
          k, [=](WideCell c) __attribute__((always_inline)) { update_w<order, first, implicit_z>(a, of_w.at(c), c); });
    }
  }
}

}  // namespace

void sweep_momentum(const MomentumArrays& arrays, const Box3& box, Order order, bool first, bool implicit_z) {
  if (box.empty()) return;
  with_constants(order, first, implicit_z, [&](auto kind) {
    if constexpr (kind.order == Order::fourth) {
      sweep_in_rows<decltype(kind)>(arrays, box);
    } else {
      parallel_for("momentum", box, UpdateVelocity<kind.order, kind.first, kind.implicit_z>{arrays});
    }
  });
}

}  // namespace sluice
