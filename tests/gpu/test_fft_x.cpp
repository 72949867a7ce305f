// The transform along x that the build takes for fastest, and our kernels for every length they have, against the plain
// transform.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include "core/decomp/field.hpp"
#include "core/device/buffer.hpp"
#include "core/device/traits.hpp"
#include "core/support/random.hpp"
#include "poisson/fft/fft.hpp"
#include "poisson/fft/fft_rows.hpp"
#include "poisson/fft/kernel_lengths.hpp"
#include "poisson/fft/row_stages.hpp"
#include "tests/support/exact_dft.hpp"

namespace sluice {
namespace {

/// 5 rows in each of 3 planes, and the 4 between them: 19, so that the last block of threads has some to spare.
class Rows {
 public:
  Rows(int nx, int padding)
      : nx_(nx), box_(box_of(nx, 5, 3)), field_(box_, Location::center, 2 * (nx / 2 + 1) + padding) {
    values_.resize(field_.buffer().size());
    for (std::size_t n = 0; n < values_.size(); ++n) values_[n] = static_cast<real>(uniform01(1, n) - 0.5);
  }

  /// Imaginary parts of the first and the last coefficient, nx even.
  void set_imaginary_parts(real first, real last) {
    const auto row = static_cast<std::size_t>(field_.row_length());
    for (std::size_t at = 0; at < values_.size(); at += row) {
      values_[at + 1] = first;
      values_[at + static_cast<std::size_t>(nx_) + 1] = last;
    }
  }

  std::vector<real> by_fourier_x(FourierMethod method, bool forward) {
    FourierX fourier(box_, field_.row_length(), method);
    return transformed([&] { forward ? fourier.forward(field_) : fourier.backward(field_); });
  }

  std::vector<real> by_our_kernel(bool forward) {
    const auto fourier = RowFourier::make(nx_, 19, field_.row_length());
    real* const first = field_.view().origin;
    return transformed([&] { forward ? fourier->forward(first) : fourier->backward(first); });
  }

  bool has_our_kernel() const { return RowFourier::make(nx_, 19, field_.row_length()) != nullptr; }

  /// Largest difference of two results. Forward: over all coefficients of all 19 rows; backward: over their values.
  double difference(const std::vector<real>& a, const std::vector<real>& b, bool forward) const {
    const auto row = static_cast<std::size_t>(field_.row_length());
    const auto in_row = static_cast<std::size_t>(forward ? 2 * (nx_ / 2 + 1) : nx_);
    const auto first = static_cast<std::size_t>(field_.row_length() + field_.plane_length());
    double largest = 0;
    for (std::size_t j = 0; j < 19; ++j) {
      for (std::size_t i = 0; i < in_row; ++i) {
        const std::size_t at = first + j * row + i;
        const double apart = std::abs(static_cast<double>(a[at]) - static_cast<double>(b[at]));
        if (!(apart <= largest)) largest = apart;  // NaN counts
      }
    }
    return largest;
  }

  /// Whether a result has the values of before outside of the 19 rows, and in their padding.
  bool left_the_rest(const std::vector<real>& result) const {
    const auto row = static_cast<std::size_t>(field_.row_length());
    const auto first = static_cast<std::size_t>(field_.row_length() + field_.plane_length());
    for (std::size_t at = 0; at < result.size(); ++at) {
      const bool in_rows = at >= first && at < first + 19 * row && at % row < static_cast<std::size_t>(nx_) + 2;
      if (!in_rows && result[at] != values_[at]) return false;
    }
    return true;
  }

 private:
  template <class Transform>
  std::vector<real> transformed(const Transform& transform) {
    field_.buffer().upload(values_);
    transform();
    device::synchronize();
    return field_.buffer().download();
  }

  int nx_;
  Box3 box_;
  Field field_;
  std::vector<real> values_;
};

TEST(FourierXOnGpu, FastestAgreesWithPlain) {
  for (const int nx : {15, 32, 35, 64, 254, 256, 384, 544, 768, 1536, 6912, 7168, 8192}) {
    for (const int padding : {0, 6}) {
      Rows rows(nx, padding);
      if (nx % 2 == 0) rows.set_imaginary_parts(0, 0);
      for (const bool forward : {true, false}) {
        const double difference = rows.difference(rows.by_fourier_x(FourierMethod::plain, forward),
                                                  rows.by_fourier_x(FourierMethod::fastest, forward), forward);
        EXPECT_LE(difference, 32 * real_epsilon * std::sqrt(nx)) << "length " << nx << ", padding " << padding;
      }
    }
  }
}

/// Whether this GPU has the shared memory for our kernel.
bool fits(int nx) {
  return row_stages_of(nx).shared_bytes() <= device::multiprocessors().max_shared_bytes_of_block;
}

TEST(FourierXOnGpu, EveryLengthOfOurKernelsAgreesWithPlain) {
  double worst = 0;
  int lengths = 0;
  for (int n = 0; n < kernel_lengths::count; ++n) {
    const int nx = 2 * kernel_lengths::at(n);
    if (row_stages_of(nx).R1 == 0) continue;
    ++lengths;
    if (!fits(nx)) continue;
    for (const int padding : {0, 6}) {
      Rows rows(nx, padding);
      ASSERT_TRUE(rows.has_our_kernel()) << nx;
      rows.set_imaginary_parts(0, 0);
      for (const bool forward : {true, false}) {
        const auto ours = rows.by_our_kernel(forward);
        const double difference =
            rows.difference(rows.by_fourier_x(FourierMethod::plain, forward), ours, forward) / std::sqrt(nx);
        EXPECT_LE(difference, 32 * real_epsilon) << "length " << nx << ", padding " << padding;
        EXPECT_TRUE(rows.left_the_rest(ours)) << "length " << nx << ", padding " << padding;
        worst = std::max(worst, difference / real_epsilon);
      }
    }
  }
  std::printf("%d lengths, largest difference %.1f epsilon\n", lengths, worst);
  EXPECT_EQ(lengths, 56);
}

/// In row j two modes, one of them with a phase; every other coefficient is 0. Backward, nx times the row.
TEST(FourierXOnGpu, ModesOfLongRowsAreExact) {
  for (const int nx : {3072, 3456, 4096, 5120, 6144, 7168, 8192}) {
    if (!fits(nx)) continue;
    constexpr int rows = 7;
    const std::int64_t row_length = nx + 2;
    const std::vector<test::Exact> roots = test::roots_of_unity(nx, 1);
    const auto root = [&](std::int64_t k) { return roots[static_cast<std::size_t>(k % nx)]; };
    const auto low = [](int j) { return 1 + 5 * j; };
    const auto high = [&](int j) { return nx / 2 - 3 * j; };
    const long double amplitude = 0.5L;
    std::vector<real> values(static_cast<std::size_t>(rows * row_length));
    std::vector<test::Exact> expected(values.size() / 2);
    for (int j = 0; j < rows; ++j) {
      for (std::int64_t i = 0; i < nx; ++i) {
        const long double wave = root(low(j) * i + nx / 8).real() + amplitude * root(high(j) * i).real();
        values[static_cast<std::size_t>(j * row_length + i)] = static_cast<real>(wave);
      }
      const auto row = static_cast<std::size_t>(j * row_length / 2);
      expected[row + static_cast<std::size_t>(low(j))] = static_cast<long double>(nx) / 2 * root(nx / 8);
      expected[row + static_cast<std::size_t>(high(j))] = amplitude * static_cast<long double>(j == 0 ? nx : nx / 2);
    }
    Buffer<real> data(values);
    const auto fourier = RowFourier::make(nx, rows, row_length);
    ASSERT_NE(fourier, nullptr) << nx;
    fourier->forward(data.data());
    device::synchronize();
    const std::vector<real> found = data.download();
    long double worst = 0;
    for (std::size_t n = 0; n < expected.size(); ++n)
      worst = std::max(worst, std::abs(expected[n] - test::Exact(found[2 * n], found[2 * n + 1])));
    EXPECT_LE(worst, 4 * real_epsilon * nx) << nx;
    fourier->backward(data.data());
    device::synchronize();
    const std::vector<real> back = data.download();
    double apart = 0;
    for (std::int64_t n = 0; n < rows * row_length; ++n) {
      if (n % row_length >= nx) continue;
      const auto at = static_cast<std::size_t>(n);
      apart = std::max(apart, std::abs(static_cast<double>(back[at]) / nx - static_cast<double>(values[at])));
    }
    EXPECT_LE(apart, 2 * std::log2(nx) * real_epsilon) << nx;  // some round-off in each stage, both ways
  }
}

TEST(FourierXOnGpu, OtherLengthsHaveNoKernelOfOurs) {
  for (const int nx : {1, 16, 33, 48, 544, 4128, 6912, 16384}) EXPECT_FALSE(Rows(nx, 0).has_our_kernel()) << nx;
}

TEST(FourierXOnGpu, ImaginaryPartsOfRealCoefficientsCountForNothing) {
  for (const int nx : {64, 384, 768, 4096, 7168}) {
    Rows rows(nx, 0);
    rows.set_imaginary_parts(0, 0);
    const auto right = rows.by_our_kernel(false);
    rows.set_imaginary_parts(7, std::numeric_limits<real>::quiet_NaN());
    EXPECT_EQ(rows.difference(right, rows.by_our_kernel(false), false), 0) << nx;
  }
}

}  // namespace
}  // namespace sluice
