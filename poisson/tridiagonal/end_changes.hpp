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

/// Writes the right-hand sides of these two equations, which follow from the rank's own solution, to `ends`. symmetry:
/// that of the rank's rows as one block. The singular line's share of the mean replaces its imaginary part.
template <class Lines, int Lanes>
struct FormEnds {
  Lines lines;
  const double* symmetry;
  LineArray x, ends;
  const double* share;  ///< of the mean

  SLUICE_INLINE void operator()(int lane, int j, LaneRows<double> /*storage*/) const {
    const BoundaryEquations equations = end_equations(lines, lane / Lines::components, j);
    const double back = *symmetry * equations.coupling;
    LanePack<Lanes> first = pack_at<Lanes>(x.at(lane, j, 0));
    LanePack<Lanes> last = pack_at<Lanes>(x.at(lane, j, lines.row_count - 1));
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) {
      const double solved_first = first[r];
      const double solved_last = last[r];
      first[r] = static_cast<real>(fma(equations.first, solved_first, equations.coupling * solved_last));
      last[r] = static_cast<real>(fma(equations.last, solved_last, back * solved_first));
    }
    if constexpr (Lines::components == 2) {
      if (is_singular_line(lines, lane, j)) first[1] = static_cast<real>(*share);
    }
    pack_at<Lanes>(ends.at(lane, j, 0)) = first;
    pack_at<Lanes>(ends.at(lane, j, 1)) = last;
  }
};

/// Gives the ends of a rank's rows their final values, from `ends`, and adds what each end changes to the rows that the
/// change reaches.
template <class Lines, int Lanes>
struct ChangeFromEnds {
  Lines lines;  ///< with the rank's blocks
  LineArray x, ends;
  bool lowest_rank, highest_rank;

  /// The kernel needs as much storage as the reduced system of this many blocks: a ratio for each group of rows.
  int blocks_of_storage() const { return (lines.reach_of_first.groups + 2 * Lanes - 1) / (2 * Lanes); }

  SLUICE_INLINE void operator()(int lane, int j, LaneRows<double> storage) const {
    const double shift = lines.shift(lane / Lines::components, j);
    const int from_first = lines.reach_of_first.of(shift);
    const int from_last = lines.reach_of_last.of(shift);
    // At a wall, only what comes from the other end changes the value.
    const int all = lines.reach_of_first.groups;
    if (!lowest_rank || from_last == all) change({lines, lines.first_row, 1}, from_first, shift, lane, j, storage);
    if (!highest_rank || from_first == all) {
      const int last = lines.first_row + lines.row_count - 1;
      change({lines, last, -1}, from_last, shift, lane, j, storage);
    }
  }

 private:
  SLUICE_INLINE void change(const RowsFromEnd& from_end, int reach, double shift, int lane, int j,
                            LaneRows<double> storage) const {
    const int rows = lines.row_count;
    const int inner = rows - 2;
    const int groups = largest_in_warp(reach);  // those beyond the reach are skipped
    const bool from_top = from_end.step < 0;
    real* const end = x.at(lane, j, from_top ? rows - 1 : 0);
    const std::ptrdiff_t stride = from_top ? -x.stride_z : x.stride_z;
    const LanePack<Lanes> solution = pack_at<Lanes>(ends.at(lane, j, from_top ? 1 : 0));
    double change[Lanes];
    SLUICE_UNROLL
    for (int r = 0; r < Lanes; ++r) change[r] = static_cast<double>(solution[r]) - pack_at<Lanes>(end)[r];
    pack_at<Lanes>(end) = solution;

    // Ratios follow from the farthest row on. To save memory, only one of each group is kept.
    double ratio = 0;
    for (int group = groups - 1; group > 0; --group) {
      if (group >= reach) continue;
      SLUICE_UNROLL
      for (int m = size; m > 0; --m) {
        const int n = group * size + m;
        if (n <= inner) ratio = from_end.ratio(n, shift, ratio);
      }
      ratio_of(group, storage) = ratio;
    }
    Group next = read(end, stride, inner, 0);
    for (int group = 0; group < groups; ++group) {
      if (group >= reach) continue;
      Group values = next;
      if (group + 1 < reach) next = read(end, stride, inner, group + 1);  // on its way while this one is computed
      double ratios[size];
      ratio = group + 1 < reach ? ratio_of(group + 1, storage) : 0;
      SLUICE_UNROLL
      for (int m = size - 1; m >= 0; --m) {
        const int n = group * size + m + 1;
        if (n <= inner) ratio = from_end.ratio(n, shift, ratio);
        ratios[m] = ratio;
      }
      SLUICE_UNROLL
      for (int m = 0; m < size; ++m) {
        const int n = group * size + m + 1;
        if (n > inner) continue;
        SLUICE_UNROLL
        for (int r = 0; r < Lanes; ++r) {
          change[r] *= ratios[m];
          values.row[m][r] = static_cast<real>(values.row[m][r] + change[r]);
        }
        pack_at<Lanes>(end + n * stride) = values.row[m];
      }
    }
  }

  static constexpr int size = EndReach::rows_in_group;

  SLUICE_INLINE static double& ratio_of(int group, LaneRows<double> storage) {
    return storage.row(group / Lanes)[group % Lanes];
  }

  struct Group {
    LanePack<Lanes> row[size] = {};
  };
  SLUICE_INLINE static Group read(const real* end, std::ptrdiff_t stride, int inner, int group) {
    Group values;
    SLUICE_UNROLL
    for (int m = 0; m < size; ++m) {
      const int n = group * size + m + 1;
      if (n <= inner) values.row[m] = pack_at<Lanes>(end + n * stride);
    }
    return values;
  }

  /// Threads of a warp go through their groups together, so that they read the same coefficients. Results do not depend
  /// on it.
  SLUICE_INLINE static int largest_in_warp(int groups) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(__activemask(), groups);
#else
    return groups;
#endif
  }
};

}  // namespace sluice
