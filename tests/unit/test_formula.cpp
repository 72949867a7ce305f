// Formulas of a case: values, precedence, what is constant, and the place and text of each fault.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "model/formula.hpp"
#include "model/schedule.hpp"

namespace sluice {
namespace {

using std::numbers::pi;

constexpr FormulaPoint at{.x = 0.5, .y = -2, .z = 3, .t = 0.25};

double value(const std::string& text) {
  return Formula::parse(text, "xyzt")(at);
}

TEST(Formula, HasTheUsualPrecedence) {
  EXPECT_EQ(value("1 + 2*3"), 7);
  EXPECT_EQ(value("(1 + 2)*3"), 9);
  EXPECT_EQ(value("2*-3"), -6);
  EXPECT_EQ(value("-2^2"), -4);
  EXPECT_EQ(value("2^-1"), 0.5);
  EXPECT_EQ(value("2^3^2"), 512);
  EXPECT_EQ(value("8/4/2"), 1);
  EXPECT_EQ(value("8 - 4 - 2"), 2);
  EXPECT_EQ(value("-y^2"), -4);
  EXPECT_EQ(value("z^x^2"), std::pow(3, 0.25));
  EXPECT_EQ(value("z - y - x"), 4.5);
  EXPECT_EQ(value("z/y/x"), -3);
  EXPECT_EQ(value(" + x "), 0.5);
}

TEST(Formula, KnowsVariablesAndFunctions) {
  EXPECT_EQ(value("x"), 0.5);
  EXPECT_EQ(value("y"), -2);
  EXPECT_EQ(value("z"), 3);
  EXPECT_EQ(value("t"), 0.25);
  EXPECT_EQ(value("pi"), pi);
  EXPECT_EQ(value("1 + 0.2*sin(2*pi*t/30)"), 1 + 0.2 * std::sin(2 * pi * 0.25 / 30));
  EXPECT_EQ(value("abs(y)"), 2);
  EXPECT_EQ(value("sqrt(t)"), 0.5);
  EXPECT_EQ(value("exp(x)"), std::exp(0.5));
  EXPECT_EQ(value("log(z)"), std::log(3.0));
  EXPECT_EQ(value("cos(y)"), std::cos(-2.0));
  EXPECT_EQ(value("tan(x)"), std::tan(0.5));
  EXPECT_EQ(value("tanh(x)"), std::tanh(0.5));
  EXPECT_EQ(value("step(y) + 10*step(t)"), 10);
  EXPECT_EQ(value("min(x, y) + 10*max(z, t)"), 28);
}

TEST(Formula, FoldsConstants) {
  EXPECT_TRUE(Formula::parse("2*pi/(3 + 1)", "t").is_constant());
  EXPECT_EQ(Formula::parse("2*pi/(3 + 1)", "t"), Formula(pi / 2));
  EXPECT_FALSE(Formula::parse("0*t", "t").is_constant());
  // t, 2 pi/30, *, sin
  EXPECT_EQ(Formula::parse("sin(t*(2*pi/30))", "t").program().count, 4);
  const Formula wave = Formula::parse("sin(x - t)", "xt");
  EXPECT_TRUE(wave.depends_on("t"));
  EXPECT_TRUE(wave.depends_on("xy"));
  EXPECT_FALSE(wave.depends_on("yz"));
}

struct Fault {
  const char* text;
  std::size_t position;
  const char* what;
};

TEST(Formula, NamesThePlaceOfAFault) {
  for (const Fault& fault : {Fault{"1 + ", 4, "ends where"},
                             {"", 0, "ends where"},
                             {"sin(2*t", 7, "')' is missing"},
                             {"sin 2", 4, "'(' is missing"},
                             {"1 + q*2", 4, "'q' is not known; known are t, pi, abs"},
                             {"2*x", 2, "'x' is not known here"},
                             {"2 t", 2, "'t' is not expected"},
                             {"2**t", 2, "'*' is where a number"},
                             {"min(t)", 5, "',' is missing"},
                             {"1e999", 0, "not a number"},
                             {"010", 0, "begins with 0"},
                             {"1/0+t", 3, "not a finite number"},
                             {"log(-1)", 7, "not a finite number"}}) {
    try {
      Formula::parse(fault.text, "t");
      FAIL() << fault.text << " was accepted";
    } catch (const FormulaError& error) {
      EXPECT_EQ(error.position, fault.position) << fault.text << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find(fault.what), std::string::npos) << fault.text << ": " << error.what();
    }
  }
}

TEST(Formula, BoundsItsLength) {
  std::string longest = "t";
  for (int n = 1; n < 32; ++n) longest += "+t";
  EXPECT_EQ(Formula::parse(longest, "t").at_time(1), 32);
  EXPECT_THROW(Formula::parse(longest + "+t", "t"), FormulaError);
  EXPECT_THROW(Formula::parse(std::string(1000, '(') + "t" + std::string(1000, ')'), "t"), FormulaError);
  EXPECT_THROW(Formula::parse(std::string(10000, '-') + "t", "t"), FormulaError);
  EXPECT_EQ(Formula::parse(std::string(40, '(') + "t" + std::string(40, ')'), "t").at_time(2), 2);
  std::string deep = "t";
  for (int n = 0; n < 20; ++n) deep = "t+(" + deep + ")";
  EXPECT_THROW(Formula::parse(deep, "t"), FormulaError);
}

TEST(TimeTable, HasStraightLinesBetweenItsPointsAndIsConstantBeyond) {
  const TimeTable table{.times = {1, 2, 4}, .values = {10, 20, -4}};
  for (const auto& [time, expected] :
       {std::pair(-3.0, 10.0), {1.0, 10.0}, {1.25, 12.5}, {2.0, 20.0}, {3.0, 8.0}, {4.0, -4.0}, {100.0, -4.0}})
    EXPECT_EQ(table.at(time), expected) << time;
}

TEST(PhaseBins, AreCentredAtMultiples) {
  const PhaseBins bins{.count = 4, .period = 2};
  const auto expect = [&](double time, std::size_t bin, double offset) {
    EXPECT_EQ(bins.at(time).bin, bin) << time;
    EXPECT_NEAR(bins.at(time).offset, offset, 1e-12) << time;
  };
  expect(0, 0, 0);
  expect(0.24, 0, 0.12);
  expect(0.26, 1, -0.12);
  expect(1.76, 0, -0.12);
  expect(1.99, 0, -0.005);
  expect(201.5, 3, 0);
  EXPECT_EQ(bins.middles(), (std::vector<double>{0, 0.25, 0.5, 0.75}));
}

/// Rounding errors of the time do not choose between the bins on both sides of a border.
TEST(PhaseBins, PutBordersIntoTheBinAbove) {
  const PhaseBins bins{.count = 10, .period = 2};
  double time = 0;
  for (std::size_t n = 1; n < 2000; ++n) {
    time += 0.1;
    EXPECT_EQ(bins.at(time).bin, (n + 1) / 2 % 10) << n;
  }
}

TEST(PhaseBins, KnowWhichRegularSamplesMiss) {
  const PhaseBins bins{.count = 16, .period = 10};
  EXPECT_EQ(bins.missed(2.5), 12);
  EXPECT_EQ(bins.missed(10), 15);
  EXPECT_EQ(bins.missed(0.625), 0);
  EXPECT_EQ(bins.missed(10.625), 0);
  EXPECT_EQ(bins.missed(0.7), 0);
  EXPECT_EQ(bins.missed(1e-6), 0);
}

TEST(TimeTable, RepeatsItself) {
  const TimeTable table{.times = {1, 2, 4}, .values = {10, 20, -4}, .period = 4};  // a line from 4 to 5
  for (const auto& [time, expected] : {std::pair(1.0, 10.0),
                                       {1.5, 15.0},
                                       {4.0, -4.0},
                                       {4.5, 3.0},
                                       {0.5, 3.0},
                                       {0.0, -4.0},
                                       {5.0, 10.0},
                                       {5.25, 12.5},
                                       {-2.5, 15.0},
                                       {401.5, 15.0}})
    EXPECT_EQ(table.at(time), expected) << time;
  const TimeTable closed{.times = {0, 1, 2}, .values = {1, 3, 1}, .period = 2};
  for (const auto& [time, expected] : {std::pair(0.0, 1.0), {1.5, 2.0}, {2.0, 1.0}, {2.5, 2.0}})
    EXPECT_EQ(closed.at(time), expected) << time;
}

}  // namespace
}  // namespace sluice
