#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/device/launch_cuda.hpp"
#include "core/device/together.hpp"
#include "core/device/tuning.hpp"
#include "core/support/error.hpp"
#include "poisson/tridiagonal/block_kernels.hpp"
#include "poisson/tridiagonal/bundle_chain.hpp"
#include "poisson/tridiagonal/end_changes.hpp"
#include "poisson/tridiagonal/line_strategies.hpp"
#include "poisson/tridiagonal/tile_launch_cuda.hpp"

namespace sluice {

namespace {

using namespace lines_on_gpu;

using namespace tuning::lines;

/// Packs of `Lanes` real numbers of an array, one for each thread: x fastest, row after row.
template <int Lanes>
struct Packs {
  unsigned in_row, count;

  explicit Packs(const LineArray& array)
      : in_row(static_cast<unsigned>(array.count / Lanes)), count(in_row * static_cast<unsigned>(array.rows)) {}
  unsigned thread_blocks(unsigned threads) const { return (count + threads - 1) / threads; }

  /// The pack of this thread.
  struct Pack {
    unsigned index, in_row, count;

    __device__ bool exists() const { return index < count; }
    __device__ int j() const { return static_cast<int>(index / in_row); }
    __device__ int lane() const { return static_cast<int>(index % in_row) * Lanes; }
  };
  __device__ Pack in(const uint3& block) const { return {block.x * blockDim.x + threadIdx.x, in_row, count}; }
};

/// One thread for each pack of lines and z block (block.y).
template <class Lines, int Lanes>
struct FormBoundaries {
  static constexpr cuda::Bounds bounds{threads_of_blocks};
  static constexpr std::size_t shared_bytes = 0;

  Packs<Lanes> packs;
  LineBlocks<Lines> blocks;

  __device__ void operator()(const uint3& block) const {
    const auto pack = packs.in(block);
    if (pack.exists()) form_boundary<Lines, Lanes>(blocks, pack.lane(), pack.j(), static_cast<int>(block.y));
  }
};

/// The same with rows in shared memory.
template <class Lines, int Lanes, class Shape>
struct SolveInteriors {
  static constexpr cuda::Bounds bounds{threads_of_blocks, resident_blocks};
  static constexpr std::size_t shared_bytes = BlockOnChip<Lines, Lanes, Shape>::shared_bytes(threads_of_blocks);

  Packs<Lanes> packs;
  LineBlocks<Lines> blocks;

  __device__ void operator()(const uint3& block) const {
    extern __shared__ __align__(16) double shared[];
    const auto pack = packs.in(block);
    BlockOnChip<Lines, Lanes, Shape> on_chip(blocks, pack.lane(), pack.j(), static_cast<int>(block.y), shared,
                                             static_cast<int>(threadIdx.x), threads_of_blocks);
    on_chip.load_table();
    if (pack.exists()) on_chip.load_rows();
    end_group_of_copies();
    wait_for_earlier_groups();
    __syncthreads();
    if (pack.exists()) on_chip.solve_interior();
  }
};

/// Launches a thread for each pack of lines and z block.
template <class Kernel, int Lanes, class Lines>
void launch_blocks(const LineBlocks<Lines>& blocks) {
  const Packs<Lanes> packs(blocks.x);
  if (packs.count == 0) return;
  cuda::launch(kernel_name,
               {dim3(packs.thread_blocks(threads_of_blocks), static_cast<unsigned>(blocks.lines.blocks.count)),
                dim3(threads_of_blocks), Kernel::shared_bytes},
               Kernel{packs, blocks});
}

/// One thread for each pack of lines, with a column of shared memory for its intermediate values.
template <int Lanes, class Kernel>
struct ForEachLine {
  static constexpr cuda::Bounds bounds{threads_of_reduced};

  Packs<Lanes> packs;
  Kernel kernel;

  __device__ void operator()(const uint3& block) const {
    extern __shared__ __align__(16) double shared[];
    const auto pack = packs.in(block);
    if (!pack.exists()) return;
    kernel(pack.lane(), pack.j(), {shared + threadIdx.x * Lanes, static_cast<std::ptrdiff_t>(blockDim.x) * Lanes});
  }
};

/// `blocks`: of the reduced systems that are solved; 0 if the kernel stores no intermediate values.
template <int Lanes, class Kernel>
void launch_lines(const LineArray& array, int blocks, const Kernel& kernel) {
  const Packs<Lanes> packs(array);
  if (packs.count == 0) return;
  const std::size_t column = sizeof(double) * 2 * Lanes * static_cast<std::size_t>(blocks);
  unsigned threads = threads_of_reduced;  // fewer if necessary; the result is the same
  while (threads > 8 &&
         threads * column > std::min(max_bytes_of_reduced, device::multiprocessors().max_shared_bytes_of_block))
    threads /= 2;
  cuda::launch(kernel_name, {dim3(packs.thread_blocks(threads)), dim3(threads), threads * column},
               ForEachLine<Lanes, Kernel>{packs, kernel});
}

/// Whole lines in tiles.
template <class Lines>
class Tiles final : public LineSolver<Lines> {
 public:
  explicit Tiles(LinePlan plan) : plan_(std::move(plan)) {}

  void solve(const std::vector<LineSystems<Lines>>& all) override {
    const device::Independent independent;
    for (const LineSystems<Lines>& systems : all) solve_in_tiles(systems.whole, systems.x, plan_);
  }

 private:
  LinePlan plan_;
};

/// One thread block sums a rank's share of the mean of the singular line.
struct SumShare {
  static constexpr cuda::Bounds bounds{threads_of_blocks};

  ShiftedLines lines;
  LineArray x;
  double* share;

  __device__ void operator()(const uint3& /*block*/) const {
    __shared__ double sums[threads_of_blocks];
    const auto thread = static_cast<int>(threadIdx.x);
    double sum = 0;
    for (int k = thread; k < lines.row_count; k += threads_of_blocks)
      sum += lines.moment[lines.first_row + k] * *x.at(0, 0, k);
    sums[thread] = sum;
    for (int half = threads_of_blocks / 2; half > 0; half /= 2) {
      __syncthreads();
      if (thread < half) sums[thread] += sums[thread + half];
    }
    if (thread == 0) *share = sums[0];
  }
};

/// Solves the systems of all ranks' ends, in place: two values of each line and system.
template <class Lines>
void solve_reduced(const std::vector<LineSystems<Lines>>& all, ColumnTranspose& column, const LineArray& ends) {
  constexpr int lanes = Lines::components;
  const auto count = static_cast<int>(all.size());
  const LineArray values = column.forward(ends);
  for (int n = 0; n < count; ++n) {
    const Lines& whole = all[static_cast<std::size_t>(n)].whole;
    launch_lines<lanes>(values, whole.blocks.count, SolveReduced<Lines, lanes>{whole, values, n, count});
  }
  column.backward(ends);
}

/// Each rank forms the equations of its ends from the rows that they depend on. These are exchanged and solved; then
/// the rank solves its rows in tiles, as if there were no other ranks, with right-hand sides of which the ends are
/// part.
template <class Lines>
class SplitTiles final : public LineSolver<Lines> {
 public:
  SplitTiles(const Communicator& comm, const LineBoxes& boxes, const LinePlan& plan, Exchange& exchange)
      : plan_(plan),
        own_(boxes.my_home(), Lines::components, plan.systems),
        ends_(boxes.my_home(), Lines::components, plan.systems),
        share_(1),
        column_(comm, boxes, plan, Lines::components, exchange) {}

  void solve(const std::vector<LineSystems<Lines>>& all) override {
    SLUICE_REQUIRE(static_cast<int>(all.size()) == plan_.systems, "all systems of the plan are solved together");
    int n = 0;
    for (const LineSystems<Lines>& systems : all) form(systems, n++);
    solve_reduced(all, column_, ends_.array());
    n = 0;
    for (const LineSystems<Lines>& systems : all) solve_alone(systems, n++);
  }

 private:
  void form(const LineSystems<Lines>& systems, int n) {
    const auto& [at_home, whole, x] = systems;
    if constexpr (Lines::components == 2) {
      if (at_home.holds_singular_line)
        cuda::launch(kernel_name, {dim3(1), dim3(threads_of_blocks)}, SumShare{at_home, x, share_.data()});
    }
    LineArray both_ends = ends_.of(n);
    both_ends.rows *= 2;
    launch_lines<lanes>(both_ends, 0, FormEnds<Lines, lanes>{at_home, x, own_.of(n), ends_.of(n), share_.data()});
  }

  void solve_alone(const LineSystems<Lines>& systems, int n) {
    const auto& [at_home, whole, x] = systems;
    launch_lines<lanes>(ends_.of(n), 0,
                        SetEnds<Lines, lanes>{at_home, whole.symmetry + plan_.rank, x, own_.of(n), ends_.of(n)});
    Lines alone = at_home;
    if constexpr (Lines::components == 2) alone.holds_singular_line = false;  // the mean is subtracted from the ends
    solve_in_tiles(alone, x, plan_);
  }

  static constexpr int lanes = Lines::components;

  LinePlan plan_;
  BoundaryValues own_, ends_;
  Buffer<double> share_;
  ColumnTranspose column_;
};

/// One pass forms the boundary equations of blocks, a second solves their insides. In between, each rank condenses its
/// boundary values to two per line, unless it has one block, and these are exchanged if z is split.
template <class Lines>
class Condensed final : public LineSolver<Lines> {
 public:
  Condensed(const Communicator& comm, const LineBoxes& boxes, const LinePlan& plan, Exchange& exchange)
      : plan_(plan),
        boundary_(boxes.my_home(), lanes, plan.systems * (boundary_blocks(plan) - 1)),
        ends_(boxes.my_home(), lanes, plan.systems),
        column_(comm, boxes, plan, lanes, exchange) {}

  void solve(const std::vector<LineSystems<Lines>>& all) override {
    SLUICE_REQUIRE(static_cast<int>(all.size()) == plan_.systems, "all systems of the plan are solved together");
    int n = 0;
    for (const LineSystems<Lines>& systems : all) form(systems.at_home, systems.x, n++);
    solve_reduced(all, column_, ends_.array());
    n = 0;
    for (const LineSystems<Lines>& systems : all) solve_interior(systems.at_home, systems.x, n++);
  }

 private:
  static constexpr int lanes = Lines::components;

  bool several() const { return plan_.blocks_here() > 1; }
  /// The boundary values of the blocks in a system. Those of one block need not be condensed.
  LineArray boundary(int n) { return several() ? boundary_.of(n * plan_.blocks_here()) : ends_.of(n); }

  void form(const Lines& at_home, const LineArray& x, int n) {
    launch_blocks<FormBoundaries<Lines, lanes>, lanes>(LineBlocks<Lines>{at_home, x, boundary(n)});
    if (several()) launch_lines<lanes>(ends_.of(n), 0, CondenseBlocks<Lines, lanes>{at_home, boundary(n), ends_.of(n)});
  }

  void solve_interior(const Lines& at_home, const LineArray& x, int n) {
    if (several()) {
      launch_lines<lanes>(ends_.of(n), plan_.blocks_here(),
                          ExpandBlocks<Lines, lanes>{at_home, boundary(n), ends_.of(n)});
    }
    with_shape(plan_.longest(), [&](auto shape) {
      launch_blocks<SolveInteriors<Lines, lanes, decltype(shape)>, lanes>(LineBlocks<Lines>{at_home, x, boundary(n)});
    });
  }

  LinePlan plan_;
  BoundaryValues boundary_, ends_;
  ColumnTranspose column_;
};

/// The Thomas algorithm for one whole line per thread. `pivots`: memory for those of complex lines.
template <class Lines>
struct SolveWhole {
  static constexpr int lanes = Lines::components;

  Lines lines;
  LineArray x;
  double* pivots;

  SLUICE_INLINE void operator()(int i, int j, int /*k*/) const {
    constexpr std::integral_constant<int, lanes> n;
    const std::ptrdiff_t in_row = x.count / lanes;
    const LaneRows<real> rows = x.from(lanes * i, j, 0);
    Pivots<Lines, lanes> on_the_fly(lines, i, j, n);
    solve_whole(lines, on_the_fly, lanes * i, j, n, rows, {pivots + j * in_row + i, x.rows * in_row}, rows);
  }
};

/// The full-transpose method.
template <class Lines>
class Transposed final : public LineSolver<Lines> {
 public:
  Transposed(const Communicator& comm, const LineBoxes& boxes, const LinePlan& plan, Exchange& exchange)
      : column_(comm, boxes, plan, Lines::components, exchange),
        pivots_(Lines::components == 2 ? static_cast<std::size_t>(boxes.my_whole().volume()) : 0) {}

  void solve(const std::vector<LineSystems<Lines>>& all) override {
    for (const LineSystems<Lines>& systems : all) {
      const LineArray lines = column_.forward(systems.x);
      parallel_for(kernel_name, box_of(lines.count / Lines::components, lines.rows, 1),
                   SolveWhole<Lines>{systems.whole, lines, pivots_.data()});
      column_.backward(systems.x);
    }
  }

 private:
  ColumnTranspose column_;
  Buffer<double> pivots_;
};

}  // namespace

double strategy_memory(const LineBoxes& boxes, const LinePlan& plan, int components) {
  if (plan.is_condensed())
    return BoundaryValues::memory(boxes.my_home(), components, plan.systems * boundary_blocks(plan));
  const bool pivots = components == 2 && plan.strategy == LineStrategy::transposed;
  return pivots ? static_cast<double>(boxes.my_whole().volume()) * sizeof(double) : 0;
}

template <class Lines>
std::unique_ptr<LineSolver<Lines>> make_line_solver(const Communicator& comm, const LineBoxes& boxes,
                                                    const LinePlan& plan, Exchange& exchange) {
  switch (plan.strategy) {
    case LineStrategy::transposed:
      return std::make_unique<Transposed<Lines>>(comm, boxes, plan, exchange);
    case LineStrategy::tiles:
      return std::make_unique<Tiles<Lines>>(plan);
    case LineStrategy::split_tiles:
      return std::make_unique<SplitTiles<Lines>>(comm, boxes, plan, exchange);
    case LineStrategy::condensed:
      return std::make_unique<Condensed<Lines>>(comm, boxes, plan, exchange);
    default:
      throw Error(ExitCode::internal, "a strategy for z lines that GPU builds do not have");
  }
}

template std::unique_ptr<LineSolver<ShiftedLines>> make_line_solver(const Communicator&, const LineBoxes&,
                                                                    const LinePlan&, Exchange&);
template std::unique_ptr<LineSolver<TableLines>> make_line_solver(const Communicator&, const LineBoxes&,
                                                                  const LinePlan&, Exchange&);

}  // namespace sluice
