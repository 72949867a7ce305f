// FixedPointSum: the sum to round-off, and the same bits whatever the order and the grouping of the terms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "solver/statistics/fixed_point_sum.hpp"

namespace sluice {
namespace {

FixedPointSum sum_of(const std::vector<double>& terms) {
  FixedPointSum sum;
  for (const double term : terms) sum.add(term);
  return sum;
}

/// Terms between 2^-100 and 1.
std::vector<double> uneven_terms(std::size_t count) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-100, 0);
  std::vector<double> terms;
  for (std::size_t n = 0; n < count; ++n) terms.push_back(std::exp2(exponent(random)));
  return terms;
}

TEST(FixedPointSum, OfOneTermIsThatTerm) {
  EXPECT_EQ(FixedPointSum().value(), 0.0);
  for (int exponent = 0; exponent >= -68; --exponent) {
    const double term = std::ldexp(0x1.23456789abcdep-1, exponent);
    EXPECT_DOUBLE_EQ(sum_of({term}).value(), term) << exponent;
  }
  EXPECT_EQ(sum_of({0x1p-120}).value(), 0x1p-120);
  EXPECT_EQ(sum_of({0x1p-121}).value(), 0.0);
}

TEST(FixedPointSum, DoesNotDependOnTheOrderAndTheGrouping) {
  std::vector<double> terms = uneven_terms(1000);
  const double expected = sum_of(terms).value();
  long double plain = 0;
  for (const double term : terms) plain += term;
  EXPECT_DOUBLE_EQ(expected, static_cast<double>(plain));
  std::mt19937_64 random(3);
  for (int n = 0; n < 10; ++n) {
    std::ranges::shuffle(terms, random);
    FixedPointSum sum = sum_of({terms.begin(), terms.begin() + 100 * n});
    sum.add(sum_of({terms.begin() + 100 * n, terms.end()}));
    EXPECT_EQ(sum.value(), expected);
  }
}

TEST(FixedPointSum, HoldsManyTerms) {
  FixedPointSum sum;
  const int count = (1 << 23) - 1;
  for (int n = 0; n < count; ++n) sum.add(1.0);
  EXPECT_EQ(sum.value(), count);
}

}  // namespace
}  // namespace sluice
