#include "poisson/tridiagonal/block_solver.hpp"

#include "poisson/tridiagonal/block_launch_cuda.hpp"

namespace sluice {

namespace {

const char* const name = "tridiagonal";

}  // namespace

template <class Lines>
void BlockKernels<Lines>::form_boundary(const Lines& lines, const LineArray& d, const LineArray& boundary,
                                        int first_block, int blocks) {
  constexpr int lanes = Lines::components;
  cuda::launch_blocks<lanes>(name, d, blocks, FormBoundaryInTurns<Lines, lanes>{lines, d, boundary, first_block});
}

template <class Lines>
void BlockKernels<Lines>::solve_reduced(const Lines& lines, const LineArray& values) {
  constexpr int lanes = Lines::components;
  cuda::launch_lines<lanes>(name, values, lines.blocks.count, SolveReducedOnChip<Lines, lanes>{lines, values});
}

template <class Lines>
void BlockKernels<Lines>::join_blocks(const Lines& lines, const LineArray& values, const LineArray& ends) {
  constexpr int lanes = Lines::components;
  cuda::launch_lines<lanes>(name, values, 0, JoinBlocksOfRank<Lines, lanes>{lines, values, ends});
}

template <class Lines>
void BlockKernels<Lines>::part_blocks(const Lines& lines, const LineArray& values, const LineArray& ends) {
  constexpr int lanes = Lines::components;
  cuda::launch_lines<lanes>(name, values, lines.blocks.count, PartBlocksOfRank<Lines, lanes>{lines, values, ends});
}

template <class Lines>
void BlockKernels<Lines>::solve_interior(const Lines& lines, const LineArray& x, const LineArray& boundary,
                                         int first_block, int blocks, std::int64_t longest) {
  constexpr int lanes = Lines::components;
  with_shape(longest, [&](auto shape) {
    cuda::launch_blocks_on_chip<lanes>(
        name, x, blocks, SolveInteriorOnChip<Lines, lanes, decltype(shape)>{lines, x, boundary, first_block});
  });
}

template struct BlockKernels<ShiftedLines>;
template struct BlockKernels<TableLines>;

}  // namespace sluice
