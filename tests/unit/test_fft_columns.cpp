// Transforms of columns on a CPU, in lanes and by FFTW, against the sums that define them, and their bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "core/support/random.hpp"
#include "poisson/fft/fft_columns.hpp"
#include "poisson/fft/lane_stages.hpp"
#include "tests/support/exact_dft.hpp"

namespace sluice {
namespace {

using Complex = std::complex<real>;
using test::Exact;

/// Columns of `ny` in rows of 24 numbers, of which `nx` belong to the array, in two planes.
struct Columns {
  static constexpr int pitch = 24, nz = 2;
  int nx, ny;

  std::int64_t stride_z() const { return std::int64_t{pitch} * (ny + 1); }
  std::size_t size() const { return static_cast<std::size_t>(nz * stride_z()); }
  std::size_t at(int i, int j, int k) const { return static_cast<std::size_t>(i + pitch * j + k * stride_z()); }
  std::unique_ptr<SplitColumnFourier> fourier() const {
    return SplitColumnFourier::make(nx, ny, nz, pitch, stride_z());
  }
  std::vector<Complex> noise() const {
    std::vector<Complex> values(size());
    for (std::size_t n = 0; n < values.size(); ++n)
      values[n] = {static_cast<real>(uniform01(1, n) - 0.5), static_cast<real>(uniform01(2, n) - 0.5)};
    return values;
  }
  std::vector<Exact> column(const std::vector<Complex>& values, int i, int k) const {
    std::vector<Exact> column;
    for (int j = 0; j < ny; ++j) column.emplace_back(values[at(i, j, k)].real(), values[at(i, j, k)].imag());
    return column;
  }
};

std::vector<Complex> transformed(const Columns& columns, std::vector<Complex> values, bool forward) {
  columns.fourier()->run(values.data(), values.data(), forward);
  return values;
}

/// Largest error of column i.
double error_of(const Columns& columns, int i, bool forward) {
  const std::vector<Complex> in = columns.noise();
  const std::vector<Exact> wanted = test::exact_dft(columns.column(in, i, 1), forward ? -1 : 1);
  const std::vector<Exact> found = columns.column(transformed(columns, in, forward), i, 1);
  double largest = 0;
  for (std::size_t n = 0; n < found.size(); ++n)
    largest = std::max(largest, static_cast<double>(std::abs(found[n] - wanted[n])));
  return largest;
}

TEST(FftColumns, AreTheSumsThatDefineThem) {
  std::vector<int> lengths = {144, 196, 225, 240, 343, 350, 384, 512, 720, 1000, 1024, 1344, 2048};
  for (int ny = 1; ny <= 128; ++ny) lengths.push_back(ny);
  int in_lanes = 0;
  for (const int ny : lengths) {
    in_lanes += LaneStages::supports(ny) ? 1 : 0;
    const Columns columns{19, ny};
    for (const bool forward : {true, false}) {
      for (const int i : {0, 18}) {
        EXPECT_LE(error_of(columns, i, forward), 8 * real_epsilon * std::sqrt(ny)) << "length " << ny;
      }
    }
  }
  EXPECT_GT(in_lanes, 50);
  EXPECT_LT(in_lanes, static_cast<int>(lengths.size()));
}

/// Whether column i among others, and what lies beside them, is as if it were alone.
void expect_the_bits_of_one(int ny, bool forward) {
  const Columns many{21, ny};
  const std::vector<Complex> in = many.noise();
  std::vector<Complex> one_by_one = in;
  const Columns one{1, ny};
  for (int i = 0; i < many.nx; ++i) one.fourier()->run(one_by_one.data() + i, one_by_one.data() + i, forward);
  EXPECT_EQ(transformed(many, in, forward), one_by_one) << "length " << ny;
}

TEST(FftColumns, BitsDependOnTheColumnAlone) {
  for (const int ny : {4, 22, 35, 96, 128, 343, 768}) {
    for (const bool forward : {true, false}) expect_the_bits_of_one(ny, forward);
  }
}

/// Rows first to last - 1 in another array.
void expect_the_bits_of_whole(int ny, int first, int last) {
  const Columns columns{21, ny};
  const std::int64_t other_plane = Columns::pitch * (last - first) + 3;
  const std::vector<Complex> in = columns.noise();
  std::vector<Complex> here = in, there(static_cast<std::size_t>(Columns::nz * other_plane));
  const RowsElsewhere rows{there.data(), first, last, other_plane};
  columns.fourier()->transform(in.data(), here.data(), true, rows);
  std::vector<Complex> found = here;
  for (int k = 0; k < Columns::nz; ++k) {
    for (int j = first; j < last; ++j) {
      for (int i = 0; i < columns.nx; ++i) {
        found[columns.at(i, j, k)] =
            there[static_cast<std::size_t>(i + Columns::pitch * (j - first) + k * other_plane)];
      }
    }
  }
  const std::vector<Complex> whole = transformed(columns, in, true);
  EXPECT_EQ(found, whole) << "forward";
  std::vector<Complex> back = in, wanted = in;
  columns.fourier()->run(whole.data(), wanted.data(), false);
  columns.fourier()->transform(here.data(), back.data(), false, rows);
  EXPECT_EQ(back, wanted) << "backward";
}

TEST(FftColumns, RowsMayBeElsewhere) {
  for (const int ny : {22, 48, 105}) {
    SCOPED_TRACE("length " + std::to_string(ny));
    expect_the_bits_of_whole(ny, 0, ny / 2);
    expect_the_bits_of_whole(ny, ny / 3, 2 * ny / 3);
    expect_the_bits_of_whole(ny, ny - 5, ny);
  }
}

}  // namespace
}  // namespace sluice
