#pragma once
#include <type_traits>

#include "core/support/real.hpp"

namespace sluice {

/// Local index of a cell, with its two periodic neighbours in x: rows are whole on every rank.
struct Cell {
  int i, j, k;
  int west, east;  ///< i - 1 and i + 1, wrapped around

  static constexpr int reach = 1;
  /// i + n, wrapped around; |n| <= reach.
  SLUICE_INLINE int x(int n) const { return n < 0 ? west : n > 0 ? east : i; }
};

/// The same with the neighbours that are up to three cells away.
struct WideCell {
  int i, j, k;
  int west3, west2, west, east, east2, east3;

  static constexpr int reach = 3;
  SLUICE_INLINE int x(int n) const {
    return n == 0 ? i : n == -1 ? west : n == 1 ? east : n == -2 ? west2 : n == 2 ? east2 : n < 0 ? west3 : east3;
  }
};

/// A cell of a row of nx cells.
template <class AnyCell>
SLUICE_INLINE AnyCell cell_in_row(int i, int j, int k, int nx) {
  if constexpr (AnyCell::reach == 1) {
    return {i, j, k, i == 0 ? nx - 1 : i - 1, i + 1 == nx ? 0 : i + 1};
  } else {
    const auto wrapped = [nx](int at) {
      if (nx < WideCell::reach) return (at % nx + nx) % nx;
      return at < 0 ? at + nx : at < nx ? at : at - nx;
    };
    return {i, j, k, wrapped(i - 3), wrapped(i - 2), wrapped(i - 1), wrapped(i + 1), wrapped(i + 2), wrapped(i + 3)};
  }
}

/// A cell whose neighbours are all in the row.
template <class AnyCell>
SLUICE_INLINE AnyCell inner_cell(int i, int j, int k) {
  if constexpr (AnyCell::reach == 1) {
    return {i, j, k, i - 1, i + 1};
  } else {
    return {i, j, k, i - 3, i - 2, i - 1, i + 1, i + 2, i + 3};
  }
}

namespace detail {
template <class Kernel, class = void>
struct CellOf {
  using type = Cell;
};
template <class Kernel>
struct CellOf<Kernel, std::void_t<typename Kernel::CellType>> {
  using type = typename Kernel::CellType;
};
}  // namespace detail

/// The kind of cell that a kernel takes: its member type CellType, or else Cell.
template <class Kernel>
using CellOf = typename detail::CellOf<Kernel>::type;

/// Whether a kernel takes a cell; others take i, j, k.
template <class Kernel>
inline constexpr bool takes_cell = std::is_invocable_v<const Kernel&, CellOf<Kernel>>;

}  // namespace sluice
