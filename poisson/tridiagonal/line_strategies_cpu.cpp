// The strategies of CPU builds.
#include "core/support/error.hpp"
#include "poisson/tridiagonal/bundles.hpp"
#include "poisson/tridiagonal/line_strategies.hpp"

namespace sluice {

namespace {

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
