#include "poisson/block_solver.hpp"

#include "core/support/error.hpp"
#include "poisson/block_launch_cuda.hpp"

namespace sluice {

namespace {

const char* const name = "tridiagonal";

/// Calls action with the smallest shape that fits. Blocks of a grid differ by one row at most, so that they surely have
/// as many rows as the next smaller shape has room for.
template <class Action>
void with_shape(std::int64_t longest, const Action& action) {
  if (longest <= 8) {
    action(BlockShape<8, 2>());
  } else if (longest <= 12) {
    action(BlockShape<12, 8>());
  } else if (longest <= 16) {
    action(BlockShape<16, 12>());
  } else if (longest <= 17) {
    action(BlockShape<17, 16>());
  } else if (longest <= 20) {
    action(BlockShape<20, 17>());
  } else if (longest <= 24) {
    action(BlockShape<24, 20>());
  } else if (longest <= 28) {
    action(BlockShape<28, 24>());
  } else {
    SLUICE_REQUIRE(longest <= 32, "a block that is too long for registers");
    action(BlockShape<32, 28>());
  }
}

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
