#include "poisson/block_solver.hpp"

#include "poisson/block_launch_cuda.hpp"

namespace sluice {

namespace {

const char* const name = "tridiagonal";

}  // namespace

template <class Lines>
void RegisterKernels<Lines>::form_boundary(const Lines& lines, const LineArray& d, const LineArray& boundary,
                                           int first_block, int blocks, std::int64_t longest) {
  constexpr int lanes = Lines::components;
  with_shape(longest, [&](auto shape) {
    cuda::launch_blocks<lanes>(name, d, blocks,
                               FormBoundaryInRegisters<Lines, lanes, decltype(shape)>{lines, d, boundary, first_block});
  });
}

template <class Lines>
void RegisterKernels<Lines>::solve_reduced(const Lines& lines, const LineArray& values) {
  constexpr int lanes = Lines::components;
  cuda::launch_lines<lanes>(name, values, lines.blocks.count, SolveReducedOnChip<Lines, lanes>{lines, values});
}

template <class Lines>
void RegisterKernels<Lines>::join_blocks(const Lines& lines, const LineArray& values, const LineArray& ends) {
  constexpr int lanes = Lines::components;
  cuda::launch_lines<lanes>(name, values, 0, JoinBlocksOfRank<Lines, lanes>{lines, values, ends});
}

template <class Lines>
void RegisterKernels<Lines>::part_blocks(const Lines& lines, const LineArray& values, const LineArray& ends) {
  constexpr int lanes = Lines::components;
  cuda::launch_lines<lanes>(name, values, lines.blocks.count, PartBlocksOfRank<Lines, lanes>{lines, values, ends});
}

template <class Lines>
void RegisterKernels<Lines>::solve_interior(const Lines& lines, const LineArray& x, const LineArray& boundary,
                                            int first_block, int blocks, std::int64_t longest) {
  constexpr int lanes = Lines::components;
  with_shape(longest, [&](auto shape) {
    cuda::launch_blocks<lanes>(
        name, x, blocks, SolveInteriorInRegisters<Lines, lanes, decltype(shape)>{lines, x, boundary, first_block});
  });
}

template struct RegisterKernels<ShiftedLines>;
template struct RegisterKernels<TableLines>;

}  // namespace sluice
