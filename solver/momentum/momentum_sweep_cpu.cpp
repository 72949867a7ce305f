// The momentum sweep of a CPU build. Blocks of rows march in z, with three planes of u, v and w in cache.
#include <algorithm>
#include <vector>

#include "solver/momentum/advective_rate.hpp"
#include "solver/momentum/momentum_sweep.hpp"
#include "solver/momentum/plane_ring.hpp"

namespace sluice {

namespace {

/// What the sweep reads around one row, and where it writes.
template <Order order>
struct RowOfCells {
  RowWindow u, v, w;
  PaddedAround p;
  Metrics m;  ///< with the row's plane as plane 0
  int nx;
};

struct AlongPaddedRow {
  const real* at;
  SLUICE_INLINE real operator()(int n) const { return at[n]; }
};

/// For order 4: the transporting velocities around one row, each of which serves four control volumes in x or in y.
class TransportsOfOrder4 {
 public:
  explicit TransportsOfOrder4(int nx) : nx_(nx) {}

  /// Moves to row j: from row j - 1 unless it is the first one. `around(j)`: RowOfCells of row j.
  template <class Around>
  void move_to(int j, bool first, const Around& around) {
    for (int n = first ? -2 : 1; n <= 1; ++n) fill_sides_above(j + n, around(j + n));
    j_ = j;
    const RowOfCells<Order::fourth> row = around(j);
    real* const of_u = along_x_[0].begin();
    real* const of_v = along_x_[1].begin();
    real* const of_w = along_x_[2].begin();
    for_padded_row<Order::fourth>(
        nx_, [=](const WideCell& c) __attribute__((always_inline)) {
          of_u[c.i] = op::transports_of<Order::fourth, Location::x_face>(row.u, row.v, c, row.m).x(0);
          of_v[c.i] = op::transports_of<Order::fourth, Location::y_face>(row.u, row.v, c, row.m).x(0);
          of_w[c.i] = op::transports_of<Order::fourth, Location::z_face>(row.u, row.v, c, row.m).x(0);
        });
    for (PaddedRow& padded : along_x_) padded.wrap();
  }

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
  Sides of(int n) const {
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

  void fill_sides_above(int j, const RowOfCells<Order::fourth>& row) {
    real* const of_u = along_y_[slot(0, j)].begin();
    real* const of_v = along_y_[slot(1, j)].begin();
    real* const of_w = along_y_[slot(2, j)].begin();
    for_padded_row<Order::fourth>(
        nx_, [=](const WideCell& c) __attribute__((always_inline)) {
          of_u[c.i] = op::transports_of<Order::fourth, Location::x_face>(row.u, row.v, c, row.m).y(0);
          of_v[c.i] = op::transports_of<Order::fourth, Location::y_face>(row.u, row.v, c, row.m).y(0);
          of_w[c.i] = op::transports_of<Order::fourth, Location::z_face>(row.u, row.v, c, row.m).y(0);
        });
  }

  static std::vector<PaddedRow> rows(int count, int nx) {
    std::vector<PaddedRow> list;
    for (int n = 0; n < count; ++n) list.emplace_back(nx);
    return list;
  }

  int nx_;
  int j_ = 0;
  std::vector<PaddedRow> along_x_ = rows(3, nx_);         ///< of u, v, w
  std::vector<PaddedRow> along_y_ = rows(3 * kept, nx_);  ///< likewise, for four rows
};

/// Where the results of one component in a row of cells go. star holds the old tendency on entry.
struct RowOfResults {
  real *tendency, *star;
};

/// The component at `face` in one cell. f: the component around the row.
template <class Kind, Location face, class C, class T>
SLUICE_INLINE void update(const MomentumArrays& a, const RowOfCells<Kind::order>& row, const RowWindow& f,
                          const RowOfResults& to, const C& c, const T& transports) {
  const real old = Kind::first ? real(0) : to.star[c.i];
  const Prediction result = predict<Kind, face>(a, transports, f, row.w, row.p, c, row.m, old);
  to.tendency[c.i] = result.tendency;
  to.star[c.i] = result.star;
}

/// The same bits as UpdateVelocity.
template <class Kind>
class Sweep {
 public:
  static constexpr Order order = Kind::order;
  static constexpr bool first = Kind::first;
  static constexpr bool implicit_z = Kind::implicit_z;
  static constexpr int reach = op::CellFor<order>::reach;
  static constexpr std::size_t cache_bytes = 600'000;  ///< for the planes; most of a second-level cache

  Sweep(const MomentumArrays& arrays, const Box3& box, const RowTasks& tasks, bool find_rate)
      : a_(arrays),
        tasks_(tasks),
        nx_(box.nx()),
        ny_(box.ny()),
        nz_(box.nz()),
        find_rate_(find_rate),
        rows_(std::clamp(PlaneRing<order>::rows_that_fit(nx_, cache_bytes), std::min(8, ny_), ny_)),
        ring_(arrays.velocity, arrays.m, nx_, rows_),
        pressure_(nx_),
        unkept_(nx_),
        transports_(nx_) {}

  /// Returns the largest advective rate, if it is to be found.
  double run() {
    const int blocks = (ny_ + rows_ - 1) / rows_;
    for (int n = 0; n < blocks; ++n) {
      const int y0 = n * ny_ / blocks;
      const int y1 = (n + 1) * ny_ / blocks;
      ring_.begin_block(y0, y1, 0);
      for (int k = 0; k < nz_; ++k) {
        ring_.load(k + 1);
        for (int j = y0; j < y1; ++j) {
          update_row(j, k, j == y0);
          if (find_rate_) largest_ = detail::larger(largest_, largest_in_row(j, k));
        }
        // Not row by row with the momentum: each loop then reads long pieces of few arrays.
        for (const RowTask& task : tasks_) {
          for (int j = y0; j < y1; ++j) task(ring_.around(j, k));
        }
      }
    }
    return largest_;
  }

 private:
  RowOfCells<order> around(int j, int k) const {
    return {ring_.u(j, k), ring_.v(j, k), ring_.w(j, k), padded_around(pressure_, a_.p, j, k), a_.m.seen_from(k), nx_};
  }

  double largest_in_row(int j, int k) const {
    const real* const u = ring_.u(j, k).at;
    const real* const v = ring_.v(j, k).at;
    const real* const w = ring_.w(j, k).at;
    const Metrics m = a_.m.seen_from(k);
    return detail::max_of_row<Cell>(
        nx_, 0, 0, [=](const Cell& c) __attribute__((always_inline)) {
          return advective_rate<order>(u[c.i], v[c.i], w[c.i], 0, m);
        });
  }

  void update_row(int j, int k, bool first_of_block) {
    if constexpr (implicit_z) pressure_.copy(&a_.p(0, j, k));
    const RowOfCells<order> row = around(j, k);
    const MomentumArrays a = a_;
    const auto results = [&](int n) {
      return RowOfResults{a_.keeps_tendency ? &a_.tendency[n](0, j, k) : unkept_.begin(), &a_.star[n](0, j, k)};
    };
    const RowOfResults to_u = results(0);
    const RowOfResults to_v = results(1);
    const RowOfResults to_w = results(2);
    const auto u = [=](const auto& c, const auto& transports) __attribute__((always_inline)) {
      update<Kind, Location::x_face>(a, row, row.u, to_u, c, transports);
    };
    const auto v = [=](const auto& c, const auto& transports) __attribute__((always_inline)) {
      update<Kind, Location::y_face>(a, row, row.v, to_v, c, transports);
    };
    const auto w = [=](const auto& c, const auto& transports) __attribute__((always_inline)) {
      update<Kind, Location::z_face>(a, row, row.w, to_w, c, transports);
    };
    using C = op::CellFor<order>;
    if constexpr (order == Order::fourth) {
      // One loop for each component: all three in one would need more addresses than there are registers.
      transports_.move_to(j, first_of_block, [&](int at) { return around(at, k); });
      const auto along_row = [&](const auto& component, int n) {
        const auto sides = transports_.of(n);
        for_padded_row<order>(
            nx_, [=](const C& c) __attribute__((always_inline)) { component(c, sides.at(c)); });
      };
      along_row(u, 0);
      along_row(v, 1);
      along_row(w, 2);
    } else {
      for_padded_row<order>(
          nx_, [=](const C& c) __attribute__((always_inline)) {
            u(c, op::transports_of<order, Location::x_face>(row.u, row.v, c, row.m));
            v(c, op::transports_of<order, Location::y_face>(row.u, row.v, c, row.m));
            w(c, op::transports_of<order, Location::z_face>(row.u, row.v, c, row.m));
          });
    }
  }

  MomentumArrays a_;
  const RowTasks& tasks_;
  int nx_, ny_, nz_;
  bool find_rate_;
  int rows_;  ///< of a block
  double largest_ = 0;
  PlaneRing<order> ring_;
  PaddedRow pressure_;
  PaddedRow unkept_;  ///< tendencies that are not kept: stays in cache
  TransportsOfOrder4 transports_;
};

}  // namespace

void sweep_momentum(const MomentumArrays& arrays, const Box3& box, const SweepForm& form, const RowTasks& tasks,
                    Deferred<double>* largest_rate) {
  double largest = 0;
  if (!box.empty()) {
    with_constants(
        form, [&](auto kind) { largest = Sweep<decltype(kind)>(arrays, box, tasks, largest_rate != nullptr).run(); });
  }
  if (largest_rate != nullptr) largest_rate->set(largest);
}

bool can_correct(const MomentumArrays& /*arrays*/, const View3<const real>& /*phi*/, const Box3& box,
                 const SweepForm& /*form*/) {
  return !box.empty();
}

}  // namespace sluice
