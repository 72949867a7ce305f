// The transform along y that the build takes for fastest, against the plain one, and our kernels for every length they
// have; the power that they sum.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "core/decomp/view3.hpp"
#include "core/device/buffer.hpp"
#include "core/device/traits.hpp"
#include "core/support/random.hpp"
#include "poisson/fft/column_stages.hpp"
#include "poisson/fft/fft.hpp"
#include "poisson/fft/fft_columns.hpp"
#include "poisson/fft/kernel_lengths.hpp"
#include "poisson/fft/long_column_stages.hpp"
#include "poisson/fft/power_sums.hpp"
#include "tests/support/exact_dft.hpp"

namespace sluice {
namespace {

using Complex = std::complex<real>;

struct Shape {
  int nx, ny, nz, padding_x, padding_y;
};

std::vector<Complex> transformed(const Shape& shape, FourierMethod method, bool backward_too) {
  const int row = shape.nx + shape.padding_x;
  const int rows = shape.ny + shape.padding_y;
  std::vector<Complex> values(static_cast<std::size_t>(row * rows * shape.nz));
  for (std::size_t n = 0; n < values.size(); ++n) {
    values[n] = {static_cast<real>(uniform01(1, n) - 0.5), static_cast<real>(uniform01(2, n) - 0.5)};
  }
  Buffer<Complex> data(values);
  View3<Complex> view = contiguous_view(data.data(), row, rows, shape.nz);
  FourierY fourier(shape.nx, shape.ny, shape.nz, view.stride_y, view.stride_z, method);
  fourier.forward(view);
  if (backward_too) fourier.backward(view);
  device::synchronize();
  return data.download();
}

/// Whether this GPU has the shared memory for our kernel.
bool fits(int ny) {
  const device::Multiprocessors& on = device::multiprocessors();
  if (ny <= kernel_lengths::max_short) return stages_of(ny).shared_bytes() <= on.max_shared_bytes_of_block;
  return long_launch_of(long_stages_of(ny), on, device::max_thread_blocks_together()).parts > 0;
}

/// The lengths of our kernels, on this GPU or on any.
std::vector<int> lengths(bool on_any = false) {
  std::vector<int> found;
  for (int n = 0; n < kernel_lengths::count; ++n) {
    const int ny = kernel_lengths::at(n);
    const bool is_short = ny <= kernel_lengths::max_short;
    if ((is_short ? stages_of(ny).R1 : long_stages_of(ny).R1) > 0 && (on_any || fits(ny))) found.push_back(ny);
  }
  return found;
}

double largest_difference(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  double largest = 0;
  for (std::size_t n = 0; n < a.size(); ++n) largest = std::max(largest, static_cast<double>(std::abs(a[n] - b[n])));
  return largest;
}

TEST(FourierYOnGpu, FastestAgreesWithPlain) {
  for (const Shape& shape :
       {Shape{33, 32, 5, 7, 2}, Shape{65, 48, 3, 0, 0}, Shape{10, 35, 4, 2, 2}, Shape{9, 29, 2, 3, 2},
        Shape{129, 384, 2, 7, 2}, Shape{5, 1, 3, 3, 2}, Shape{17, 97, 2, 1, 2}, Shape{1, 16, 3, 3, 2},
        Shape{3, 4096, 2, 1, 2}, Shape{9, 7168, 1, 3, 2}, Shape{5, 6912, 1, 3, 2}}) {
    const auto plain = transformed(shape, FourierMethod::plain, false);
    const auto fastest = transformed(shape, FourierMethod::fastest, false);
    const double difference = largest_difference(plain, fastest);
    std::printf("%d x %d x %d: largest difference %.2e\n", shape.nx, shape.ny, shape.nz, difference);
    EXPECT_LE(difference, 64 * real_epsilon * std::sqrt(shape.ny));
  }
}

TEST(FourierYOnGpu, ForwardAndBackwardGiveNyTimesTheInput) {
  const Shape shape{33, 48, 3, 7, 2};
  const auto once = transformed(shape, FourierMethod::fastest, true);
  const auto plain = transformed(shape, FourierMethod::plain, true);
  EXPECT_LE(largest_difference(once, plain), 64 * real_epsilon * shape.ny);
}

/// Whether transforms that leave these rows of the coefficients in another array, or take them from there, give the
/// bits of those that do not.
void expect_the_bits_of_whole(int ny, int first, int last) {
  constexpr int nx = 21, nz = 2, pad = 3;
  const std::int64_t plane = std::int64_t{nx} * ny, other_plane = nx * (last - first) + pad;
  const auto columns = SplitColumnFourier::make(nx, ny, nz, nx, plane);
  ASSERT_NE(columns, nullptr);
  std::vector<Complex> values(static_cast<std::size_t>(nz * plane));
  for (std::size_t n = 0; n < values.size(); ++n)
    values[n] = {static_cast<real>(uniform01(1, n) - 0.5), static_cast<real>(uniform01(2, n) - 0.5)};
  const Buffer<Complex> source(values);
  Buffer<Complex> whole(values), here(values), there(static_cast<std::size_t>(nz * other_plane));
  columns->run(source.data(), whole.data(), true);
  const RowsElsewhere rows{there.data(), first, last, other_plane};
  columns->transform(source.data(), here.data(), true, rows);
  std::vector<Complex> found = here.download();
  const std::vector<Complex> moved = there.download();
  for (std::int64_t k = 0; k < nz; ++k) {
    for (std::int64_t n = 0; n < nx * (last - first); ++n) {
      found[static_cast<std::size_t>(k * plane + first * nx + n)] =
          moved[static_cast<std::size_t>(k * other_plane + n)];
    }
  }
  EXPECT_EQ(found, whole.download()) << "forward";
  Buffer<Complex> wanted(values), back(values);
  columns->run(whole.data(), wanted.data(), false);
  columns->transform(here.data(), back.data(), false, rows);
  EXPECT_EQ(back.download(), wanted.download()) << "backward";
}

TEST(FourierYOnGpu, EveryLengthOfOurKernelsMayKeepRowsElsewhere) {
  for (const int ny : lengths()) {
    SCOPED_TRACE("length " + std::to_string(ny));
    expect_the_bits_of_whole(ny, 0, ny / 2);
    expect_the_bits_of_whole(ny, ny / 3, 2 * ny / 3);
    expect_the_bits_of_whole(ny, ny - 5, ny);
  }
}

TEST(FourierYOnGpu, EveryLengthOfOurKernelsAgreesWithPlain) {
  double worst = 0;
  for (const int ny : lengths()) {
    const Shape shape{21, ny, 2, 3, 2};  // 21 columns: the last block of threads has some to spare
    ASSERT_NE(SplitColumnFourier::make(shape.nx, ny, shape.nz, 24, 24 * (ny + 2)), nullptr) << "length " << ny;
    for (const bool backward_too : {false, true}) {
      const double scale = std::sqrt(ny) * (backward_too ? std::sqrt(ny) : 1);
      const double difference = largest_difference(transformed(shape, FourierMethod::plain, backward_too),
                                                   transformed(shape, FourierMethod::fastest, backward_too));
      EXPECT_LE(difference, 32 * real_epsilon * scale) << "length " << ny;
      worst = std::max(worst, difference / scale / real_epsilon);
    }
  }
  std::printf("%zu lengths, largest difference %.1f epsilon\n", lengths().size(), worst);
  EXPECT_EQ(lengths(true).size(), 61U);
}

/// In each column two modes, different ones in every column and plane, so that every other coefficient is 0.
class Modes {
 public:
  static constexpr int nx = 7, nz = 2;
  static constexpr long double of_high = 0.25L;

  explicit Modes(int ny) : ny_(ny), roots_(test::roots_of_unity(ny, 1)) {}

  int low(int i, int k) const { return 1 + 2 * i + 37 * k; }
  int high(int i, int k) const { return static_cast<int>(ny_) - 5 * i - 11 * k - 2; }
  std::size_t at(int i, std::int64_t y, int k) const { return static_cast<std::size_t>((k * ny_ + y) * nx + i); }

  std::vector<Complex> values() const {
    std::vector<Complex> values(static_cast<std::size_t>(nx * ny_ * nz));
    for_each_column([&](int i, int k) {
      for (std::int64_t y = 0; y < ny_; ++y) {
        const auto root = [&](std::int64_t mode) { return roots_[static_cast<std::size_t>(mode * y % ny_)]; };
        const test::Exact sum = root(low(i, k)) + of_high * root(high(i, k));
        values[at(i, y, k)] = {static_cast<real>(sum.real()), static_cast<real>(sum.imag())};
      }
    });
    return values;
  }

  template <class Function>
  static void for_each_column(const Function& function) {
    for (int k = 0; k < nz; ++k) {
      for (int i = 0; i < nx; ++i) function(i, k);
    }
  }

 private:
  std::int64_t ny_;
  std::vector<test::Exact> roots_;
};

TEST(FourierYOnGpu, ModesAreExactForEveryLengthOfOurKernels) {
  for (const int ny : lengths()) {
    if (ny < 144) continue;  // all modes must differ
    const Modes modes(ny);
    std::vector<Complex> expected(static_cast<std::size_t>(Modes::nx * ny * Modes::nz));
    Modes::for_each_column([&](int i, int k) {
      expected[modes.at(i, modes.low(i, k), k)] += static_cast<real>(ny);
      expected[modes.at(i, modes.high(i, k), k)] += static_cast<real>(Modes::of_high * ny);
    });
    const auto columns = SplitColumnFourier::make(Modes::nx, ny, Modes::nz, Modes::nx, Modes::nx * ny);
    ASSERT_NE(columns, nullptr) << ny;
    Buffer<Complex> data(modes.values());
    columns->run(data.data(), data.data(), true);
    EXPECT_LE(largest_difference(data.download(), expected), 4 * real_epsilon * ny) << ny;
    columns->run(data.data(), data.data(), false);
    std::vector<Complex> back = data.download();
    for (Complex& value : back) value /= static_cast<real>(ny);
    EXPECT_LE(largest_difference(back, modes.values()), 16 * real_epsilon) << ny;
  }
}

TEST(FourierYOnGpu, PowerOfModesIsExactForEveryLengthOfOurKernels) {
  constexpr int nx = Modes::nx, nz = Modes::nz;
  const std::vector<int> planes{1, 0, 1};
  constexpr int first_kx = 3, cells_x = 2 * (first_kx + nx - 1);  // kx = 3 ... 9 of 0 ... 9
  for (const int ny : lengths()) {
    if (ny < 144) continue;
    const Modes modes(ny);
    const int count = ny / 2 + 1;
    std::vector<double> along_x(nz * nx), along_y(static_cast<std::size_t>(nz * count)),
        of_planes(planes.size() * static_cast<std::size_t>(count * nx));
    Modes::for_each_column([&](int i, int k) {
      const double weight = (2 * (first_kx + i) == cells_x ? 1.0 : 2.0) / (cells_x * cells_x);
      for (const bool is_high : {false, true}) {
        const int ky = is_high ? modes.high(i, k) : modes.low(i, k);
        const double power = weight * (is_high ? static_cast<double>(Modes::of_high * Modes::of_high) : 1.0);
        const int m = std::min(ky, ny - ky);
        along_x[static_cast<std::size_t>(k * nx + i)] += power;
        along_y[static_cast<std::size_t>(k * count + m)] += power;
        for (std::size_t n = 0; n < planes.size(); ++n) {
          if (planes[n] == k)
            of_planes[(n * static_cast<std::size_t>(count) + static_cast<std::size_t>(m)) * nx +
                      static_cast<std::size_t>(i)] += power;
        }
      }
    });
    const auto transform = PowerTransform::make({{first_kx, 0, 0}, {first_kx + nx, ny, nz}}, cells_x);
    ASSERT_NE(transform, nullptr) << ny;
    Buffer<Complex> data(modes.values());
    Buffer<double> found_x(along_x.size()), found_y(along_y.size()), found_planes(of_planes.size());
    const Buffer<int> on_planes(planes);
    transform->run(contiguous_view(data.data(), nx, ny, nz), {found_x.data(), found_y.data(), found_planes.data(),
                                                              on_planes.data(), static_cast<int>(planes.size())});
    device::synchronize();
    const auto expect = [&](const char* what, const std::vector<double>& found, const std::vector<double>& exact) {
      double worst = 0;
      for (std::size_t n = 0; n < exact.size(); ++n) worst = std::max(worst, std::abs(found[n] - exact[n]));
      EXPECT_LE(worst, 16 * real_epsilon * 2 / (cells_x * cells_x)) << what << ", length " << ny;
    };
    expect("along x", found_x.download(), along_x);
    expect("along y", found_y.download(), along_y);
    expect("of planes", found_planes.download(), of_planes);
  }
}

}  // namespace
}  // namespace sluice
