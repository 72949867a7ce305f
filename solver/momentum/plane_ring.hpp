#pragma once
// What a CPU's momentum sweep keeps in cache: three planes of u, v and w around a block of rows, with the periodic
// neighbours at both ends of each row, so that no index along x needs to be wrapped. The velocity here is corrected.
#include <algorithm>
#include <cstddef>

#include "core/device/buffer.hpp"
#include "core/device/parallel_for.hpp"
#include "solver/correction/row_corrector.hpp"

namespace sluice {

/// Values before the first and after the last cell of a padded row; keeps rows aligned to 64 bytes.
inline constexpr int row_padding = 64 / sizeof(real);
static_assert(row_padding >= WideCell::reach);

/// Fills the neighbours at both ends of a padded row from the values in between.
inline void wrap_row(real* row, int nx) {
  for (int n = 1; n <= WideCell::reach; ++n) {
    row[-n] = row[nx - 1 - (n - 1) % nx];
    row[nx - 1 + n] = row[(n - 1) % nx];
  }
}

/// Elements from one padded row to the next.
constexpr std::ptrdiff_t padded_length(int nx) {
  return (nx + row_padding - 1) / row_padding * row_padding + 2 * row_padding;
}

/// Where a padded row has values.
inline IndexBounds padded_bounds(int nx) {
  return IndexBounds().along(0, -WideCell::reach, nx + WideCell::reach);
}

/// A row of values with its periodic neighbours.
class PaddedRow {
 public:
  explicit PaddedRow(int nx) : nx_(nx), values_(static_cast<std::size_t>(padded_length(nx))) {}

  real* begin() { return values_.data() + row_padding; }
  const real* begin() const { return values_.data() + row_padding; }
  void copy(const real* from) {
    std::copy_n(from, nx_, begin());
    wrap();
  }
  void wrap() { wrap_row(begin(), nx_); }
  IndexBounds bounds() const { return padded_bounds(nx_).along(1, 0, 1).along(2, 0, 1); }

 private:
  int nx_;
  Buffer<real> values_;  // aligned
};

/// A field around a row of padded rows in three planes: f(i, j, k) with j and k relative to the row.
struct RowWindow {
  const real *below, *at, *above;
  std::ptrdiff_t stride_y;
  [[no_unique_address]] IndexBounds bounds;
  SLUICE_INLINE real operator()(int i, int j, int k) const {
    bounds.check(i, j, k);
    return (k < 0 ? below : k > 0 ? above : at)[i + j * stride_y];
  }
};

/// u, v and w around one row.
struct VelocityRow {
  RowWindow u, v, w;
  int j, k;
};

/// A field around a row: along x from a padded copy of the row, elsewhere from the array; j and k relative to the row.
struct PaddedAround {
  const real* row;
  const real* at;  ///< the row's first cell in the array
  std::ptrdiff_t stride_y, stride_z;
  [[no_unique_address]] IndexBounds in_row, in_array;
  SLUICE_INLINE real operator()(int i, int j, int k) const {
    (j == 0 && k == 0 ? in_row : in_array).check(i, j, k);
    return j == 0 && k == 0 ? row[i] : at[i + j * stride_y + k * stride_z];
  }
};
inline PaddedAround padded_around(const PaddedRow& row, const View3<const real>& f, int j, int k) {
  return {row.begin(),  f.origin + j * f.stride_y + k * f.stride_z,
          f.stride_y,   f.stride_z,
          row.bounds(), f.bounds().seen_from(0, j, k)};
}

/// Calls body(cell) for a whole row; only `i` of the cell differs, and its neighbours are not wrapped.
template <Order order, class Body>
inline __attribute__((always_inline)) void for_padded_row(int nx, const Body& body) {
#pragma GCC ivdep
  for (int i = 0; i < nx; ++i) body(inner_cell<op::CellFor<order>>(i, 0, 0));
}

/// Three planes of u, v and w around a block of rows.
template <Order order>
class PlaneRing {
 public:
  PlaneRing(const VelocityToCorrect& velocity, const Metrics& metrics, int nx, int max_rows)
      : velocity_(velocity),
        m_(metrics),
        nx_(nx),
        pitch_(padded_length(nx)),
        plane_(pitch_ * (max_rows + std::ptrdiff_t{2} * reach)),
        values_(static_cast<std::size_t>(components * planes * plane_)) {}

  /// Rows of a block that fit a cache of this size, with their neighbours.
  static int rows_that_fit(int nx, std::size_t bytes) {
    const auto row = static_cast<std::size_t>(components * planes * padded_length(nx)) * sizeof(real);
    return static_cast<int>(bytes / row) - 2 * reach;
  }

  /// Moves to the block of rows y0 to y1 and loads planes k - 1 and k, so that k + 1 can follow.
  void begin_block(int y0, int y1, int k) {
    y0_ = y0;
    y1_ = y1;
    load(k - 1);
    load(k);
  }

  /// Loads plane k of the block in the place of plane k - 3.
  void load(int k) {
    for (int j = y0_ - reach; j < y1_ + reach; ++j) {
      load_corrected_row<order>(velocity_, m_, nx_, j, k, {row(0, j, k), row(1, j, k), row(2, j, k)});
      for (int n = 0; n < components; ++n) wrap_row(row(n, j, k), nx_);
    }
  }

  RowWindow u(int j, int k) const { return window(0, j, k); }
  RowWindow v(int j, int k) const { return window(1, j, k); }
  RowWindow w(int j, int k) const { return window(2, j, k); }
  VelocityRow around(int j, int k) const { return {u(j, k), v(j, k), w(j, k), j, k}; }

 private:
  static constexpr std::ptrdiff_t components = 3;
  static constexpr std::ptrdiff_t planes = 3;
  static constexpr int reach = op::CellFor<order>::reach;

  std::ptrdiff_t place(int component, int j, int k) const {
    return (component * planes + (k + planes) % planes) * plane_ + (j - y0_ + reach) * pitch_ + row_padding;
  }
  real* row(int component, int j, int k) { return values_.data() + place(component, j, k); }
  RowWindow window(int component, int j, int k) const {
    const real* const values = values_.data();
    return {values + place(component, j, k - 1), values + place(component, j, k), values + place(component, j, k + 1),
            pitch_, padded_bounds(nx_).along(1, y0_ - reach - j, y1_ + reach - j).along(2, -1, 2)};
  }

  VelocityToCorrect velocity_;
  Metrics m_;
  int nx_, y0_ = 0, y1_ = 0;
  std::ptrdiff_t pitch_, plane_;
  Buffer<real> values_;
};

}  // namespace sluice
