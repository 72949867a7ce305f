// The transform along y that the build takes for fastest, against the plain one.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "core/decomp/view3.hpp"
#include "core/device/buffer.hpp"
#include "core/support/random.hpp"
#include "poisson/fft/column_stages.hpp"
#include "poisson/fft/fft.hpp"
#include "poisson/fft/fft_columns.hpp"

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

double largest_difference(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  double largest = 0;
  for (std::size_t n = 0; n < a.size(); ++n) largest = std::max(largest, static_cast<double>(std::abs(a[n] - b[n])));
  return largest;
}

TEST(FourierYOnGpu, FastestAgreesWithPlain) {
  for (const Shape& shape :
       {Shape{33, 32, 5, 7, 2}, Shape{65, 48, 3, 0, 0}, Shape{10, 35, 4, 2, 2}, Shape{9, 29, 2, 3, 2},
        Shape{129, 384, 2, 7, 2}, Shape{5, 1, 3, 3, 2}, Shape{17, 97, 2, 1, 2}, Shape{1, 16, 3, 3, 2},
        Shape{3, 4096, 2, 1, 2}, Shape{9, 7168, 1, 3, 2}}) {
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
  for (int ny = 16; ny <= 2048; ny += 16) {
    if (stages_of(ny).R1 == 0) continue;
    SCOPED_TRACE("length " + std::to_string(ny));
    expect_the_bits_of_whole(ny, 0, ny / 2);
    expect_the_bits_of_whole(ny, ny / 3, 2 * ny / 3);
    expect_the_bits_of_whole(ny, ny - 5, ny);
  }
}

TEST(FourierYOnGpu, EveryLengthOfOurKernelsAgreesWithPlain) {
  double worst = 0;
  int lengths = 0;
  for (int ny = 16; ny <= 2048; ny += 16) {
    if (stages_of(ny).R1 == 0) continue;
    ++lengths;
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
  std::printf("%d lengths, largest difference %.1f epsilon\n", lengths, worst);
  EXPECT_GT(lengths, 50);
}

}  // namespace
}  // namespace sluice
