#pragma once
// What one thread of a GPU does to a block held in registers: the kernels of tridiagonal_kernels.hpp in the form of
// register_blocks.hpp. Plain code, which the host can run too.
#include "poisson/register_blocks.hpp"
#include "poisson/tridiagonal_kernels.hpp"

namespace sluice {

/// Local block `block` of the blocks from `first_block` on.
template <class Shape>
SLUICE_INLINE Shape shape_of_block(const BlockBounds& blocks, int first_block, int block) {
  Shape shape;
  shape.first = blocks.bounds[first_block + block];
  shape.rows = blocks.bounds[first_block + block + 1] - shape.first;
  return shape;
}

template <class Lines>
SLUICE_INLINE bool is_singular_line(const Lines& lines, int lane, int j) {
  return lines.holds_singular_line && j == 0 && lane == 0;
}

SLUICE_INLINE ReducedColumn reduced_column(const ShiftedLines& lines, int i, int j) {
  return {lines.reduced + static_cast<std::ptrdiff_t>(j) * lines.lines_in_row + i, lines.lines};
}
SLUICE_INLINE ReducedColumn reduced_column(const TableLines& lines, int /*i*/, int /*j*/) {
  return {lines.reduced, 1};
}

/// FormBoundary for `Lanes` real numbers of a row: one complex line, or neighbouring real ones.
template <class Lines, int Lanes, class Shape>
struct FormBoundaryInRegisters {
  Lines lines;
  LineArray d;
  LineArray boundary;
  int first_block;

  SLUICE_INLINE void operator()(int lane, int j, int block) const {
    const Shape shape = shape_of_block<Shape>(lines.blocks, first_block, block);
    const real* source = d.at(lane, j, shape.first - lines.blocks.bounds[first_block]);
    RegisterBlock<Lanes, Shape> rows(shape);
    rows.load_inside(source, static_cast<int>(d.stride_z));
    LanePack<Lanes> first = pack_at<Lanes>(source);
    LanePack<Lanes> last = pack_at<Lanes>(source + (shape.rows - 1) * d.stride_z);
    BlockPivots<Lines, Shape> pivots(lines, lane / Lines::components, j);
    rows.form_boundary(lines, pivots, first, last);
    if constexpr (Lines::components == 2) {
      if (is_singular_line(lines, lane, j)) {
        first.lane[1] =
            static_cast<real>(moment_of_block(lines, shape.first, shape.first + shape.rows, source, d.stride_z));
      }
    }
    pack_at<Lanes>(boundary.at(lane, j, 2 * block)) = first;
    pack_at<Lanes>(boundary.at(lane, j, 2 * block + 1)) = last;
  }
};

/// SolveReduced; `g` is the thread's room for 2 N x `Lanes` intermediate values.
template <class Lines, int Lanes>
struct SolveReducedOnChip {
  Lines lines;
  LineArray values;

  SLUICE_INLINE void operator()(int lane, int j, double* g, std::ptrdiff_t g_pitch) const {
    real* first = values.at(lane, j, 0);
    const bool singular = is_singular_line(lines, lane, j);
    const double mean = singular ? take_mean(lines.blocks.count, first, values.stride_z) : 0;
    const ReducedColumn column = reduced_column(lines, lane / Lines::components, j);
    sweep_reduced_up<Lanes>(lines, column, first, values.stride_z, g, g_pitch);
    sweep_reduced_down<Lanes>(lines, column, g, g_pitch, first, values.stride_z);
    if (singular) subtract_mean(mean, lines.blocks.count, first, values.stride_z);
  }
};

/// Where z is split: the two equations that are left of a rank's blocks go to `ends`. `lines` has the rank's blocks
/// only, their ends known. The singular line's shares of the mean travel on as one.
template <class Lines, int Lanes>
struct JoinBlocksOfRank {
  Lines lines;
  LineArray values;
  LineArray ends;

  SLUICE_INLINE void operator()(int lane, int j, double* /*g*/, std::ptrdiff_t /*g_pitch*/) const {
    real* lowest = values.at(lane, j, 0);
    const bool singular = is_singular_line(lines, lane, j);
    const double mean = singular ? take_mean(lines.blocks.count, lowest, values.stride_z) : 0;
    LanePack<Lanes> first, last;
    join_blocks(lines, reduced_column(lines, lane / Lines::components, j), lowest, values.stride_z, first, last);
    if constexpr (Lines::components == 2) {
      if (singular) first.lane[1] = static_cast<real>(mean);
    }
    pack_at<Lanes>(ends.at(lane, j, 0)) = first;
    pack_at<Lanes>(ends.at(lane, j, 1)) = last;
  }
};

/// The way back: boundary values of all of the rank's blocks from the solution in `ends`.
template <class Lines, int Lanes>
struct PartBlocksOfRank {
  Lines lines;
  LineArray values;
  LineArray ends;

  SLUICE_INLINE void operator()(int lane, int j, double* g, std::ptrdiff_t g_pitch) const {
    part_blocks(lines, reduced_column(lines, lane / Lines::components, j), pack_at<Lanes>(ends.at(lane, j, 0)),
                pack_at<Lanes>(ends.at(lane, j, 1)), values.at(lane, j, 0), values.stride_z, g, g_pitch);
  }
};

/// SolveInterior.
template <class Lines, int Lanes, class Shape>
struct SolveInteriorInRegisters {
  Lines lines;
  LineArray x;
  LineArray boundary;
  int first_block;

  SLUICE_INLINE void operator()(int lane, int j, int block) const {
    const Shape shape = shape_of_block<Shape>(lines.blocks, first_block, block);
    real* at_first = x.at(lane, j, shape.first - lines.blocks.bounds[first_block]);
    RegisterBlock<Lanes, Shape> rows(shape);
    rows.load_inside(at_first, static_cast<int>(x.stride_z));
    const LanePack<Lanes> first = pack_at<Lanes>(boundary.at(lane, j, 2 * block));
    const LanePack<Lanes> last = pack_at<Lanes>(boundary.at(lane, j, 2 * block + 1));
    BlockPivots<Lines, Shape> pivots(lines, lane / Lines::components, j);
    rows.solve(lines, pivots, first, last, at_first, static_cast<int>(x.stride_z));
  }
};

}  // namespace sluice
