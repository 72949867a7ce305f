#include "poisson/fft/fft_columns.hpp"

#include <type_traits>

#include "core/device/buffer.hpp"
#include "poisson/fft/fftw_plan.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

/// Copies `together` columns at a time into contiguous buffers, so that whole cache lines are read and written.
class Columns : public SplitColumnFourier {
 public:
  Columns(int columns, int length, int planes, std::int64_t stride_y, std::int64_t stride_z)
      : nx_(columns),
        ny_(length),
        nz_(planes),
        stride_y_(stride_y),
        stride_z_(stride_z),
        pitch_((std::ptrdiff_t{length} + 7) / 4 * 4),
        source_(buffer_size()),
        target_(buffer_size()),
        forward_({length, 1, 1}, {}, source_.data(), target_.data(), FFTW_FORWARD),
        backward_({length, 1, 1}, {}, source_.data(), target_.data(), FFTW_BACKWARD) {}

  void transform(const Complex* from, Complex* to, bool forward, const RowsElsewhere& elsewhere) override {
    const FftwPlan& plan = forward ? forward_ : backward_;
    for (int k = 0; k < nz_; ++k) {
      for (int i = 0; i < nx_; i += together) {
        const std::ptrdiff_t first = i + k * stride_z_;
        const Rows source{const_cast<Complex*>(from) + first, stride_y_, {}};
        const Rows target{to + first, stride_y_, {}};
        const Rows split{(forward ? target : source).row_0, stride_y_, elsewhere.part_of(i, k)};
        const auto run = [&](auto columns) {
          transform_columns(forward ? source : split, forward ? split : target, plan, columns);
        };
        if (nx_ - i >= together) {
          run(std::integral_constant<int, together>{});
        } else {
          run(nx_ - i);
        }
      }
    }
  }

 private:
  static constexpr int together = 8;

  std::size_t buffer_size() const { return static_cast<std::size_t>(together) * static_cast<std::size_t>(pitch_); }

  /// The rows of neighbouring columns.
  struct Rows {
    Complex* row_0;
    std::int64_t stride;
    RowsElsewhere others;

    Complex* operator[](int row) const {
      if (row < others.first || row >= others.last) return row_0 + row * stride;
      return others.data + (row - others.first) * stride;
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
  std::int64_t stride_y_, stride_z_;
  std::ptrdiff_t pitch_;  ///< of the buffers' columns: whole cache lines, but no power of two
  Buffer<Complex> source_, target_;
  FftwPlan forward_, backward_;
};

}  // namespace

std::unique_ptr<SplitColumnFourier> fftw_columns(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z) {
  return std::make_unique<Columns>(nx, ny, nz, stride_y, stride_z);
}

}  // namespace sluice
