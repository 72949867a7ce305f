#pragma once
// The equations of the two ends of a rank's rows, with the rows between eliminated, which make lines whole, and what
// the values of the ends mean for rows that are then solved alone. Kernels for packs of lines; plain code, which also
// runs on the host.
#include "poisson/tridiagonal/end_reach.hpp"
#include "poisson/tridiagonal/reduced_system.hpp"

namespace sluice {

/// The coefficients of a rank's two equations for its first and last value, with those of the rows between eliminated,
/// are stored behind those of its blocks.
template <class Lines>
SLUICE_INLINE BoundaryEquations end_equations(const Lines& lines, int i, int j) {
  const int behind = lines.blocks.count;
  return {lines.reduced_at(inverse_of_first, behind, i, j), lines.reduced_at(inverse_of_last, behind, i, j),
          lines.reduced_at(coupling, behind, i, j)};
}

/// Writes the right-hand sides of these two equations to `own` and `ends`:
///
///   r_0 = d_0 + s_1,    s_n = weight_n (d_n + s_{n+1}),    weight_n = -away_{n-1} / (diagonal_n + shift + away_n
///   ratio_{n+1}).
///
/// From where the end does not reach, s = 0. The nth of 2 `x.rows` rows of packs: the first ends of all lines, then the
/// last ends. The singular line's share of the mean replaces the imaginary part of its first end in `ends`.
template <class Lines, int Lanes>
struct FormEnds {
  Lines lines;  ///< with the rank's blocks
  LineArray x, own, ends;
  const double* share;  ///< of the mean

  SLUICE_INLINE void operator()(int lane, int n, LaneRows<double> /*storage*/) const {
    constexpr int size = EndReach::rows_in_group;
    const bool from_first = n < x.rows;
    const int j = from_first ? n : n - x.rows;
    const int i = lane / Lines::components;
    const double shift = lines.shift(i, j);
    const RowsFromEnd from_end = RowsFromEnd::of(from_first, lines);
    const int inner = lines.row_count - 2;
    const real* const end = x.at(lane, j, from_first ? 0 : lines.row_count - 1);
    const std::ptrdiff_t stride = from_first ? x.stride_z : -x.stride_z;
    double sum[Lanes] = {};
    double ratio = 0;
    for (int group = ReachFromEnd(from_first, lines).of(shift) - 1; group >= 0; --group) {
      const int before = group * size;
      LanePack<Lanes> d[size] = {};
      SLUICE_UNROLL
      for (int m = 0; m < size; ++m) {
        if (before + m < inner) d[m] = pack_at<Lanes>(end + (before + m + 1) * stride);
      }
      SLUICE_UNROLL
      for (int m = size - 1; m >= 0; --m) {
        const int row = before + m + 1;
        if (row > inner) continue;
        const double inverse = from_end.inverse(row, shift, ratio);
        const double weight = -from_end.away(row - 1) * inverse;
        ratio = -from_end.toward(row) * inverse;
        SLUICE_UNROLL
        for (int r = 0; r < Lanes; ++r) sum[r] = weight * (d[m][r] + sum[r]);
      }
    }
    LanePack<Lanes> right = pack_at<Lanes>(end);
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) right[r] = static_cast<real>(right[r] + sum[r]);
    pack_at<Lanes>(own.at(lane, j, from_first ? 0 : 1)) = right;
    if constexpr (Lines::components == 2) {
      if (from_first && is_singular_line(lines, lane, j)) right[1] = static_cast<real>(*share);
    }
    pack_at<Lanes>(ends.at(lane, j, from_first ? 0 : 1)) = right;
  }
};

/// Adds to d of a rank's first and last row what makes the solution of its rows alone that of the whole line: their
/// equations' right-hand sides become those of the values in `ends` instead of those in `own`. symmetry: that of the
/// rank's rows as one block.
template <class Lines, int Lanes>
struct SetEnds {
  Lines lines;
  const double* symmetry;
  LineArray x, own, ends;

  SLUICE_INLINE void operator()(int lane, int j, LaneRows<double> /*storage*/) const {
    const int i = lane / Lines::components;
    const double shift = lines.shift(i, j);
    const BoundaryEquations equations = end_equations(lines, i, j);
    const double back = *symmetry * equations.coupling;
    const LanePack<Lanes> first = pack_at<Lanes>(ends.at(lane, j, 0));
    const LanePack<Lanes> last = pack_at<Lanes>(ends.at(lane, j, 1));
    if (ReachFromEnd(true, lines).of(shift) > 0) set(lane, j, 0, 0, equations.first, first, equations.coupling, last);
    if (ReachFromEnd(false, lines).of(shift) > 0)
      set(lane, j, 1, lines.row_count - 1, equations.last, last, back, first);
  }

 private:
  SLUICE_INLINE void set(int lane, int j, int end, int row, double diagonal, const LanePack<Lanes>& value,
                         double across, const LanePack<Lanes>& other) const {
    const LanePack<Lanes> right = pack_at<Lanes>(own.at(lane, j, end));
    LanePack<Lanes> d = pack_at<Lanes>(x.at(lane, j, row));
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      const double change = multiply_add(diagonal, static_cast<double>(value[r]), across * other[r]) - right[r];
      d[r] = static_cast<real>(d[r] + change);
    }
    pack_at<Lanes>(x.at(lane, j, row)) = d;
  }
};

}  // namespace sluice
