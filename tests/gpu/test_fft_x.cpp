// The transform along x that the build takes for fastest, and our kernels for every length they have, against the plain
// transform.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "core/decomp/field.hpp"
#include "core/support/random.hpp"
#include "poisson/fft/fft.hpp"
#include "poisson/fft/fft_rows.hpp"

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
  for (const int nx : {15, 32, 35, 64, 254, 256, 384, 544, 768, 1536, 8192}) {
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

TEST(FourierXOnGpu, EveryLengthOfOurKernelsAgreesWithPlain) {
  double worst = 0;
  int lengths = 0;
  for (int nx = 32; nx <= 4096; nx += 32) {
    if (row_stages_of(nx).R1 == 0) continue;
    ++lengths;
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
  EXPECT_GT(lengths, 50);
}

TEST(FourierXOnGpu, OtherLengthsHaveNoKernelOfOurs) {
  for (const int nx : {1, 16, 33, 48, 544, 4128, 8192}) EXPECT_FALSE(Rows(nx, 0).has_our_kernel()) << nx;
}

TEST(FourierXOnGpu, ImaginaryPartsOfRealCoefficientsCountForNothing) {
  for (const int nx : {64, 384, 768, 4096}) {
    Rows rows(nx, 0);
    rows.set_imaginary_parts(0, 0);
    const auto right = rows.by_our_kernel(false);
    rows.set_imaginary_parts(7, std::numeric_limits<real>::quiet_NaN());
    EXPECT_EQ(rows.difference(right, rows.by_our_kernel(false), false), 0) << nx;
  }
}

}  // namespace
}  // namespace sluice
