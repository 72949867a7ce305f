#pragma once
// Lines that ranks solve as if there were no other ranks, and then change near the ends of their rows. Kernels for
// packs of lines; plain code, which also runs on the host.
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

/// Copies a rank's own first and last value to `own`, and writes the right-hand sides of these two equations, which
/// follow from them, to `ends`. symmetry: that of the rank's rows as one block. The singular line's share of the mean
/// replaces its imaginary part.
template <class Lines, int Lanes>
struct FormEnds {
  Lines lines;
  const double* symmetry;
  LineArray x, own, ends;
  const double* share;  ///< of the mean

  SLUICE_INLINE void operator()(int lane, int j, LaneRows<double> /*storage*/) const {
    const BoundaryEquations equations = end_equations(lines, lane / Lines::components, j);
    const double back = *symmetry * equations.coupling;
    LanePack<Lanes> first = pack_at<Lanes>(x.at(lane, j, 0));
    LanePack<Lanes> last = pack_at<Lanes>(x.at(lane, j, lines.row_count - 1));
    pack_at<Lanes>(own.at(lane, j, 0)) = first;
    pack_at<Lanes>(own.at(lane, j, 1)) = last;
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      const double solved_first = first[r];
      const double solved_last = last[r];
      first[r] = static_cast<real>(multiply_add(equations.first, solved_first, equations.coupling * solved_last));
      last[r] = static_cast<real>(multiply_add(equations.last, solved_last, back * solved_first));
    }
    if constexpr (Lines::components == 2) {
      if (is_singular_line(lines, lane, j)) first[1] = static_cast<real>(*share);
    }
    pack_at<Lanes>(ends.at(lane, j, 0)) = first;
    pack_at<Lanes>(ends.at(lane, j, 1)) = last;
  }
};

/// Adds to one group of rows, the nth of `decay`, what the change of an end from its value in `own` to that in `ends`
/// changes there. With group 0, the end itself takes the value in `ends`.
template <class Lines, int Lanes>
struct ChangeFromEnd {
  Lines lines;  ///< with the rank's blocks
  LineArray x, own, ends;
  EndDecay decay;
  RowsFromEnd from_end;

  ChangeFromEnd(const Lines& home, const LineArray& array, const LineArray& own_ends, const LineArray& final_ends,
                bool from_first)
      : lines(home),
        x(array),
        own(own_ends),
        ends(final_ends),
        decay(from_first ? home.decay_from_first : home.decay_from_last),
        from_end{home, home.first_row + (from_first ? 0 : home.row_count - 1), from_first ? 1 : -1} {}

  SLUICE_INLINE void operator()(int lane, int n, LaneRows<double> /*storage*/) const {
    const RowGroup place = decay.at(n);
    const int i = lane / Lines::components;
    const std::ptrdiff_t at = lines.decay_at(n, place, i);
    const double product = decay.product[at];
    if (product == 0) return;
    const int inner = lines.row_count - 2;
    const int before = place.group * size;  // rows between the end and the group
    const bool from_top = from_end.step < 0;
    real* const end = x.at(lane, place.j, from_top ? lines.row_count - 1 : 0);
    const std::ptrdiff_t stride = from_top ? -x.stride_z : x.stride_z;
    LanePack<Lanes> rows[size] = {};
    SLUICE_UNROLL
    for (int m = 0; m < size; ++m) {
      if (before + m < inner) rows[m] = pack_at<Lanes>(end + (before + m + 1) * stride);
    }
    double ratios[size];
    double ratio = decay.ratio[at];
    const double shift = lines.shift(i, place.j);
    SLUICE_UNROLL
    for (int m = size - 1; m >= 0; --m) {
      if (before + m < inner) ratio = from_end.ratio(before + m + 1, shift, ratio);
      ratios[m] = ratio;
    }
    const LanePack<Lanes> solution = pack_at<Lanes>(ends.at(lane, place.j, from_top ? 1 : 0));
    const LanePack<Lanes> solved = pack_at<Lanes>(own.at(lane, place.j, from_top ? 1 : 0));
    double change[Lanes];
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) change[r] = product * (static_cast<double>(solution[r]) - solved[r]);
    if (place.group == 0) pack_at<Lanes>(end) = solution;
    SLUICE_UNROLL
    for (int m = 0; m < size; ++m) {
      if (before + m >= inner) continue;
      SLUICE_UNROLL
      for (int r = 0; r < Lanes; ++r) {
        change[r] *= ratios[m];
        rows[m][r] = static_cast<real>(rows[m][r] + change[r]);
      }
      pack_at<Lanes>(end + (before + m + 1) * stride) = rows[m];
    }
  }

 private:
  static constexpr int size = EndDecay::rows_in_group;
};

}  // namespace sluice
