// Distributed transforms of complex fields and of several fields at once, against the sums that define them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/device/buffer.hpp"
#include "core/support/error.hpp"
#include "core/support/random.hpp"
#include "poisson/fft/batched_fft.hpp"
#include "tests/support/exact_dft.hpp"
#include "tests/support/exchange_methods.hpp"
#include "tests/support/fft_variants.hpp"

namespace sluice {
namespace {

using Complex = std::complex<real>;
using test::Cells;
using test::Exact;
using test::FftVariant;

constexpr FftType real_type = FftType::real_to_complex;
constexpr FftType complex_type = FftType::complex_to_complex;

template <class Value>
constexpr FftType type_of = std::is_same_v<Value, real> ? real_type : complex_type;

/// Without symmetry, and different in each field.
template <class Value>
Value noise(std::size_t field, std::size_t cell) {
  const auto part = [&](std::size_t seed) { return static_cast<real>(uniform01(2 * field + seed, cell) - 0.5); };
  if constexpr (std::is_same_v<Value, real>) {
    return part(1);
  } else {
    return {part(1), part(2)};
  }
}

/// The coefficients of each field of noise, all nx of a row.
template <class Value>
std::vector<std::vector<Exact>> exact_coefficients(const Cells& cells, int fields) {
  std::vector<std::vector<Exact>> all;
  for (int field = 0; field < fields; ++field) {
    std::vector<Exact> values(static_cast<std::size_t>(cells[0] * cells[1] * cells[2]));
    for (std::size_t cell = 0; cell < values.size(); ++cell)
      values[cell] = Exact(noise<Value>(static_cast<std::size_t>(field), cell));
    all.push_back(test::exact_dft_3d(std::move(values), cells, -1));
  }
  return all;
}

/// Calls action(field, cell, element) for each element of each field of an array: `cell` is its global number.
template <class Action>
void for_each_element(const Box3& box, const Cells& cells, int fields, std::size_t distance, const Action& action) {
  for (std::size_t field = 0; field < static_cast<std::size_t>(fields); ++field) {
    test::for_each_index(box, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::size_t n) {
      action(field, static_cast<std::size_t>(i + cells[0] * (j + cells[1] * k)), field * distance + n);
    });
  }
}

double larger(double error, double candidate) {
  return candidate <= error ? error : candidate;  // or NaN
}

/// Forward and backward, out of place or in place, compared with the sums.
template <class Value>
void expect_transform(DistributedFft& fft, const Cells& cells, const std::vector<std::vector<Exact>>& exact,
                      bool in_place) {
  const int fields = static_cast<int>(exact.size());
  std::vector<Value> values(in_place ? fft.complex_elements() : fft.real_elements());
  const auto for_each_value = [&](const auto& action) {
    for_each_element(fft.real_box(), cells, fields, fft.real_distance(), action);
  };
  for_each_value([&](std::size_t field, std::size_t cell, std::size_t at) { values[at] = noise<Value>(field, cell); });
  Buffer<Value> space(values);
  Buffer<Complex> other(in_place ? 0 : fft.complex_elements());
  Complex* modes = other.data();
  if constexpr (std::is_same_v<Value, Complex>) {
    if (in_place) modes = space.data();
  }

  fft.forward(space.data(), modes);
  if (!in_place) {
    EXPECT_EQ(space.download(), values) << "the input of forward() has changed";
  }
  std::vector<Complex> found = other.download();
  if constexpr (std::is_same_v<Value, Complex>) {
    if (in_place) found = space.download();
  }
  double largest = 0;
  for (const auto& field : exact) {
    for (const Exact& coefficient : field) largest = std::max(largest, static_cast<double>(std::abs(coefficient)));
  }
  double error = 0;
  for_each_element(fft.complex_box(), cells, fields, static_cast<std::size_t>(fft.complex_box().volume()),
                   [&](std::size_t field, std::size_t cell, std::size_t at) {
                     error = larger(error, static_cast<double>(std::abs(Exact(found[at]) - exact[field][cell])));
                   });
  EXPECT_LE(error, 8 * real_epsilon * largest) << "forward";

  fft.backward(modes, space.data());
  const std::vector<Value> again = space.download();
  const auto points = static_cast<real>(cells[0] * cells[1] * cells[2]);
  error = 0;
  for_each_value([&](std::size_t, std::size_t, std::size_t at) {
    error = larger(error, static_cast<double>(std::abs(again[at] / points - values[at])));
  });
  EXPECT_LE(error, 16 * real_epsilon) << "forward and backward";
}

// cuFFT's plans for lengths without a kernel, on one rank: 22 x 39 x 1009. A large prime needs
// work memory.
TEST(DistributedFftOfOneRank, HoldsTheLargestWorkAreaOfItsTransformsOnce) {
  if (size_of(MPI_COMM_WORLD) > 1) GTEST_SKIP() << "several ranks have buffers, too";
  const auto exchange = test::make_tested("mpi_p2p");
  const auto fft =
      test::make_fft({"", FftDecomposition::slab_2d_1d, FftLayout::contiguous, {}}, {22, 39, 1009}, *exchange);
  std::size_t largest = 0;
  const auto add = [&](FftKind kind, const FftBatch& batch) {
    largest = std::max(largest, BatchedFft(kind, batch).work_bytes());
  };
  add(FftKind::real_to_complex, {22, 1, 1, {FftLoop{39 * 1009, 22, 12}}});
  add(FftKind::complex_to_real, {22, 1, 1, {FftLoop{39 * 1009, 12, 22}}});
  for (const FftKind kind : {FftKind::forward, FftKind::backward}) {
    add(kind, {39, 12, 12, {FftLoop{12, 1, 1}, FftLoop{1009, 12 * 39, 12 * 39}}});
    add(kind, {1009, 12 * 39, 12 * 39, {FftLoop{12 * 39, 1, 1}}});
  }
  if (device::is_gpu()) {
    EXPECT_GT(largest, 0U);
  }
  EXPECT_EQ(fft->bytes(), largest);
}

class FftOfFields : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!test::method_works(GetParam())) GTEST_SKIP() << GetParam() << " does not work between these ranks";
    exchange_ = test::make_tested(GetParam());
  }

  template <class Value>
  void expect_transforms(int fields) {
    for (const Cells& cells : {Cells{9, 10, 11}, Cells{9, 7, 5}, Cells{18, 16, 32}, Cells{4, 3, 2}}) {
      SCOPED_TRACE(std::to_string(cells[0]) + " x " + std::to_string(cells[1]) + " x " + std::to_string(cells[2]));
      const auto exact = exact_coefficients<Value>(cells, fields);
      for (const FftVariant& variant : test::fft_variants()) {
        SCOPED_TRACE(variant.name);
        const auto fft = test::make_fft(variant, cells, *exchange_, {type_of<Value>, fields});
        expect_transform<Value>(*fft, cells, exact, false);
        if (type_of<Value> != complex_type || variant.layout != FftLayout::contiguous) continue;
        SCOPED_TRACE("in place");
        expect_transform<Value>(*fft, cells, exact, true);
      }
    }
  }

  std::unique_ptr<Exchange> exchange_;
};

TEST_P(FftOfFields, TransformsAComplexField) {
  expect_transforms<Complex>(1);
}

TEST_P(FftOfFields, TransformsSeveralRealFields) {
  expect_transforms<real>(3);
}

TEST_P(FftOfFields, TransformsSeveralComplexFields) {
  expect_transforms<Complex>(2);
}

TEST_P(FftOfFields, PlacesFieldsAsItSays) {
  for (const FftVariant& variant : test::fft_variants()) {
    SCOPED_TRACE(variant.name);
    const auto one = test::make_fft(variant, {9, 7, 5}, *exchange_, {complex_type, 1});
    const auto several = test::make_fft(variant, {9, 7, 5}, *exchange_, {complex_type, 3});
    const auto reals = test::make_fft(variant, {9, 7, 5}, *exchange_, {real_type, 3});
    EXPECT_EQ(one->real_box(), reals->real_box());
    EXPECT_EQ(one->complex_box(), several->complex_box());
    EXPECT_EQ(several->complex_elements(), 3 * one->complex_elements());
    const auto volume = static_cast<std::size_t>(one->real_box().volume());
    EXPECT_EQ(several->real_distance(), volume);
    EXPECT_EQ(several->real_elements(), 3 * volume);
    EXPECT_EQ(reals->real_distance(), volume + volume % 2);
    EXPECT_LE(reals->complex_box().extent(0), 5);
  }
}

TEST_P(FftOfFields, RefusesWrongUse) {
  const Cells cells{8, 6, 4};
  const auto contiguous = [&](const FftFields& fields) {
    return test::make_fft({"", FftDecomposition::slab_2d_1d, FftLayout::contiguous, {}}, cells, *exchange_, fields);
  };
  const auto code_of = [](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::success;
  };
  EXPECT_EQ(code_of([&] { contiguous({complex_type, 0}); }), ExitCode::usage);
  EXPECT_EQ(code_of([&] { contiguous({real_type, -1}); }), ExitCode::usage);

  const auto of_reals = contiguous({real_type, 1});
  const auto of_complex = contiguous({complex_type, 1});
  const auto realigned = test::make_fft({"", FftDecomposition::slab_2d_1d, FftLayout::realigned, {}}, cells, *exchange_,
                                        {complex_type, 1});
  Buffer<real> values(1000);
  Buffer<Complex> modes(1000), more(1000);
  EXPECT_EQ(code_of([&] { of_reals->forward(more.data(), modes.data()); }), ExitCode::usage);
  EXPECT_EQ(code_of([&] { of_reals->backward(modes.data(), more.data()); }), ExitCode::usage);
  EXPECT_EQ(code_of([&] { of_complex->forward(values.data(), modes.data()); }), ExitCode::usage);
  EXPECT_EQ(code_of([&] { of_complex->backward(modes.data(), values.data()); }), ExitCode::usage);
  EXPECT_EQ(code_of([&] { realigned->forward(modes.data(), modes.data()); }), ExitCode::usage);
  EXPECT_EQ(code_of([&] { realigned->backward(modes.data(), modes.data()); }), ExitCode::usage);
  auto* const same = reinterpret_cast<real*>(modes.data());
  EXPECT_EQ(code_of([&] { of_reals->forward(same, modes.data()); }), ExitCode::usage);
  EXPECT_EQ(code_of([&] { of_reals->backward(modes.data(), same); }), ExitCode::usage);
}

INSTANTIATE_TEST_SUITE_P(Methods, FftOfFields, testing::ValuesIn(test::tested_methods()),
                         [](const auto& method) { return method.param; });

}  // namespace
}  // namespace sluice
