// ExactSum: the sum rounded once, whatever the order and the grouping of the terms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/support/exact_sum.hpp"

namespace sluice {
namespace {

double sum_of(const std::vector<double>& terms) {
  ExactSum sum;
  for (const double term : terms) sum.add(term);
  return sum.value();
}

/// Terms of both signs between 2^-100 and 2^100, and each of some again with the other sign.
std::vector<double> awkward_terms(std::size_t count) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> fraction(-1, 1);
  std::uniform_int_distribution<int> exponent(-100, 100);
  std::vector<double> terms;
  for (std::size_t n = 0; n < count; ++n) {
    terms.push_back(std::ldexp(fraction(random), exponent(random)));
    if (n % 3 == 0) terms.push_back(-terms.back());
  }
  return terms;
}

TEST(ExactSum, OfNothingIsZero) {
  EXPECT_EQ(ExactSum().value(), 0.0);
  EXPECT_EQ(sum_of({0.0, -0.0}), 0.0);
}

TEST(ExactSum, OfOneTermIsThatTerm) {
  for (int exponent = -250; exponent <= 299; ++exponent) {
    const double term = std::ldexp(1.0 + 0x1.23456789abcdep-1, exponent);
    EXPECT_EQ(sum_of({term}), term) << exponent;
    EXPECT_EQ(sum_of({-term}), -term) << exponent;
  }
}

TEST(ExactSum, LosesNothingToCancellation) {
  EXPECT_EQ(sum_of({0x1p250, 1.0, -0x1p250}), 1.0);
  EXPECT_EQ(sum_of({1.0, 0x1p299, 0x1p-200, -0x1p299, -1.0}), 0x1p-200);
  EXPECT_EQ(sum_of({0.1, 0.2, -0.1, -0.2}), 0.0);
}

TEST(ExactSum, RoundsOnce) {
  const double above_one = std::nextafter(1.0, 2.0);
  EXPECT_EQ(sum_of({1.0, 0x1p-53}), 1.0);                  // a tie goes to even
  EXPECT_EQ(sum_of({above_one, 0x1p-53}), 1.0 + 0x1p-51);  // likewise
  EXPECT_EQ(sum_of({1.0, 0x1p-53, 0x1p-200}), above_one);  // no tie, by a hair
  EXPECT_EQ(sum_of({-1.0, -0x1p-53, -0x1p-200}), -above_one);
  EXPECT_EQ(sum_of({above_one, 0x1p-53, -0x1p-200}), above_one);
}

TEST(ExactSum, AgreesWithIntegers) {
  std::mt19937_64 random(11);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    __int128 exact = 0;
    ExactSum sum;
    for (int n = 0; n < 20; ++n) {
      const auto mantissa = static_cast<std::int64_t>(random() >> 11) - (std::int64_t{1} << 52);
      const int shift = static_cast<int>(random() % 64);
      exact += static_cast<__int128>(mantissa) * (static_cast<__int128>(1) << shift);
      sum.add(std::ldexp(static_cast<double>(mantissa), shift - 90));
    }
    EXPECT_EQ(sum.value(), std::ldexp(static_cast<double>(exact), -90));
  }
}

TEST(ExactSum, DoesNotDependOnTheOrder) {
  std::vector<double> terms = awkward_terms(5000);
  const double expected = sum_of(terms);
  std::mt19937_64 random(3);
  for (int repeat = 0; repeat < 10; ++repeat) {
    std::shuffle(terms.begin(), terms.end(), random);
    EXPECT_EQ(sum_of(terms), expected);
  }
  std::sort(terms.begin(), terms.end());
  EXPECT_EQ(sum_of(terms), expected);
}

TEST(ExactSum, DoesNotDependOnTheGrouping) {
  const std::vector<double> terms = awkward_terms(5000);
  for (const std::size_t groups : {2U, 3U, 7U, 64U}) {
    std::vector<ExactSum> parts(groups);
    for (std::size_t n = 0; n < terms.size(); ++n) parts[n % groups].add(terms[n]);
    ExactSum sum;
    for (const ExactSum& part : parts) sum += part;
    EXPECT_EQ(sum.value(), sum_of(terms)) << groups << " groups";
  }
}

TEST(ExactSum, CarriesThroughManyTerms) {
  constexpr int count = 1 << 20;
  const double term = 1 - 0x1p-53;  // every bit set
  for (const double sign : {1.0, -1.0}) {
    ExactSum sum;
    for (int n = 0; n < count; ++n) sum.add(sign * term);
    EXPECT_EQ(sum.value(), sign * (count - 0x1p-33));
  }
  ExactSum largest;
  for (int n = 0; n < count; ++n) largest.add(std::nextafter(0x1p300, 0));
  EXPECT_EQ(largest.value(), std::nextafter(0x1p320, 0));
}

TEST(ExactSum, CutsOffWhatIsTooSmallTowardsZero) {
  EXPECT_EQ(sum_of({0x1p-320}), 0x1p-320);
  EXPECT_EQ(sum_of({0x1.8p-320}), 0x1p-320);
  EXPECT_EQ(sum_of({-0x1.8p-320}), -0x1p-320);
  EXPECT_EQ(sum_of({0x1p-321, 0x1p-321, 1e-300, std::numeric_limits<double>::denorm_min()}), 0.0);
}

TEST(ExactSum, OfTermsThatDoNotFitIsNaN) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double term : {infinity, -infinity, std::nan(""), 0x1p300, -0x1p300}) {
    EXPECT_TRUE(std::isnan(sum_of({1.0, term, 2.0}))) << term;
    ExactSum with;
    with.add(term);
    ExactSum sum;
    sum.add(1.0);
    sum += with;
    EXPECT_TRUE(std::isnan(sum.value())) << term;
  }
  EXPECT_TRUE(std::isnan(sum_of({infinity, -infinity})));
}

}  // namespace
}  // namespace sluice
