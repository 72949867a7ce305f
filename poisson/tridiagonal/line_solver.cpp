#include "poisson/tridiagonal/line_solver.hpp"

#include <algorithm>
#include <utility>

#include "core/support/error.hpp"
#include "poisson/tridiagonal/line_strategies.hpp"

namespace sluice {

namespace {

const char* const name = "tridiagonal";

/// Owns the scratch memory of the plain loops: on a CPU for one bundle, on a GPU for the pivots of all threads.
template <class Lines>
class ScratchMemory {
 public:
  /// `pivots`: rows eliminated at a time; `rows`, `boundary`: numbers per lane; `threads`: of a GPU.
  ScratchMemory(std::int64_t pivots, std::int64_t rows, std::int64_t boundary, std::int64_t threads)
      : pitch_(loops_on_gpu ? threads : bundle_lanes<Lines>) {
    if (!loops_on_gpu || Lines::components == 2) pivots_ = Buffer<double>(static_cast<std::size_t>(pivots * pitch_));
    if (loops_on_gpu) return;
    rows_ = Buffer<double>(static_cast<std::size_t>(rows * pitch_));
    boundary_ = Buffer<real>(static_cast<std::size_t>(boundary * pitch_));
  }
  Scratch get() { return {pivots_.data(), rows_.data(), boundary_.data(), pitch_}; }

 private:
  std::ptrdiff_t pitch_;
  Buffer<double> pivots_, rows_;
  Buffer<real> boundary_;
};

/// The full-transpose method.
template <class Lines>
class Transposed final : public LineSolver<Lines> {
 public:
  Transposed(const Communicator& comm, const Decomposition& decomposition, const LineBoxes& boxes, const LinePlan& plan,
             Exchange& exchange)
      : planes_(boxes.my_home().nz()),
        column_(comm, decomposition, boxes, plan, Lines::components, exchange),
        scratch_(plan.solved.planes(), plan.solved.planes(), 0,
                 boxes.my_whole().extent(0) * boxes.my_whole().extent(1)) {}

  void solve(const Lines& /*at_home*/, const Lines& whole, const LineArray& x) override {
    const LineArray lines = column_.forward(x, planes_);
    parallel_for(name, bundle_box<Lines>(lines, 1), SolveWhole<Lines>{whole, lines, scratch_.get()});
    column_.backward(x, planes_);
  }

 private:
  int planes_;
  ColumnTranspose column_;
  ScratchMemory<Lines> scratch_;
};

/// Both passes over a bundle of lines while it is in the CPU's cache.
template <class Lines>
class WholeLines final : public LineSolver<Lines> {
 public:
  explicit WholeLines(const ZBlocks& blocks)
      : scratch_(blocks.planes(), std::max<std::int64_t>(blocks.planes(), 2 * blocks.count()), 2 * blocks.count(), 0) {}

  void solve(const Lines& /*at_home*/, const Lines& whole, const LineArray& x) override {
    parallel_for(name, bundle_box<Lines>(x, 1), SolveAtOnce<Lines>{whole, x, scratch_.get()});
  }

 private:
  ScratchMemory<Lines> scratch_;
};

/// One pass forms the boundary equations of blocks, a second solves their insides; in between, boundary values are
/// exchanged.
template <class Lines>
class TwoPasses final : public LineSolver<Lines> {
 public:
  TwoPasses(const Communicator& comm, const Decomposition& decomposition, const LineBoxes& boxes, const LinePlan& plan,
            Exchange& exchange)
      : first_block_(plan.first_block()),
        blocks_(plan.blocks_here()),
        boundary_(boxes.my_home(), Lines::components, blocks_),
        column_(comm, decomposition, boxes, plan, Lines::components, exchange),
        scratch_(plan.longest - 2, std::max<std::int64_t>(plan.longest, 2 * plan.solved.count()), 0,
                 boxes.my_home().extent(0) * boxes.my_home().extent(1) * blocks_) {}

  void solve(const Lines& at_home, const Lines& whole, const LineArray& x) override {
    const LineArray& boundary = boundary_.array();
    const Box3 all_blocks = bundle_box<Lines>(x, blocks_);
    parallel_for(name, all_blocks, FormBoundary<Lines>{at_home, x, boundary, first_block_});
    const LineArray values = column_.forward(boundary, boundary_.planes());
    parallel_for(name, bundle_box<Lines>(values, 1), SolveReduced<Lines>{whole, values, scratch_.get()});
    column_.backward(boundary, boundary_.planes());
    parallel_for(name, all_blocks, SolveInterior<Lines>{at_home, x, boundary, first_block_, scratch_.get()});
  }

 private:
  int first_block_, blocks_;
  BoundaryValues boundary_;
  ColumnTranspose column_;
  ScratchMemory<Lines> scratch_;
};

}  // namespace

template <class Lines>
std::unique_ptr<LineSolver<Lines>> make_line_solver(const Communicator& comm, const Decomposition& decomposition,
                                                    const LineBoxes& boxes, const LinePlan& plan, Exchange& exchange) {
  switch (plan.strategy) {
    case LineStrategy::transposed:
      return std::make_unique<Transposed<Lines>>(comm, decomposition, boxes, plan, exchange);
    case LineStrategy::whole_lines:
      return std::make_unique<WholeLines<Lines>>(plan.solved);
    case LineStrategy::two_passes:
      return std::make_unique<TwoPasses<Lines>>(comm, decomposition, boxes, plan, exchange);
    default:
      if constexpr (loops_on_gpu) return make_gpu_line_solver<Lines>(comm, decomposition, boxes, plan, exchange);
      throw Error(ExitCode::internal, "a strategy for z lines that this build does not have");
  }
}

template <class Lines>
MemoryNeed line_solver_need(const Decomposition& decomposition, const LineBoxes& boxes, const LinePlan& plan) {
  MemoryNeed memory = ColumnTranspose::memory(decomposition, boxes, plan, Lines::components);
  const bool boundary_values = plan.strategy == LineStrategy::two_passes ||
                               plan.strategy == LineStrategy::two_passes_on_chip || plan.is_condensed();
  const auto lines = static_cast<double>(boxes.my_home().extent(0) * boxes.my_home().extent(1));
  const int blocks = plan.blocks_here() + (plan.is_condensed() ? 1 : 0);
  if (boundary_values) memory.held += 2 * Lines::components * lines * blocks * sizeof(real);
  if (!loops_on_gpu || Lines::components == 1) return memory;
  // On a GPU, the plain loops store the pivots of complex lines.
  if (plan.strategy == LineStrategy::transposed)
    memory.held += static_cast<double>(boxes.my_whole().volume()) * sizeof(double);
  if (plan.strategy == LineStrategy::two_passes)
    memory.held += lines * blocks * static_cast<double>(plan.longest - 2) * sizeof(double);
  return memory;
}

template std::unique_ptr<LineSolver<ShiftedLines>> make_line_solver(const Communicator&, const Decomposition&,
                                                                    const LineBoxes&, const LinePlan&, Exchange&);
template std::unique_ptr<LineSolver<TableLines>> make_line_solver(const Communicator&, const Decomposition&,
                                                                  const LineBoxes&, const LinePlan&, Exchange&);
template MemoryNeed line_solver_need<ShiftedLines>(const Decomposition&, const LineBoxes&, const LinePlan&);
template MemoryNeed line_solver_need<TableLines>(const Decomposition&, const LineBoxes&, const LinePlan&);

}  // namespace sluice
