// Transforms of columns on a CPU: a few neighbouring columns at a time, one in each lane of the vector registers.
#include <algorithm>

#include "poisson/fft/fft_columns.hpp"
#include "poisson/fft/lane_stages.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

/// Neighbouring columns in memory, one for each lane.
struct ColumnRows {
  Complex* row_0;
  std::int64_t stride;
  RowsElsewhere others;
  int columns;          ///< fewer than there are lanes at the end of a row
  const Complex* soon;  ///< row 0 of the columns that are needed next

  Complex* row(int n) const {
    if (n < others.first || n >= others.last) return row_0 + n * stride;
    return others.data + (n - others.first) * stride;
  }
};

template <bool whole>
struct LoadRows {
  ColumnRows rows;
  SLUICE_INLINE ComplexLanes load(int n) const {
    const char* const soon = reinterpret_cast<const char*>(rows.soon + n * rows.stride);
    SLUICE_UNROLL
    for (std::size_t byte = 0; byte < 2 * lane_bytes; byte += 64) __builtin_prefetch(soon + byte, 1);
    return whole ? load_lanes(rows.row(n)) : load_lanes(rows.row(n), rows.columns);
  }
};

template <bool whole>
struct StoreRows {
  ColumnRows rows;
  int backward_length;  ///< row n is stored as backward_length - n; 0: as n
  SLUICE_INLINE void store(int n, ComplexLanes z) const {
    Complex* const row = rows.row(n == 0 || backward_length == 0 ? n : backward_length - n);
    whole ? store_lanes(row, z) : store_lanes(row, z, rows.columns);
  }
};

class Columns : public SplitColumnFourier {
 public:
  Columns(int columns, int length, int planes, std::int64_t stride_y, std::int64_t stride_z)
      : nx_(columns), nz_(planes), stride_y_(stride_y), stride_z_(stride_z), stages_(length) {}

  void transform(const Complex* from, Complex* to, bool forward, const RowsElsewhere& elsewhere) override {
    const int backward_length = forward ? 0 : stages_.length();
    for (int k = 0; k < nz_; ++k) {
      const std::ptrdiff_t plane = k * stride_z_;
      const Complex* const next_plane = from + (k + 1 < nz_ ? plane + stride_z_ : plane);
      for (int i = 0; i < nx_; i += lane_count) {
        const int count = std::min(lane_count, nx_ - i);
        const Complex* const soon = i + lane_count < nx_ ? from + plane + i + lane_count : next_plane;
        const RowsElsewhere others = elsewhere.part_of(i, k);
        const ColumnRows source{const_cast<Complex*>(from) + plane + i, stride_y_, forward ? RowsElsewhere{} : others,
                                count, soon};
        const ColumnRows target{to + plane + i, stride_y_, forward ? others : RowsElsewhere{}, count, nullptr};
        if (count == lane_count) {
          stages_.run(LoadRows<true>{source}, StoreRows<true>{target, backward_length});
        } else {
          stages_.run(LoadRows<false>{source}, StoreRows<false>{target, backward_length});
        }
      }
    }
  }

 private:
  int nx_, nz_;
  std::int64_t stride_y_, stride_z_;
  LaneStages stages_;
};

}  // namespace

bool SplitColumnFourier::has_kernel(int /*ny*/) {
  return true;
}

std::unique_ptr<SplitColumnFourier> SplitColumnFourier::make(int nx, int ny, int nz, std::int64_t stride_y,
                                                             std::int64_t stride_z) {
  // With vectors of two numbers FFTW is faster: when it runs, it finds out that the processor has longer ones.
  if (lane_bytes < 32 || !LaneStages::supports(ny)) return fftw_columns(nx, ny, nz, stride_y, stride_z);
  return std::make_unique<Columns>(nx, ny, nz, stride_y, stride_z);
}

}  // namespace sluice
