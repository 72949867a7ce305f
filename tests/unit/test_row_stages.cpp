// The stages of the transforms along x on GPUs, run on the host with the indices of fft_rows_kernel.hpp, against the
// sums that define them, and how lengths are cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "poisson/fft/kernel_lengths.hpp"
#include "poisson/fft/row_stages.hpp"
#include "poisson/fft/small_dft.hpp"
#include "tests/unit/roots_and_noise.hpp"

namespace sluice {
namespace {

/// One row in shared memory, in a block's place `row` of it. NaN where nothing was written.
template <int Length>
class Row {
 public:
  static constexpr RowStages s = row_stages_of(Length);
  static constexpr int N = Length / 2;

  explicit Row(int row)
      : numbers_(static_cast<std::size_t>(s.rows * s.row()), {real_nan, real_nan}),
        z_(numbers_.data() + row * s.row()) {}

  std::vector<ComplexPair> forward(const std::vector<ComplexPair>& in) {
    for (int m = 0; m < N; ++m) at_before(m) = in[static_cast<std::size_t>(m)];
    stages();
    std::vector<ComplexPair> out(static_cast<std::size_t>(N) + 1);
    for (int k = 0; k < N / 2; ++k) {
      const ComplexPair at_k = at_after(k);
      const ComplexPair mirror = conjugate(k == 0 ? z_[0] : at_after(N - k));
      const ComplexPair even = ComplexPair{0.5, 0} * (at_k + mirror);
      const ComplexPair odd = rounded(root(k, Length)) * quarter_turn(ComplexPair{0.5, 0} * (at_k - mirror));
      out[static_cast<std::size_t>(k)] = even + odd;
      out[static_cast<std::size_t>(N - k)] = conjugate(even - odd);
    }
    out[static_cast<std::size_t>(N / 2)] = conjugate(at_after(N / 2));
    return out;
  }

  std::vector<ComplexPair> backward(const std::vector<ComplexPair>& in) {
    for (int k = 0; k < N / 2; ++k) {
      ComplexPair at_k = in[static_cast<std::size_t>(k)];
      ComplexPair mirror = conjugate(in[static_cast<std::size_t>(N - k)]);
      if (k == 0) at_k.im = mirror.im = 0;
      const ComplexPair even = at_k + mirror;
      const ComplexPair odd = quarter_turn(conjugate(rounded(root(k, Length))) * (at_k - mirror));
      at_before(k) = exchanged(even - odd);
      if (k > 0) at_before(N - k) = exchanged(conjugate(even + odd));
    }
    at_before(N / 2) = exchanged(ComplexPair{2, 0} * conjugate(in[static_cast<std::size_t>(N / 2)]));
    stages();
    std::vector<ComplexPair> out(static_cast<std::size_t>(N));
    for (int m = 0; m < N; ++m) out[static_cast<std::size_t>(m)] = exchanged(at_after(m));
    return out;
  }

 private:
  static constexpr real real_nan = std::numeric_limits<real>::quiet_NaN();

  ComplexPair& at_before(int m) { return z_[s.place_before(m)]; }
  ComplexPair& at_after(int k) { return z_[s.place_after(k)]; }

  template <int Radix>
  static void transform(ComplexPair* at, int step, ComplexPair w) {
    ComplexPair v[Radix];
    for (int m = 0; m < Radix; ++m) v[m] = at[m * step];
    SmallDft<Radix>::run(v);
    apply_twiddles<Radix>(v, w);
    for (int m = 0; m < Radix; ++m) at[m * step] = v[m];
  }

  void stages() {
    for (int n = 0; n < s.R2 * s.R3; ++n) transform<s.R1>(z_ + n, s.layer(), rounded(root(2 * n, Length)));
    for (int n = 0; n < s.R1 * s.R3; ++n) {
      const int n3 = n / s.R1;
      transform<s.R2>(z_ + n % s.R1 * s.layer() + n3, s.R3, rounded(root(2 * s.R1 * n3, Length)));
    }
    for (int k = 0; k < s.R1 * s.R2; ++k) {
      SmallDft<s.R3>::run(z_ + k % s.R1 * s.layer() + k / s.R1 * s.R3);
    }
  }

  std::vector<ComplexPair> numbers_;
  ComplexPair* z_;
};

/// x_2m, x_2m+1 in pairs, to X_k for k = 0 to nx / 2.
double forward_error(const std::vector<ComplexPair>& in, const std::vector<ComplexPair>& out) {
  const int nx = 2 * static_cast<int>(in.size());
  const std::vector<Exact> all = roots(nx);
  double error = 0;
  for (int k = 0; k <= nx / 2; ++k) {
    Exact sum = 0;
    for (int m = 0; m < nx / 2; ++m) {
      const ComplexPair pair = in[static_cast<std::size_t>(m)];
      sum += Exact{pair.re} * all[static_cast<std::size_t>(2LL * m * k % nx)] +
             Exact{pair.im} * all[static_cast<std::size_t>((2LL * m + 1) * k % nx)];
    }
    error = std::max(error, distance(sum, out[static_cast<std::size_t>(k)]));
  }
  return error;
}

/// X_k for k = 0 to nx / 2, of which the first and the last are taken for real, to x_2m, x_2m+1 in pairs.
double backward_error(const std::vector<ComplexPair>& in, const std::vector<ComplexPair>& out) {
  const int nx = 2 * static_cast<int>(out.size());
  const std::vector<Exact> all = roots(nx);
  double error = 0;
  for (int i = 0; i < nx; ++i) {
    long double sum = in.front().re + (i % 2 == 0 ? 1 : -1) * static_cast<long double>(in.back().re);
    for (int k = 1; k < nx / 2; ++k) {
      const Exact turn = std::conj(all[static_cast<std::size_t>(1LL * i * k % nx)]);
      sum += 2 * (exact(in[static_cast<std::size_t>(k)]) * turn).real();
    }
    const ComplexPair pair = out[static_cast<std::size_t>(i / 2)];
    error = std::max(error, static_cast<double>(std::abs(sum - (i % 2 == 0 ? pair.re : pair.im))));
  }
  return error;
}

template <int Length>
void expect_the_defining_sums() {
  const double tolerance = 16 * real_epsilon * std::sqrt(Length);
  for (const int row : {0, Row<Length>::s.rows - 1}) {
    const auto values = noise(Length / 2);
    EXPECT_LE(forward_error(values, Row<Length>(row).forward(values)), tolerance) << Length;
    const auto coefficients = noise(Length / 2 + 1);
    EXPECT_LE(backward_error(coefficients, Row<Length>(row).backward(coefficients)), tolerance) << Length;
  }
}

TEST(RowStages, TransformALengthTogether) {
  expect_the_defining_sums<32>();    // 4 x 4
  expect_the_defining_sums<96>();    // 8 x 6
  expect_the_defining_sums<384>();   // 16 x 12
  expect_the_defining_sums<480>();   // 16 x 15
  expect_the_defining_sums<672>();   // 8 x 7 x 6
  expect_the_defining_sums<1536>();  // 8 x 12 x 8
  expect_the_defining_sums<2400>();  // 12 x 10 x 10
  expect_the_defining_sums<7168>();  // 16 x 14 x 16
}

TEST(RowStages, FitTheLengthAndTheMachine) {
  int lengths = 0;
  for (int n = 0; n < kernel_lengths::count; ++n) {
    const int length = 2 * kernel_lengths::at(n);
    const RowStages s = row_stages_of(length);
    if (s.R1 == 0) continue;
    ++lengths;
    EXPECT_EQ(2 * s.length(), length);
    EXPECT_TRUE(is_radix(s.R1) && is_radix(s.R2) && is_radix(s.R3)) << length;
    EXPECT_GE(s.rows, 1) << length;
    EXPECT_EQ(s.threads % 32, 0) << length;
    EXPECT_GE(s.threads, 128) << length;
    EXPECT_GE(s.resident, row_stages::min_resident) << length;
    EXPECT_LE(s.threads * s.resident, threads_that_fit(s.largest())) << length;
    const bool is_long = row_stages::min_resident * sizeof(ComplexPair) * static_cast<std::size_t>(s.row()) >
                         row_stages::row_bytes_in_flight;
    EXPECT_LE(s.shared_bytes() * static_cast<std::size_t>(s.resident),
              is_long ? row_stages::long_row_bytes_in_flight : row_stages::row_bytes_in_flight)
        << length;
    EXPECT_EQ(s.layer() % 2, 1) << length;
    std::vector<int> before, after;
    for (int m = 0; m < s.length(); ++m) {
      before.push_back(s.place_before(m));
      after.push_back(s.place_after(m));
    }
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    EXPECT_EQ(before, after) << length;
    EXPECT_EQ(std::adjacent_find(before.begin(), before.end()), before.end()) << length;
    EXPECT_LT(before.back(), s.row()) << length;
  }
  EXPECT_EQ(lengths, 56);
  EXPECT_EQ(row_stages_of(33).R1, 0);
  EXPECT_EQ(row_stages_of(2 * 17 * 16).R1, 0);
}

/// Where R1 is a multiple of 8, eight neighbouring threads of a stage reach for eight different parts of the banks.
TEST(RowStages, SpreadOverTheBanks) {
  const auto differ = [](int first, int step) {
    unsigned seen = 0;
    for (int lane = 0; lane < 8; ++lane) seen |= 1U << ((first + lane * step) % 8);
    return seen == 0xFF;
  };
  for (int n = 0; n < kernel_lengths::count; ++n) {
    const int length = 2 * kernel_lengths::at(n);
    const RowStages s = row_stages_of(length);
    if (s.R1 == 0 || s.R1 % 8 != 0) continue;
    for (int k = 0; k < s.R1 * s.R2; k += 8) EXPECT_TRUE(differ(s.place_after(k), s.layer())) << length;
    EXPECT_EQ((s.row() - s.R2 * s.R3) % 8, 0) << length;
  }
}

}  // namespace
}  // namespace sluice
