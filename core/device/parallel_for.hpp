#pragma once
// The only loops over cells. A kernel is a named functor, called once for each index of a box, in any order:
//
//   struct Divergence { SLUICE_INLINE void operator()(Cell c) const; };
//   struct Pack { SLUICE_INLINE void operator()(int i, int j, int k) const; };
//
// A Cell knows its periodic neighbours in x; a kernel with `using CellType = WideCell` gets a WideCell instead. A GPU
// build runs one thread for each index; a CPU build loops over rows, whose inner part has no wrap-around and
// vectorises.
#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "core/device/cell.hpp"
#include "core/device/deferred.hpp"
#include "core/support/box3.hpp"
#include "core/support/error.hpp"
#include "core/support/exact_sum.hpp"
#include "core/support/real.hpp"
#ifdef SLUICE_KERNELS
#include "core/device/parallel_for_cuda.hpp"
#include "core/device/sums_cuda.hpp"
#endif

namespace sluice {

/// True in a build whose loops run on a GPU, for kernels that differ there.
#ifdef SLUICE_GPU
inline constexpr bool loops_on_gpu = true;
#else
inline constexpr bool loops_on_gpu = false;
#endif

namespace detail {

/// In a GPU build, a loop in a file not compiled by nvcc would access device memory from the host.
template <class Kernel>
constexpr void require_kernel_file() {
#if defined(SLUICE_GPU) && !defined(SLUICE_KERNELS)
  static_assert(sizeof(Kernel) == 0, "a file with loops over cells must be listed under KERNELS");
#endif
}

/// A Cell's neighbours wrap around at the ends of the box.
inline void require_whole_rows(const char* name, const Box3& box) {
  SLUICE_REQUIRE(box.lo[0] == 0, std::string(name) + ": a loop over cells needs whole rows");
}

/// Calls body(j, k) for each row of the box.
template <class Body>
inline __attribute__((always_inline)) void for_each_row(const Box3& box, const Body& body) {
  for (auto k = static_cast<int>(box.lo[2]); k < static_cast<int>(box.hi[2]); ++k) {
    for (auto j = static_cast<int>(box.lo[1]); j < static_cast<int>(box.hi[1]); ++j) body(j, k);
  }
}

/// Calls body(cell) for a whole row; the inner part has plain neighbours.
template <class AnyCell, class Body>
inline __attribute__((always_inline)) void for_row(int nx, int j, int k, const Body& body) {
  constexpr int reach = AnyCell::reach;
  const int inner_end = nx > reach ? nx - reach : 0;
  for (int i = 0; i < reach && i < nx; ++i) body(cell_in_row<AnyCell>(i, j, k, nx));
#pragma GCC ivdep
  for (int i = reach; i < inner_end; ++i) body(inner_cell<AnyCell>(i, j, k));
  for (int i = inner_end > reach ? inner_end : reach; i < nx; ++i) body(cell_in_row<AnyCell>(i, j, k, nx));
}

/// Lanes of a row's reduction. Their number is fixed, so that the order of additions depends on nx alone.
inline constexpr int lanes = 8;

/// Calls body(cell, lane) for a whole row, for `lanes` neighbours at a time in a loop that vectorises.
template <class AnyCell, class Body>
inline __attribute__((always_inline)) void for_row_in_lanes(int nx, int j, int k, const Body& body) {
  body(cell_in_row<AnyCell>(0, j, k, nx), 0);
  int i = 1;
  constexpr int reach = AnyCell::reach;
  // Neighbours of the first and the last groups may be at the other end of the row.
  const auto wrapped_until = [&](int end) __attribute__((always_inline)) {
    for (; i + lanes < end; i += lanes) {
      for (int slot = 0; slot < lanes; ++slot) body(cell_in_row<AnyCell>(i + slot, j, k, nx), slot);
    }
  };
  if constexpr (reach > 1) wrapped_until(nx < 2 * lanes + 1 ? nx : 2 * lanes + 1);
  for (; i + lanes + reach - 1 < nx; i += lanes) {
#pragma GCC ivdep
    for (int slot = 0; slot < lanes; ++slot) body(inner_cell<AnyCell>(i + slot, j, k), slot);
  }
  if constexpr (reach > 1) wrapped_until(nx);
  for (int slot = 0; i < nx; ++i, ++slot) body(cell_in_row<AnyCell>(i, j, k, nx), slot);
}

/// Sums over the row of kernel(cell, values).
template <class AnyCell, int N, class Kernel>
inline void sum_row(int nx, int j, int k, const Kernel& kernel, double (&sums)[N]) {
  double lane[N][lanes] = {};
  for_row_in_lanes<AnyCell>(
      nx, j, k, [&](AnyCell c, int slot) __attribute__((always_inline)) {
        double values[N];
        kernel(c, values);
        SLUICE_UNROLL
        for (int n = 0; n < N; ++n) lane[n][slot] += values[n];
      });
  for (int n = 0; n < N; ++n) {
    sums[n] = ((lane[n][0] + lane[n][1]) + (lane[n][2] + lane[n][3])) +
              ((lane[n][4] + lane[n][5]) + (lane[n][6] + lane[n][7]));
  }
}

/// The largest value(cell) of a row, at least 0; NaN if any is NaN or infinite.
template <class AnyCell, class Value>
inline double max_of_row(int nx, int j, int k, const Value& value) {
  double largest[lanes] = {};
  double trap[lanes] = {};  // a NaN loses every comparison, but not this sum
  for_row_in_lanes<AnyCell>(
      nx, j, k, [&](AnyCell c, int slot) __attribute__((always_inline)) {
        const double of_cell = value(c);
        largest[slot] = largest[slot] > of_cell ? largest[slot] : of_cell;  // in this order it vectorises
        trap[slot] += of_cell * 0;
      });
  double of_all = 0;
  for (int slot = 0; slot < lanes; ++slot) {
    if (!(trap[slot] == 0)) return trap[slot];
    of_all = largest[slot] > of_all ? largest[slot] : of_all;
  }
  return of_all;
}

/// The larger one; NaN if either is.
inline double larger(double a, double b) {
  return b > a || !(b == b) ? b : a;
}

struct ReadRow {
  const double* row;
  void operator()(Cell c, double (&value)[1]) const { value[0] = row[c.i]; }
};

/// For each row: body(cell, value) for its cells, then reduce(j, k, values). Two loops, with the values in cache
/// between them, vectorise better than one that writes to arrays and reduces.
template <class AnyCell, class Body, class Reduce>
void for_buffered_rows(const Box3& box, const Body& body, const Reduce& reduce) {
  std::vector<double> row(static_cast<std::size_t>(box.nx()));
  double* values = row.data();
  if (box.empty()) return;
  for_each_row(box, [&](int j, int k) {
    for_row<AnyCell>(
        box.nx(), j, k, [&](AnyCell c) __attribute__((always_inline)) { body(c, values[c.i]); });
    reduce(j, k, values);
  });
}

/// count_planes on a CPU. A loop that vectorises first finds the bins of a row. Neighbours have separate counters, so
/// that those in the same bin need not wait for each other.
template <class AnyCell, int bins, class Kernel>
void count_planes_of(const Box3& box, const Kernel& kernel, std::int64_t* counts) {
  constexpr std::size_t copies = 4;
  std::vector<int> row(static_cast<std::size_t>(box.nx()));
  int* bin = row.data();
  std::vector<std::array<std::uint32_t, copies>> of_plane(bins);
  for (auto k = static_cast<int>(box.lo[2]); k < static_cast<int>(box.hi[2]); ++k) {
    for (auto& count : of_plane) count = {};
    for (auto j = static_cast<int>(box.lo[1]); j < static_cast<int>(box.hi[1]); ++j) {
      for_row<AnyCell>(
          box.nx(), j, k, [&](AnyCell c) __attribute__((always_inline)) { bin[c.i] = kernel(c); });
      for (std::size_t i = 0; i < row.size(); ++i) ++of_plane[static_cast<std::size_t>(row[i])][i % copies];
    }
    for (const auto& count : of_plane) *counts++ += std::int64_t{count[0]} + count[1] + count[2] + count[3];
  }
}

}  // namespace detail

/// Calls kernel for each index of `box` (local indices). A kernel that takes a Cell needs whole rows: box
/// x-range [0, nx). On return the loop has been issued; device::synchronize() waits for it.
template <class Kernel>
void parallel_for(const char* name, const Box3& box, const Kernel& kernel) {
  detail::require_kernel_file<Kernel>();
  if (box.empty()) return;
  if constexpr (takes_cell<Kernel>) detail::require_whole_rows(name, box);
#ifdef SLUICE_KERNELS
  cuda::run_loop(name, box, kernel);
#else
  static_cast<void>(name);
  for (auto k = static_cast<int>(box.lo[2]); k < static_cast<int>(box.hi[2]); ++k) {
    for (auto j = static_cast<int>(box.lo[1]); j < static_cast<int>(box.hi[1]); ++j) {
      if constexpr (takes_cell<Kernel>) {
        detail::for_row<CellOf<Kernel>>(static_cast<int>(box.hi[0]), j, k, kernel);
      } else {
        const auto end = static_cast<int>(box.hi[0]);
#pragma GCC ivdep
        for (auto i = static_cast<int>(box.lo[0]); i < end; ++i) kernel(i, j, k);
      }
    }
  }
#endif
}

/// Sums N quantities over x and y for each plane of `box`: adds them to sums[plane][quantity], in device memory.
/// kernel(Cell, double (&values)[N]). Does not wait on the host. Local to the rank; the result, added over ranks, does
/// not depend on the process grid.
template <int N, class Kernel>
void reduce_planes(const char* name, const Box3& box, const Kernel& kernel, ExactSum* sums) {
  detail::require_kernel_file<Kernel>();
  if (box.empty()) return;
  detail::require_whole_rows(name, box);
#ifdef SLUICE_KERNELS
  cuda::issue_plane_sums<N>(name, box, kernel, reinterpret_cast<cuda::Word*>(sums));
#else
  static_cast<void>(name);
  for (int k = 0; k < box.nz(); ++k, sums += N) {
    for (int j = 0; j < box.ny(); ++j) {
      double of_row[N];
      detail::sum_row<CellOf<Kernel>, N>(static_cast<int>(box.hi[0]), static_cast<int>(box.lo[1]) + j,
                                         static_cast<int>(box.lo[2]) + k, kernel, of_row);
      for (int n = 0; n < N; ++n) sums[n].add(of_row[n]);
    }
  }
#endif
}

/// The same; returns the sums.
template <int N, class Kernel>
std::vector<std::array<ExactSum, N>> reduce_planes(const char* name, const Box3& box, const Kernel& kernel) {
  std::vector<std::array<ExactSum, N>> planes(static_cast<std::size_t>(box.nz()));
  if (box.empty()) return planes;
#ifdef SLUICE_KERNELS
  detail::require_whole_rows(name, box);
  cuda::sum_planes_of<N>(name, box, kernel, planes.front().data());
#else
  reduce_planes<N>(name, box, kernel, planes.front().data());
#endif
  return planes;
}

/// Counts the cells of each plane of `box` in `bins` bins: adds them to counts[plane][bin], in device memory.
/// kernel(Cell) returns the bin, from 0 to bins - 1. Does not wait on the host. Local to the rank; added over ranks,
/// the counts do not depend on the process grid.
template <int bins, class Kernel>
void count_planes(const char* name, const Box3& box, const Kernel& kernel, std::int64_t* counts) {
  detail::require_kernel_file<Kernel>();
  if (box.empty()) return;
  detail::require_whole_rows(name, box);
#ifdef SLUICE_KERNELS
  cuda::issue_counts<bins>(name, box, kernel, counts);
#else
  static_cast<void>(name);
  detail::count_planes_of<CellOf<Kernel>, bins>(box, kernel, counts);
#endif
}

/// The sum of a kernel that writes, row by row on a CPU: for rows that are used at once, while they are in the cache.
class RowByRowSum {
 public:
  /// For rows of nx cells.
  explicit RowByRowSum(int nx) : values_(static_cast<std::size_t>(nx)) {}

  /// Calls kernel.compute(cell) and kernel.write(cell, computed) for the cells of row (j, k) and adds what write()
  /// returns. Two loops, with the values in cache between them, vectorise better than one that writes to arrays and
  /// sums.
  template <class Kernel>
  void add(const Kernel& kernel, int j, int k) {
    const auto nx = static_cast<int>(values_.size());
    double* const values = values_.data();
    const auto write = [&](CellOf<Kernel> c) __attribute__((always_inline)) {
      values[c.i] = kernel.write(c, kernel.compute(c));
    };
    detail::for_row<CellOf<Kernel>>(nx, j, k, write);
    double sums[1];
    detail::sum_row<Cell, 1>(nx, 0, 0, detail::ReadRow{values}, sums);
    sum_.add(sums[0]);
  }

  const ExactSum& value() const { return sum_; }

 private:
  std::vector<double> values_;
  ExactSum sum_;
};

/// Sum over `box` of kernel(Cell, double (&value)[1]). Local to the rank; added over ranks, independent of
/// the process grid.
template <class Kernel>
ExactSum reduce_sum(const char* name, const Box3& box, const Kernel& kernel) {
  ExactSum sum;
#ifdef SLUICE_KERNELS
  if (box.empty()) return sum;
  detail::require_whole_rows(name, box);
  device::copy(&sum, cuda::issue_sum(name, box, cuda::ValueAlone<Kernel>{kernel}), sizeof(sum));
#else
  for (const auto& plane : reduce_planes<1>(name, box, kernel)) sum += plane[0];
#endif
  return sum;
}

/// The same without waiting on the host. The kernel also writes to arrays, in a separate call, because a GPU reads
/// several cells before it writes one:
///   struct Computed { ... };
///   SLUICE_INLINE Computed compute(Cell c) const;
///   SLUICE_INLINE double write(Cell c, const Computed& computed) const;  // returns the value that is reduced
/// compute() may be called more than once for a cell, and must not read at other cells what write() changes.
template <class Kernel>
void reduce_sum(const char* name, const Box3& box, const Kernel& kernel, DeferredSum& result) {
  detail::require_kernel_file<Kernel>();
  detail::require_whole_rows(name, box);
#ifdef SLUICE_KERNELS
  cuda::issue_sum(name, box, kernel, result.data());
#else
  RowByRowSum sum(box.nx());
  if (!box.empty()) detail::for_each_row(box, [&](int j, int k) { sum.add(kernel, j, k); });
  *result.data() = sum.value();
#endif
  result.written();
}

/// Largest value of kernel(Cell) over `box`, at least 0; NaN if any value is NaN or infinite. Local to the
/// rank.
template <class Kernel>
double reduce_max(const char* name, const Box3& box, const Kernel& kernel) {
  detail::require_kernel_file<Kernel>();
  if (box.empty()) return 0;
  detail::require_whole_rows(name, box);
#ifdef SLUICE_KERNELS
  return cuda::max_of(name, box, kernel);
#else
  static_cast<void>(name);
  double largest = 0;
  detail::for_each_row(box, [&](int j, int k) {
    largest = detail::larger(largest, detail::max_of_row<CellOf<Kernel>>(static_cast<int>(box.hi[0]), j, k, kernel));
  });
  return largest;
#endif
}

/// The same without waiting on the host, with a kernel that also writes to arrays (see reduce_sum).
template <class Kernel>
void reduce_max(const char* name, const Box3& box, const Kernel& kernel, Deferred<double>& result) {
  detail::require_kernel_file<Kernel>();
  detail::require_whole_rows(name, box);
#ifdef SLUICE_KERNELS
  result.fetch(cuda::issue_max(name, box, kernel));
#else
  double largest = 0;
  detail::for_buffered_rows<CellOf<Kernel>>(
      box,
      [&](CellOf<Kernel> c, double& value)
          __attribute__((always_inline)) { value = kernel.write(c, kernel.compute(c)); },
      [&](int /*j*/, int /*k*/, const double* row) {
        largest = detail::larger(largest, detail::max_of_row<Cell>(box.nx(), 0, 0, [row](Cell c) { return row[c.i]; }));
      });
  result.set(largest);
#endif
}

}  // namespace sluice
