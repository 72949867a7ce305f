#include <type_traits>

#include "core/device/buffer.hpp"
#include "poisson/fft/fft_columns.hpp"
#include "poisson/fft/fftw_plan.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

/// Copies `together` columns at a time into contiguous buffers, so that whole cache lines are read and written.
class Columns : public SplitColumnFourier {
 public:
  Columns(int columns, int length, int planes, const ColumnStrides& from, const ColumnStrides& to)
      : nx_(columns),
        ny_(length),
        nz_(planes),
        from_(from),
        to_(to),
        pitch_((std::ptrdiff_t{length} + 7) / 4 * 4),
        source_(buffer_size()),
        target_(buffer_size()),
        forward_({length, 1, 1}, {}, source_.data(), target_.data(), FFTW_FORWARD),
        backward_({length, 1, 1}, {}, source_.data(), target_.data(), FFTW_BACKWARD) {}

  void transform(const Complex* from, Complex* to, bool forward, const RowsElsewhere& elsewhere) override {
    const FftwPlan& plan = forward ? forward_ : backward_;
    const bool reads = !forward && elsewhere.data != nullptr;
    const bool writes = forward && elsewhere.data != nullptr;
    for (int k = 0; k < nz_; ++k) {
      for (int i = 0; i < nx_; i += together) {
        const Rows source{const_cast<Complex*>(from) + i + k * from_.z, from_.y, reads ? elsewhere : RowsElsewhere{}, i,
                          k};
        const Rows target{to + i + k * to_.z, to_.y, writes ? elsewhere : RowsElsewhere{}, i, k};
        if (nx_ - i >= together) {
          transform_columns(source, target, plan, std::integral_constant<int, together>{});
        } else {
          transform_columns(source, target, plan, nx_ - i);
        }
      }
    }
  }

 private:
  static constexpr int together = 8;

  std::size_t buffer_size() const { return static_cast<std::size_t>(together) * static_cast<std::size_t>(pitch_); }

  /// The rows of some columns of a plane.
  struct Rows {
    Complex* first;
    std::int64_t stride;
    RowsElsewhere others;
    int column, plane;

    Complex* operator[](int row) const {
      if (row < others.first || row >= others.last) return first + row * stride;
      return others.data + column + (row - others.first) * stride + plane * others.plane;
    }
  };

  template <class Count>
  void transform_columns(const Rows& from, const Rows& to, const FftwPlan& plan, Count columns) {
    Complex* const source = source_.data();
    Complex* const target = target_.data();
    for (int j = 0; j < ny_; ++j) {
      const Complex* const row = from[j];
      for (int c = 0; c < columns; ++c) source[c * pitch_ + j] = row[c];
    }
    for (int c = 0; c < columns; ++c) plan.run(source + c * pitch_, target + c * pitch_);
    for (int j = 0; j < ny_; ++j) {
      Complex* const row = to[j];
      for (int c = 0; c < columns; ++c) row[c] = target[c * pitch_ + j];
    }
  }

  int nx_, ny_, nz_;
  ColumnStrides from_, to_;
  std::ptrdiff_t pitch_;  ///< of the buffers' columns: whole cache lines, but no power of two
  Buffer<Complex> source_, target_;
  FftwPlan forward_, backward_;
};

}  // namespace

std::unique_ptr<SplitColumnFourier> SplitColumnFourier::make(int nx, int ny, int nz, const ColumnStrides& from,
                                                             const ColumnStrides& to) {
  return std::make_unique<Columns>(nx, ny, nz, from, to);
}

}  // namespace sluice
