// The stages of long transforms along y on GPUs, run on the host for every size of a cluster with the indices of
// long_columns_kernel.hpp, against the sum that defines them; and how they are launched.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/device/traits.hpp"
#include "poisson/fft/kernel_lengths.hpp"
#include "poisson/fft/long_column_stages.hpp"
#include "poisson/fft/small_dft.hpp"
#include "tests/unit/roots_and_noise.hpp"

namespace sluice {
namespace {

constexpr device::Multiprocessors h100{132, 233472, 232448, 1024};

template <int Radix>
void transform(ComplexPair* at, int step, ComplexPair w) {
  ComplexPair v[Radix];
  for (int m = 0; m < Radix; ++m) v[m] = at[m * step];
  SmallDft<Radix>::run(v);
  apply_twiddles<Radix>(v, w);
  for (int m = 0; m < Radix; ++m) at[m * step] = v[m];
}

/// One column in the shared memory of `parts` thread blocks. NaN where nothing was written.
template <int Length>
std::vector<ComplexPair> in_stages(const std::vector<ComplexPair>& in, int parts) {
  constexpr LongColumnStages s = long_stages_of(Length);
  constexpr int rows = s.R2 * s.R3 * s.R4;
  constexpr real nan = std::numeric_limits<real>::quiet_NaN();
  const auto power = [](int n) { return rounded(root(n, Length)); };
  const std::size_t held = s.shared_bytes(parts) / sizeof(ComplexPair) / s.columns;
  std::vector<std::vector<ComplexPair>> blocks(static_cast<std::size_t>(parts),
                                               std::vector<ComplexPair>(held, {nan, nan}));
  for (int n = 0; n < rows; ++n) {
    ComplexPair v[s.R1];
    for (int m = 0; m < s.R1; ++m) v[m] = in[static_cast<std::size_t>(n + m * rows)];
    transform<s.R1>(v, 1, power(n));
    for (int k1 = 0; k1 < s.R1; ++k1) {
      const int place = n / s.R4 * s.group() + n % s.R4 + k1 / parts * s.layer();
      blocks[static_cast<std::size_t>(k1 % parts)].at(static_cast<std::size_t>(place)) = v[k1];
    }
  }
  std::vector<ComplexPair> out(in.size(), {nan, nan});
  for (int part = 0; part < parts; ++part) {
    ComplexPair* const values = blocks[static_cast<std::size_t>(part)].data();
    const int here = s.R1 / parts;
    for (int task = 0; task < here * s.R3 * s.R4; ++task) {
      const int n = task % (s.R3 * s.R4);
      transform<s.R2>(values + task / (s.R3 * s.R4) * s.layer() + n / s.R4 * s.group() + n % s.R4, s.R3 * s.group(),
                      power(s.R1 * n));
    }
    for (int task = 0; task < here * s.R2 * s.R4; ++task) {
      const int n = task % s.R4;
      transform<s.R3>(values + task / s.R4 * (s.R3 * s.group()) + n, s.group(), power(s.R1 * s.R2 * n));
    }
    for (int task = 0; task < here * s.R2 * s.R3; ++task) {
      ComplexPair* const at = values + task * s.group();
      SmallDft<s.R4>::run(at);
      const int k =
          task / (s.R2 * s.R3) * parts + part + s.R1 * (task % (s.R2 * s.R3) / s.R3) + s.R1 * s.R2 * (task % s.R3);
      for (int m = 0; m < s.R4; ++m) out[static_cast<std::size_t>(k + m * (s.R1 * s.R2 * s.R3))] = at[m];
    }
  }
  return out;
}

template <int Length>
void expect_the_defining_sum() {
  const auto in = noise(Length);
  const auto out = in_stages<Length>(in, 1);
  const std::vector<Exact> all = roots(Length);
  double error = 0;
  for (int k = 0; k < Length; k += 5) {  // prime to every radix but 5, so that it takes in all digits of k
    Exact sum = 0;
    for (int n = 0; n < Length; ++n) {
      sum += exact(in[static_cast<std::size_t>(n)]) * all[static_cast<std::size_t>(1LL * k * n % Length)];
    }
    error = std::max(error, distance(sum, out[static_cast<std::size_t>(k)]));
  }
  EXPECT_LE(error, 8 * real_epsilon * std::sqrt(Length)) << Length;
  for (const int parts : {2, 4, 8}) {
    const auto in_parts = in_stages<Length>(in, parts);
    for (std::size_t k = 0; k < out.size(); ++k) {
      ASSERT_EQ(in_parts[k].re, out[k].re) << Length << " in " << parts;
      ASSERT_EQ(in_parts[k].im, out[k].im) << Length << " in " << parts;
    }
  }
}

TEST(LongColumns, TransformALengthTogether) {
  expect_the_defining_sum<3072>();  // 8 x 8 x 6 x 8
  expect_the_defining_sum<3456>();  // 8 x 8 x 6 x 9
  expect_the_defining_sum<7168>();  // 8 x 8 x 8 x 14
}

TEST(LongColumns, FitTheLengthAndTheMachine) {
  for (const int length : kernel_lengths::longer) {
    const LongColumnStages s = long_stages_of(length);
    ASSERT_EQ(s.length(), length);
    EXPECT_TRUE(is_radix(s.R1) && is_radix(s.R2) && is_radix(s.R3) && is_radix(s.R4)) << length;
    EXPECT_EQ(s.R1 % device::cluster_of_any, 0) << length;
    EXPECT_EQ(s.group() % 2, 1) << length;
    const LongColumnLaunch launch = long_launch_of(s, h100, device::cluster_of_any);
    ASSERT_GE(launch.parts, 1) << length;
    EXPECT_EQ(device::cluster_of_any % launch.parts, 0) << length;
    EXPECT_GE(launch.resident, tuning::fft::min_resident) << length;
    const int threads = s.columns * launch.threads;
    EXPECT_EQ(threads % device::warp, 0) << length;
    EXPECT_LE(threads * launch.resident, threads_for_long_columns(s.largest())) << length;
    const std::size_t bytes = s.shared_bytes(launch.parts);
    EXPECT_LE(bytes, h100.max_shared_bytes_of_block) << length;
    EXPECT_LE((bytes + h100.reserved_bytes_of_block) * static_cast<std::size_t>(launch.resident), h100.shared_bytes)
        << length;
    EXPECT_LE(sizeof(double) * static_cast<std::size_t>(threads + s.columns * launch.parts), bytes) << length;
  }
  EXPECT_EQ(long_stages_of(17 * 256).R1, 0);
  EXPECT_EQ(long_stages_of(16 * 16 * 16 * 32).R1, 0);
}

TEST(LongColumns, NeedClustersWhereOneThreadBlockHasTooLittleMemory) {
  constexpr device::Multiprocessors a100{108, 167936, 166912, 1024};
  EXPECT_EQ(long_launch_of(long_stages_of(3072), a100, 1).parts, 0);
  EXPECT_EQ(long_launch_of(long_stages_of(2560), h100, 1).parts, 1);
  EXPECT_EQ(long_launch_of(long_stages_of(7168), h100, 2).parts, 0);
}

}  // namespace
}  // namespace sluice
