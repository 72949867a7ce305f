// The strategies of CPU builds. They solve bundles of z lines: each step for many neighbouring real numbers at a time,
// while they are in cache.
#include <type_traits>

#include "core/device/buffer.hpp"
#include "core/support/error.hpp"
#include "poisson/tridiagonal/bundle_chain.hpp"
#include "poisson/tridiagonal/line_strategies.hpp"
#include "poisson/tridiagonal/reduced_system.hpp"

namespace sluice {

namespace {

/// Real numbers of a bundle: enough for long vectors, but few enough for the cache.
constexpr int bundle_lanes = 64;

/// Scratch memory for one bundle at a time.
struct Scratch {
  Buffer<double> pivots, values;
  Buffer<real> boundary;

  explicit Scratch(std::int64_t planes)
      : pivots(static_cast<std::size_t>(planes * bundle_lanes)), values(pivots.size()), boundary(pivots.size()) {}
  static double memory(std::int64_t planes) {
    return static_cast<double>(planes * bundle_lanes) * (2 * sizeof(double) + sizeof(real));
  }
};

/// Solves the reduced systems of a bundle of `n` real numbers whose first line is (i, j), in place, as solve_between()
/// would: rows 2 m and 2 m + 1 of `values` belong to the first and the last row of block m. Both rows of a block are in
/// one loop, which loads the coefficients of each line once. `g` stores intermediate values.
template <class Lines, class Count>
SLUICE_INLINE void solve_reduced_rows(const Lines& lines, int i, int j, Count n, LaneRows<real> values,
                                      LaneRows<double> g) {
  constexpr int components = Lines::components;
  double value[bundle_lanes];
  for (int r = 0; r < n; ++r) value[r] = 0;
  for (int block = 0; block < lines.blocks.count; ++block) {
    const double lower = lines.lower[lines.blocks.bounds[block]];
    const real* first = values.row(2 * block);
    const real* last = values.row(2 * block + 1);
    double* kept_first = g.row(2 * block);
    double* kept_last = g.row(2 * block + 1);
    for (int c = 0; c < n / components; ++c) {
      const BoundaryRows rows = boundary_rows(lines, block, i + c, j);
      for (int r = components * c; r < components * (c + 1); ++r) {
        kept_first[r] = (first[r] - lower * value[r]) * rows.of_first;
        value[r] = (last[r] - rows.back * kept_first[r]) * rows.of_last;
        kept_last[r] = value[r];
      }
    }
  }
  for (int r = 0; r < n; ++r) value[r] = 0;
  for (int block = lines.blocks.count - 1; block >= 0; --block) {
    const double upper = lines.upper[lines.blocks.bounds[block + 1] - 1];
    real* first = values.row(2 * block);
    real* last = values.row(2 * block + 1);
    const double* kept_first = g.row(2 * block);
    const double* kept_last = g.row(2 * block + 1);
    for (int c = 0; c < n / components; ++c) {
      const BoundaryRows rows = boundary_rows(lines, block, i + c, j);
      for (int r = components * c; r < components * (c + 1); ++r) {
        const double highest = kept_last[r] - upper * rows.of_last * value[r];
        last[r] = static_cast<real>(highest);
        value[r] = kept_first[r] - rows.across * rows.of_first * highest;
        first[r] = static_cast<real>(value[r]);
      }
    }
  }
}

/// `n` real numbers of row j, from `lane` on; n is a compile-time constant for full bundles.
template <class Lines, class Count>
class Bundle {
 public:
  /// `to_next`: from a row of this bundle to that of the one that follows.
  SLUICE_INLINE Bundle(const Lines& lines, int lane, int j, Count n, std::ptrdiff_t to_next, Scratch& scratch)
      : lines_(lines),
        lane_(lane),
        j_(j),
        n_(n),
        to_next_(to_next),
        kept_{scratch.pivots.data(), bundle_lanes},
        g_{scratch.values.data(), bundle_lanes},
        boundary_{scratch.boundary.data(), bundle_lanes} {}

  /// The bundle's part of an array, from plane k on.
  SLUICE_INLINE LaneRows<real> rows(const LineArray& array, int k) const { return array.from(lane_, j_, k); }
  /// Scratch memory for boundary values, from those of `block` on.
  SLUICE_INLINE LaneRows<real> scratch_boundary(int block) const { return boundary_.from(2 * block); }

  /// The right-hand sides of a block's two boundary equations. `d` begins with the block's first row. With
  /// `Kept`, pivots are stored for solve_block().
  template <bool Kept>
  SLUICE_INLINE void form_boundary(int block, LaneRows<real> d, LaneRows<real> rhs) {
    const int first = lines_.blocks.bounds[block];
    const int last = lines_.blocks.bounds[block + 1] - 1;
    Pivots<Lines, bundle_lanes> pivots = make_pivots();
    BundleChain<Kept, Lines, bundle_lanes, Count, double> inside = chain<Kept>(pivots, first + 1, last, d);
    const Eliminated<bundle_lanes> sums = eliminate<bundle_lanes>(inside, n_);
    const real* d_first = d.row(0);
    const real* d_last = d.row(last - first);
    prefetch_lanes<bundle_lanes>(d_first + to_next_);
    prefetch_lanes<bundle_lanes>(d_last + to_next_);
    real* first_rhs = rhs.row(0);
    real* last_rhs = rhs.row(1);
    const double upper = lines_.upper[first];
    const double lower = lines_.lower[last];
    for (int r = 0; r < n_; ++r) {
      first_rhs[r] = static_cast<real>(sums.below(r, upper, d_first[r]));
      last_rhs[r] = static_cast<real>(sums.above(r, lower, d_last[r]));
    }
    if constexpr (Lines::components == 2) {
      if (is_singular_line(lines_, lane_, j_))
        first_rhs[1] = static_cast<real>(moment_of_block(lines_, first, last + 1, d));
    }
  }

  /// Solves the system of all boundary values, in place.
  SLUICE_INLINE void solve_reduced(LaneRows<real> values) {
    const bool singular = is_singular_line(lines_, lane_, j_);
    const double mean = singular ? take_mean(lines_.blocks.count, values) : 0;
    solve_reduced_rows(lines_, lane_ / Lines::components, j_, n_, values, g_);
    if (singular) subtract_mean(mean, lines_.blocks.count, values);
  }

  /// Solves all rows of a block from the solution in its first and last row, `ends`. `x` begins with its first row.
  template <bool Kept>
  SLUICE_INLINE void solve_block(int block, LaneRows<real> x, LaneRows<real> ends) {
    const int first = lines_.blocks.bounds[block];
    const int last = lines_.blocks.bounds[block + 1] - 1;
    const real* x_first = ends.row(0);
    const real* x_last = ends.row(1);
    real* to_first = x.row(0);
    real* to_last = x.row(last - first);
    if constexpr (!Kept) {
      prefetch_lanes<bundle_lanes>(to_first + to_next_);
      prefetch_lanes<bundle_lanes>(to_last + to_next_);
    }
    for (int r = 0; r < n_; ++r) {
      to_first[r] = x_first[r];
      to_last[r] = x_last[r];
    }
    Pivots<Lines, bundle_lanes> pivots = make_pivots();
    BundleChain<Kept, Lines, bundle_lanes, Count, double> inside = chain<Kept>(pivots, first + 1, last, x);
    solve_between<double, bundle_lanes>(inside, n_, x_first, x_last);
  }

  /// Solves whole lines by the Thomas algorithm.
  SLUICE_INLINE void solve_whole(LaneRows<real> x) {
    Pivots<Lines, bundle_lanes> pivots = make_pivots();
    sluice::solve_whole(lines_, pivots, lane_, j_, n_, x, kept_, g_);
  }

 private:
  /// Local to each function, so that the compiler sees which coefficients it does not need.
  SLUICE_INLINE Pivots<Lines, bundle_lanes> make_pivots() const { return {lines_, lane_ / Lines::components, j_, n_}; }

  /// The rows [first, end) inside a block; `x` begins with the row below them.
  template <bool Kept>
  SLUICE_INLINE BundleChain<Kept, Lines, bundle_lanes, Count, double> chain(Pivots<Lines, bundle_lanes>& pivots,
                                                                            int first, int end,
                                                                            LaneRows<real> x) const {
    return {pivots, n_, first, end, x.from(1), kept_.from(first), g_, to_next_};
  }

  const Lines& lines_;
  int lane_, j_;
  Count n_;
  std::ptrdiff_t to_next_;
  LaneRows<double> kept_, g_;
  LaneRows<real> boundary_;
};

/// Calls action(bundle, block) for all bundles of `array` and each of `blocks` blocks.
template <class Lines, class Action>
void for_bundles(const Lines& lines, const LineArray& array, int blocks, Scratch& scratch, const Action& action) {
  using Full = std::integral_constant<int, bundle_lanes>;
  for (int block = 0; block < blocks; ++block) {
    for (int j = 0; j < array.rows; ++j) {
      for (int lane = 0; lane < array.count; lane += bundle_lanes) {
        const int left = array.count - lane;
        const std::ptrdiff_t to_next = left > bundle_lanes  ? bundle_lanes
                                       : j + 1 < array.rows ? array.stride_y - lane
                                                            : 0;
        if (left >= bundle_lanes) {
          action(Bundle<Lines, Full>(lines, lane, j, {}, to_next, scratch), block);
        } else {
          action(Bundle<Lines, int>(lines, lane, j, left, to_next, scratch), block);
        }
      }
    }
  }
}

/// The full-transpose method.
template <class Lines>
class Transposed final : public LineSolver<Lines> {
 public:
  Transposed(const Communicator& comm, const LineBoxes& boxes, const LinePlan& plan, Exchange& exchange)
      : column_(comm, boxes, plan, Lines::components, exchange), scratch_(plan.solved.planes()) {}

  void solve(const std::vector<LineSystems<Lines>>& all) override {
    for (const LineSystems<Lines>& systems : all) solve(systems.whole, systems.x);
  }

 private:
  void solve(const Lines& whole, const LineArray& x) {
    const LineArray lines = column_.forward(x);
    for_bundles(whole, lines, 1, scratch_, [&](auto bundle, int) { bundle.solve_whole(bundle.rows(lines, 0)); });
    column_.backward(x);
  }

  ColumnTranspose column_;
  Scratch scratch_;
};

/// Both passes over a bundle of lines while it is in cache.
template <class Lines>
class WholeLines final : public LineSolver<Lines> {
 public:
  explicit WholeLines(const LinePlan& plan) : scratch_(plan.solved.planes()) {}

  void solve(const std::vector<LineSystems<Lines>>& all) override {
    for (const LineSystems<Lines>& systems : all) solve(systems.whole, systems.x);
  }

 private:
  void solve(const Lines& whole, const LineArray& x) {
    const BlockBounds blocks = whole.blocks;
    for_bundles(whole, x, 1, scratch_, [&](auto bundle, int) {
      for (int block = 0; block < blocks.count; ++block)
        bundle.template form_boundary<true>(block, bundle.rows(x, blocks.bounds[block]),
                                            bundle.scratch_boundary(block));
      bundle.solve_reduced(bundle.scratch_boundary(0));
      for (int block = 0; block < blocks.count; ++block)
        bundle.template solve_block<true>(block, bundle.rows(x, blocks.bounds[block]), bundle.scratch_boundary(block));
    });
  }

  Scratch scratch_;
};

/// One pass forms the boundary equations of blocks, a second solves their insides; in between, boundary values are
/// exchanged.
template <class Lines>
class TwoPasses final : public LineSolver<Lines> {
 public:
  TwoPasses(const Communicator& comm, const LineBoxes& boxes, const LinePlan& plan, Exchange& exchange)
      : boundary_(boxes.my_home(), Lines::components, plan.blocks_here()),
        column_(comm, boxes, plan, Lines::components, exchange),
        scratch_(plan.solved.planes()) {}

  void solve(const std::vector<LineSystems<Lines>>& all) override {
    for (const LineSystems<Lines>& systems : all) solve(systems.at_home, systems.whole, systems.x);
  }

 private:
  void solve(const Lines& at_home, const Lines& whole, const LineArray& x) {
    const LineArray& boundary = boundary_.array();
    const BlockBounds blocks = at_home.blocks;
    for_bundles(at_home, x, blocks.count, scratch_, [&](auto bundle, int block) {
      bundle.template form_boundary<false>(block, bundle.rows(x, blocks.bounds[block] - blocks.bounds[0]),
                                           bundle.rows(boundary, 2 * block));
    });
    const LineArray values = column_.forward(boundary);
    for_bundles(whole, values, 1, scratch_, [&](auto bundle, int) { bundle.solve_reduced(bundle.rows(values, 0)); });
    column_.backward(boundary);
    for_bundles(at_home, x, blocks.count, scratch_, [&](auto bundle, int block) {
      bundle.template solve_block<false>(block, bundle.rows(x, blocks.bounds[block] - blocks.bounds[0]),
                                         bundle.rows(boundary, 2 * block));
    });
  }

  BoundaryValues boundary_;
  ColumnTranspose column_;
  Scratch scratch_;
};

}  // namespace

double strategy_memory(const LineBoxes& boxes, const LinePlan& plan, int components) {
  const bool two_passes = plan.strategy == LineStrategy::two_passes;
  return Scratch::memory(plan.solved.planes()) +
         (two_passes ? BoundaryValues::memory(boxes.my_home(), components, plan.blocks_here()) : 0);
}

template <class Lines>
std::unique_ptr<LineSolver<Lines>> make_line_solver(const Communicator& comm, const LineBoxes& boxes,
                                                    const LinePlan& plan, Exchange& exchange) {
  switch (plan.strategy) {
    case LineStrategy::transposed:
      return std::make_unique<Transposed<Lines>>(comm, boxes, plan, exchange);
    case LineStrategy::whole_lines:
      return std::make_unique<WholeLines<Lines>>(plan);
    case LineStrategy::two_passes:
      return std::make_unique<TwoPasses<Lines>>(comm, boxes, plan, exchange);
    default:
      throw Error(ExitCode::internal, "a strategy for z lines that CPU builds do not have");
  }
}

template std::unique_ptr<LineSolver<ShiftedLines>> make_line_solver(const Communicator&, const LineBoxes&,
                                                                    const LinePlan&, Exchange&);
template std::unique_ptr<LineSolver<TableLines>> make_line_solver(const Communicator&, const LineBoxes&,
                                                                  const LinePlan&, Exchange&);

}  // namespace sluice
