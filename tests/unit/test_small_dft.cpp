// The butterflies of the transforms on GPUs, and the stages along y, against the sum that defines them, and how lengths
// are cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "poisson/fft/column_stages.hpp"
#include "poisson/fft/small_dft.hpp"
#include "tests/unit/roots_and_noise.hpp"

namespace sluice {
namespace {

/// Largest distance of `out` from the transform of `in`.
double error_of(const std::vector<ComplexPair>& in, const std::vector<ComplexPair>& out) {
  const int length = static_cast<int>(in.size());
  const std::vector<Exact> all = roots(length);
  double error = 0;
  for (int k = 0; k < length; ++k) {
    Exact sum = 0;
    for (int n = 0; n < length; ++n) {
      sum += exact(in[static_cast<std::size_t>(n)]) * all[static_cast<std::size_t>(1LL * k * n % length)];
    }
    error = std::max(error, distance(sum, out[static_cast<std::size_t>(k)]));
  }
  return error;
}

template <int N>
double error_of_dft() {
  const auto in = noise(N);
  auto out = in;
  SmallDft<N>::run(out.data());
  return error_of(in, out);
}

TEST(SmallDft, IsTheSumThatDefinesIt) {
  const std::vector<double> errors = {error_of_dft<1>(),  error_of_dft<2>(),  error_of_dft<3>(),  error_of_dft<4>(),
                                      error_of_dft<5>(),  error_of_dft<6>(),  error_of_dft<7>(),  error_of_dft<8>(),
                                      error_of_dft<9>(),  error_of_dft<10>(), error_of_dft<12>(), error_of_dft<14>(),
                                      error_of_dft<15>(), error_of_dft<16>()};
  for (std::size_t n = 0; n < errors.size(); ++n) EXPECT_LE(errors[n], 8 * real_epsilon) << "transform " << n;
}

TEST(SmallDft, TurnsByPowers) {
  ComplexPair v[16];
  for (ComplexPair& value : v) value = {1, 0};
  apply_twiddles<16>(v, rounded(root(5, 768)));
  for (int k = 0; k < 16; ++k) EXPECT_LE(distance(root(5 * k, 768), v[k]), 8 * real_epsilon) << k;
}

/// The three stages of fft_columns_cuda.cpp for one column, in their order, with the same indices.
template <int Length>
std::vector<ComplexPair> in_stages(const std::vector<ComplexPair>& in) {
  constexpr ColumnStages s = stages_of(Length);
  const auto power = [](int n) { return rounded(root(n, Length)); };
  std::vector<ComplexPair> values(static_cast<std::size_t>(s.R1 * s.layer()));
  for (int n = 0; n < s.R2 * s.R3; ++n) {
    ComplexPair v[s.R1];
    for (int m = 0; m < s.R1; ++m) v[m] = in[static_cast<std::size_t>(m * s.R2 * s.R3 + n)];
    SmallDft<s.R1>::run(v);
    apply_twiddles<s.R1>(v, power(n));
    for (int m = 0; m < s.R1; ++m) {
      values[static_cast<std::size_t>(n / s.R3 * s.group() + n % s.R3 + m * s.layer())] = v[m];
    }
  }
  for (int n = 0; n < s.R1 * s.R3; ++n) {
    ComplexPair* const at = &values[static_cast<std::size_t>(n / s.R3 * s.layer() + n % s.R3)];
    ComplexPair v[s.R2];
    for (int m = 0; m < s.R2; ++m) v[m] = at[m * s.group()];
    SmallDft<s.R2>::run(v);
    apply_twiddles<s.R2>(v, power(s.R1 * (n % s.R3)));
    for (int m = 0; m < s.R2; ++m) at[m * s.group()] = v[m];
  }
  std::vector<ComplexPair> out(in.size());
  for (int n = 0; n < s.R1 * s.R2; ++n) {
    ComplexPair* const at = &values[static_cast<std::size_t>(n / s.R2 * s.layer() + n % s.R2 * s.group())];
    SmallDft<s.R3>::run(at);
    for (int m = 0; m < s.R3; ++m) {
      out[static_cast<std::size_t>(n / s.R2 + s.R1 * (n % s.R2) + s.R1 * s.R2 * m)] = at[m];
    }
  }
  return out;
}

template <int Length>
double error_in_stages() {
  const auto in = noise(Length);
  return error_of(in, in_stages<Length>(in)) / std::sqrt(Length);
}

TEST(ColumnStages, TransformALengthTogether) {
  EXPECT_LE(error_in_stages<64>(), 8 * real_epsilon);
  EXPECT_LE(error_in_stages<224>(), 8 * real_epsilon);
  EXPECT_LE(error_in_stages<720>(), 8 * real_epsilon);
  EXPECT_LE(error_in_stages<768>(), 8 * real_epsilon);
  EXPECT_LE(error_in_stages<1344>(), 8 * real_epsilon);
}

TEST(ColumnStages, FitTheLengthAndTheMachine) {
  int lengths = 0;
  for (int length = 2; length <= 2048; ++length) {
    const ColumnStages stages = stages_of(length);
    if (stages.R1 == 0) continue;
    ++lengths;
    EXPECT_EQ(stages.length(), length);
    EXPECT_GE(stages.threads, 1) << length;
    EXPECT_GE(stages.resident, 1) << length;
    EXPECT_LE(stages.columns * stages.threads, 1024) << length;
    EXPECT_LE(stages.columns * stages.threads * stages.resident, 2048) << length;
    EXPECT_LE(stages.shared_bytes(), 227U * 1024) << length;
    EXPECT_GE(stages.group(), stages.R3) << length;
  }
  EXPECT_GT(lengths, 150);
  EXPECT_EQ(stages_of(17 * 16).R1, 0);
  EXPECT_EQ(stages_of(22).R1, 0);
}

}  // namespace
}  // namespace sluice
