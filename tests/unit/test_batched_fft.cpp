// Batches of transforms with awkward strides, against the sums that define them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/device/memory.hpp"
#include "core/support/error.hpp"
#include "core/support/random.hpp"
#include "poisson/fft/batched_fft.hpp"
#include "tests/support/exact_dft.hpp"

namespace sluice {
namespace {

using Complex = std::complex<real>;
using test::Exact;
using test::exact_dft;

/// Transforms of which nothing is contiguous: three interleaved ones, four times, with gaps of odd widths between them.
/// The distances of the second loop are even, as a GPU wants it of real values.
FftBatch awkward(std::int64_t length) {
  FftBatch batch{length, 3, 5, {}};
  batch.loops[0] = {3, 1, 1};
  batch.loops[1] = {4, 3 * length + 3 + (length + 1) % 2, 5 * length + 5 + (length + 1) % 2};
  return batch;
}

std::size_t at(std::int64_t m, std::int64_t stride, std::int64_t a, std::int64_t distance_a, std::int64_t b,
               std::int64_t distance_b) {
  return static_cast<std::size_t>(m * stride + a * distance_a + b * distance_b);
}

std::size_t in_at(const FftBatch& batch, std::int64_t m, std::int64_t a, std::int64_t b) {
  return at(m, batch.stride_in, a, batch.loops[0].distance_in, b, batch.loops[1].distance_in);
}

std::size_t out_at(const FftBatch& batch, std::int64_t m, std::int64_t a, std::int64_t b) {
  return at(m, batch.stride_out, a, batch.loops[0].distance_out, b, batch.loops[1].distance_out);
}

template <class T>
std::vector<T> noise(std::size_t size) {
  std::vector<T> values(size);
  for (std::size_t n = 0; n < size; ++n) {
    const auto re = static_cast<real>(uniform01(1, n) - 0.5);
    if constexpr (std::is_same_v<T, Complex>) {
      values[n] = {re, static_cast<real>(uniform01(2, n) - 0.5)};
    } else {
      values[n] = re;
    }
  }
  return values;
}

/// The values, or the coefficients and the conjugates that are not stored, of one transform.
template <class T>
std::vector<Exact> line_of(const std::vector<T>& in, const FftBatch& batch, FftKind kind, std::int64_t a,
                           std::int64_t b) {
  std::vector<Exact> line(static_cast<std::size_t>(batch.length));
  for (std::int64_t m = 0; m < batch.length; ++m) {
    const bool stored = kind != FftKind::complex_to_real || m <= batch.length / 2;
    const Exact value(in[in_at(batch, stored ? m : batch.length - m, a, b)]);
    line[static_cast<std::size_t>(m)] = stored ? value : std::conj(value);
  }
  return line;
}

/// Makes coefficients those of real values.
void make_ends_real(std::vector<Complex>& in, const FftBatch& batch) {
  for (std::int64_t b = 0; b < batch.loops[1].count; ++b) {
    for (std::int64_t a = 0; a < batch.loops[0].count; ++a) {
      in[in_at(batch, 0, a, b)].imag(0);
      if (batch.length % 2 == 0) in[in_at(batch, batch.length / 2, a, b)].imag(0);
    }
  }
}

/// Largest distance of `out` from the transforms of `in`; elements that are not of any transform must be `before`.
template <class In, class Out>
double error_of(const std::vector<In>& in, const std::vector<Out>& out, std::vector<Out> before, const FftBatch& batch,
                FftKind kind) {
  const int sign = kind == FftKind::real_to_complex || kind == FftKind::forward ? -1 : 1;
  const std::int64_t results = kind == FftKind::real_to_complex ? batch.length / 2 + 1 : batch.length;
  double error = 0;
  for (std::int64_t b = 0; b < batch.loops[1].count; ++b) {
    for (std::int64_t a = 0; a < batch.loops[0].count; ++a) {
      const std::vector<Exact> sums = exact_dft(line_of(in, batch, kind, a, b), sign);
      for (std::int64_t m = 0; m < results; ++m) {
        const Out found = out[out_at(batch, m, a, b)];
        error = std::max(error, static_cast<double>(std::abs(sums[static_cast<std::size_t>(m)] - Exact(found))));
        before[out_at(batch, m, a, b)] = found;
      }
    }
  }
  EXPECT_EQ(before, out) << "written outside of the transforms";
  return error;
}

/// Sums of `length` terms of size 0.5, rounded a few times.
double tolerance(const FftBatch& batch) {
  return 4 * std::sqrt(static_cast<double>(batch.length)) * real_epsilon;
}

template <class In, class Out>
void expect_transforms(FftKind kind, const FftBatch& batch) {
  std::vector<In> in = noise<In>(in_at(batch, batch.length, batch.loops[0].count, batch.loops[1].count));
  if constexpr (std::is_same_v<Out, real>) make_ends_real(in, batch);
  const std::vector<Out> before = noise<Out>(out_at(batch, batch.length, batch.loops[0].count, batch.loops[1].count));
  Buffer<In> source(in);
  Buffer<Out> target(before);
  BatchedFft(kind, batch).run(source.data(), target.data());
  const double error = error_of(in, target.download(), before, batch, kind);
  EXPECT_LE(error, tolerance(batch)) << "length " << batch.length;
}

template <class Value>
void expect_transforms_in_place(FftKind kind, const FftBatch& batch) {
  const std::vector<Value> in = noise<Value>(in_at(batch, batch.length, batch.loops[0].count, batch.loops[1].count));
  Buffer<Value> data(in);
  BatchedFft(kind, batch).run(data.data(), data.data());
  EXPECT_LE(error_of(in, data.download(), in, batch, kind), tolerance(batch)) << "length " << batch.length;
}

TEST(BatchedFft, IsTheSumThatDefinesItForAnyStrides) {
  for (const std::int64_t length : {7, 9, 10, 11, 16, 20}) {
    expect_transforms<real, Complex>(FftKind::real_to_complex, awkward(length));
    expect_transforms<Complex, real>(FftKind::complex_to_real, awkward(length));
    expect_transforms<Complex, Complex>(FftKind::forward, awkward(length));
    expect_transforms<Complex, Complex>(FftKind::backward, awkward(length));
  }
}

TEST(BatchedFft, ChangesTheOrderOfMemory) {
  // From x, y, z with y whole to y slowest and z fastest, and back: 5 x 9 x 4.
  const FftBatch there{9, 5, 20, {FftLoop{5, 1, 4}, FftLoop{4, 45, 1}}};
  const FftBatch back{9, 20, 5, {FftLoop{5, 4, 1}, FftLoop{4, 1, 45}}};
  expect_transforms<Complex, Complex>(FftKind::forward, there);
  expect_transforms<Complex, Complex>(FftKind::backward, back);
}

TEST(BatchedFft, TransformsNeighbouringColumns) {
  for (const std::int64_t length : {16, 48, 96, 25}) {
    const FftBatch along_y{length, 11, 11, {FftLoop{11, 1, 1}, FftLoop{3, 11 * length, 11 * length}}};
    const FftBatch along_z{length, 35, 35, {FftLoop{5, 1, 1}, FftLoop{7, 5, 5}}};
    for (const FftBatch& batch : {along_y, along_z}) {
      for (const FftKind kind : {FftKind::forward, FftKind::backward}) {
        expect_transforms<Complex, Complex>(kind, batch);
        expect_transforms_in_place<Complex>(kind, batch);
      }
    }
  }
}

TEST(BatchedFft, WorksInPlaceWhereBothSidesLieAlike) {
  FftBatch batch{12, 5, 5, {FftLoop{5, 1, 1}, FftLoop{3, 61, 61}}};
  EXPECT_TRUE(batch.in_place(FftKind::forward));
  expect_transforms_in_place<Complex>(FftKind::forward, batch);
  expect_transforms_in_place<Complex>(FftKind::backward, batch);
  batch.loops[1].distance_out = 62;
  EXPECT_FALSE(batch.in_place(FftKind::forward));
  Buffer<Complex> data(1000);
  EXPECT_THROW(BatchedFft(FftKind::forward, batch).run(data.data(), data.data()), Error);
}

TEST(BatchedFft, WorksInPlaceOnRowsWithRoomForTheirCoefficients) {
  const FftBatch there{9, 1, 1, {FftLoop{4, 10, 5}, FftLoop{3, 40, 20}}};
  const FftBatch back{9, 1, 1, {FftLoop{4, 5, 10}, FftLoop{3, 20, 40}}};
  EXPECT_TRUE(there.in_place(FftKind::real_to_complex));
  EXPECT_FALSE(there.in_place(FftKind::forward));
  const std::vector<real> values = noise<real>(120);
  Buffer<real> data(values);
  auto* const coefficients = reinterpret_cast<Complex*>(data.data());
  BatchedFft(FftKind::real_to_complex, there).run(data.data(), coefficients);
  BatchedFft(FftKind::complex_to_real, back).run(coefficients, data.data());
  const std::vector<real> found = data.download();
  for (std::size_t n = 0; n < values.size(); ++n) {
    if (n % 10 == 9) continue;
    EXPECT_NEAR(found[n] / 9, values[n], 8 * real_epsilon) << n;
  }
}

TEST(BatchedFft, JoinsLoopsThatContinueEachOther) {
  const FftBatch rows{8, 1, 1, {FftLoop{6, 8, 5}, FftLoop{7, 48, 30}}};
  EXPECT_EQ(rows.merged().loops[0].count, 42);
  EXPECT_EQ(rows.merged().loops[1].count, 1);
  const FftBatch other_way{8, 1, 42, {FftLoop{6, 56, 7}, FftLoop{7, 8, 1}}};
  EXPECT_EQ(other_way.merged().loops[0].count, 42);
  EXPECT_EQ(other_way.merged().loops[0].distance_in, 8);
  EXPECT_EQ(other_way.merged().loops[0].distance_out, 1);
  const FftBatch of_three{8, 1, 1, {FftLoop{6, 8, 8}, FftLoop{3, 336, 336}, FftLoop{7, 48, 48}}};
  EXPECT_EQ(of_three.merged().loops[0].count, 126);
  EXPECT_EQ(of_three.merged().loops[1].count, 1);
  const FftBatch apart{8, 6, 6, {FftLoop{6, 1, 1}, FftLoop{7, 48, 48}}};
  EXPECT_EQ(apart.merged().loops[1].count, 7);
  expect_transforms<real, Complex>(FftKind::real_to_complex, rows);
}

/// The same bits as a plan that shares its work area with no other.
void expect_as_alone(BatchedFft& transform, const FftBatch& batch) {
  const std::vector<Complex> in = noise<Complex>(static_cast<std::size_t>(batch.loops[0].count * batch.length));
  Buffer<Complex> source(in), target(in), expected(in);
  transform.run(source.data(), target.data());
  BatchedFft(FftKind::forward, batch).run(source.data(), expected.data());
  EXPECT_EQ(target.download(), expected.download()) << "length " << batch.length;
  EXPECT_NE(target.download(), in) << "length " << batch.length;
}

TEST(BatchedFft, SharesOneWorkArea) {
  FftWork work;
  std::size_t largest = 0;
  std::vector<BatchedFft> transforms;
  std::vector<FftBatch> batches;
  for (const std::int64_t length : {22, 10007, 34, 100003, 26}) {  // large primes need work memory
    batches.push_back({length, 1, 1, {FftLoop{5, length, length}}});
    transforms.emplace_back(FftKind::forward, batches.back(), work);
    largest = std::max(largest, transforms.back().work_bytes());
    EXPECT_EQ(work.bytes(), largest) << "length " << length;
    expect_as_alone(transforms.back(), batches.back());  // before the area moves
  }
  if (device::is_gpu()) {
    EXPECT_GT(largest, 0U);
  }
  for (int round = 0; round < 2; ++round) {  // every plan runs again after others have used the area
    for (std::size_t n = 0; n < transforms.size(); ++n) expect_as_alone(transforms[n], batches[n]);
  }
}

// Some rows of the coefficients are in another array, with other planes: written there, and read from there.
TEST(BatchedFft, KeepsRowsElsewhere) {
  constexpr std::int64_t nx = 21, ny = 32, nz = 3, first = 5, last = 19;
  constexpr std::int64_t plane = nx * ny, other_plane = nx * (last - first) + 40;
  const FftBatch batch{ny, nx, nx, {FftLoop{nx, 1, 1}, FftLoop{nz, plane, plane}}};
  BatchedFft forward(FftKind::forward, batch), backward(FftKind::backward, batch);
  ASSERT_TRUE(forward.takes_rows_elsewhere());
  const std::vector<Complex> in = noise<Complex>(nz * plane);
  const std::vector<Complex> untouched(nz * other_plane, Complex(-7, 7));
  const Buffer<Complex> source(in);
  Buffer<Complex> whole(in), here(in), there(untouched), back(in), wanted(in);
  const RowsElsewhere rows{there.data(), first, last, other_plane};
  forward.run(source.data(), whole.data());
  forward.run(source.data(), here.data(), rows);

  const std::vector<Complex> all = whole.download(), rest = here.download(), moved = there.download();
  const auto place_there = [](std::int64_t i, std::int64_t j, std::int64_t k) {
    return static_cast<std::size_t>(i + (j - first) * nx + k * other_plane);
  };
  std::vector<Complex> expected_here = all, expected_there = untouched;
  for (std::int64_t k = 0; k < nz; ++k) {
    for (std::int64_t j = first; j < last; ++j) {
      for (std::int64_t i = 0; i < nx; ++i) {
        const auto n = static_cast<std::size_t>(i + j * nx + k * plane);
        expected_there[place_there(i, j, k)] = all[n];
        expected_here[n] = in[n];  // as before the transform
      }
    }
  }
  EXPECT_EQ(rest, expected_here);
  EXPECT_EQ(moved, expected_there);

  backward.run(whole.data(), wanted.data());
  backward.run(here.data(), back.data(), rows);
  EXPECT_EQ(back.download(), wanted.download());
}

TEST(BatchedFft, DoesNothingForAnEmptyBatch) {
  BatchedFft none(FftKind::forward, {8, 1, 1, {FftLoop{0, 8, 8}, FftLoop{3, 0, 0}}});
  none.run(static_cast<Complex*>(nullptr), static_cast<Complex*>(nullptr));
  EXPECT_EQ(none.work_bytes(), 0U);
}

TEST(BatchedFft, RefusesArraysThatThePlanIsNotFor) {
  Buffer<Complex> data(8);
  Buffer<real> values(8);
  BatchedFft to_complex(FftKind::real_to_complex, {8, 1, 1, {}});
  EXPECT_THROW(to_complex.run(data.data(), data.data()), Error);
  EXPECT_THROW(to_complex.run(data.data(), values.data()), Error);
  BatchedFft forward(FftKind::forward, {8, 1, 1, {}});
  EXPECT_THROW(forward.run(values.data(), data.data()), Error);
}

}  // namespace
}  // namespace sluice
