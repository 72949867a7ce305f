// What a message says to write instead, for mistakes that are easy to make.
#include <gtest/gtest.h>

#include "io/case/numbers.hpp"
#include "io/case/yaml_tree.hpp"
#include "tests/unit/case_fixture.hpp"

namespace sluice::io {
namespace {

using namespace case_test;

void expect_advice(const std::string& message, const std::string& part) {
  EXPECT_TRUE(contains(message, part)) << message << "\nlacks: " << part;
}

TEST(CaseAdvice, KnowsTheUsualNamesOfKeys) {
  const std::string tau_first = "did you mean 'flow.reynolds.tau' or 'grid.stretching.re_tau'?";
  expect_advice(fault("Re_tau=180"), tau_first);
  expect_advice(fault("flow.Re_tau=180"), tau_first);
  expect_advice(fault("flow.reynolds.Re_tau=180"), "did you mean 'flow.reynolds.tau'?");
  expect_advice(fault("grid.Re_tau=180"), "did you mean 'grid.stretching.re_tau' or 'flow.reynolds.tau'?");
  expect_advice(fault("grid.stretching.Re_tau=180"), "did you mean 'grid.stretching.re_tau'?");
  expect_advice(fault("grid.nx=32"), "did you mean 'grid.cells'?");
  expect_advice(fault("flow.nu=1e-3"), "did you mean 'flow.reynolds.viscosity'?");
  // Nothing that the key was meant for is reported as missing.
  const Lines lines =
      faults("flow: {reynolds: {Re_tau: 180}}\ndomain: {size: [4, 2, 2]}\ngrid: {cells: [8, 8, 8]}\ntime: {end: 1}\n");
  ASSERT_EQ(lines.size(), 1U);
  expect_advice(lines[0], "case.yaml:1:19: flow.reynolds.Re_tau: unknown key");
}

/// The only fault of the minimal case with these sections behind it.
std::string fault_with(const std::string& more) {
  const Lines lines = faults(minimal + more);
  EXPECT_EQ(lines.size(), 1U) << more;
  return lines.empty() ? "" : lines[0];
}

TEST(CaseAdvice, KnowsTheUsualNamesOfScalarsAndBuoyancy) {
  for (const char* name : {"Pr", "schmidt", "diffusivity", "prandlt"})
    expect_advice(fault_with("scalars: [{name: T, " + std::string(name) + ": 0.7}]\n"),
                  "did you mean 'scalars[].prandtl'?");
  expect_advice(fault_with("scalars: [{name: T, walls: {lower: {value: 0}}}]\n"),
                "did you mean 'scalars[].walls.bottom'?");
  expect_advice(fault_with("scalars: [{name: T, walls: {top: {temperature: 0}}}]\n"),
                "did you mean 'scalars[].walls.top.value'?");
  // The strength of buoyancy is not missing, too.
  expect_advice(fault("flow.buoyancy={scalar: T, Ri: 18}"), "did you mean 'flow.buoyancy.richardson'?");
  expect_advice(fault("flow.gravity=9.81"), "did you mean 'flow.buoyancy.direction'?");
}

TEST(CaseAdvice, KnowsTheUsualNamesOfWallsAndForces) {
  const auto of_wall = [](const std::string& key) {
    return fault("walls.top.actuation={type: opposition_control, amplitude: 1, " + key + ": 15}");
  };
  expect_advice(of_wall("z_plus"), "did you mean 'walls.top.actuation.height'?");
  expect_advice(fault("walls.top.actuation={type: oscillation, W+: 12, period: 100}"),
                "did you mean 'walls.top.actuation.amplitude'?");
  expect_advice(fault("walls.lower=no_slip"), "did you mean 'walls.bottom'?");
  expect_advice(fault("walls.top.amplitude=1"), "did you mean 'walls.top.actuation.amplitude'?");
  expect_advice(fault("flow.actuation={type: oscillation}"), "did you mean 'walls.bottom.actuation'?");
  expect_advice(fault("flow.hartmann=5"), "did you mean 'flow.magnetic_field.hartmann'?");
  expect_advice(fault("flow.ha=5"), "did you mean 'flow.magnetic_field.hartmann'?");
  expect_advice(fault("flow.mhd={hartmann: 5}"), "did you mean 'flow.magnetic_field'?");
  expect_advice(fault("flow.forcing_y={bulk_velocity: 0}"), "did you mean 'flow.spanwise_forcing'?");
  expect_advice(fault("flow.forcing={flow_rate: 1}"), "did you mean 'flow.forcing.bulk_velocity'?");
}

TEST(CaseAdvice, KnowsWhatAValueMayMean) {
  const auto expect = [](const std::string& text, const std::string& meant) {
    expect_advice(fault(text), " is not known; allowed: ");
    expect_advice(fault(text), "; did you mean " + meant + "?");
  };
  expect("flow.type=ekman", "'open_channel' with flow.rotation.geostrophic");
  expect("flow.type=hartmann", "'channel' with flow.magnetic_field");
  expect("flow.rotation={number: 1, axis: y}", "'spanwise'");
  expect("flow.rotation={number: 1, axis: spanwize}", "'spanwise'");
  expect("walls.bottom.type=oscillation", "'walls.bottom.actuation.type: oscillation'");
  const std::string rest = ", amplitude: 1, period: 100, re_tau: 200}";
  expect("walls.top.actuation={type: oscillation, units: plus" + rest, "'wall'");
  expect("walls.top.actuation={type: oscillation, units: wall, component: v" + rest, "'spanwise'");
  expect("walls.top.actuation={type: oposition, units: wall" + rest, "'opposition_control'");
  EXPECT_FALSE(contains(fault("flow.type=pipe"), "did you mean"));
}

TEST(CaseAdvice, SaysHowFormulasAreWritten) {
  const std::string key = "flow.forcing.bulk_velocity=";
  expect_advice(fault(key + "sin(t)**2"), "a power is written ^; allowed: a number or a formula of t");
  expect_advice(fault(key + "1 + 2 sin(t)"), "'s' is not expected here; a product needs a *;");
  EXPECT_FALSE(contains(fault(key + "1 + sin(t))"), "a product needs"));
  EXPECT_FALSE(contains(fault(key + "2*+*t"), "a power is written"));
  const Lines cut = faults("flow: {reynolds: {bulk: 5714}, forcing: {bulk_velocity: max(1, t)}}\n" +
                           minimal.substr(minimal.find("domain")));
  expect_advice(cut.at(0), "',' is missing; put a formula that has a comma in quotes;");
  EXPECT_FALSE(contains(fault(key + "'max(1'"), "in quotes"));
}

TEST(CaseAdvice, RefusesASlipLengthWithoutSlip) {
  expect_advice(fault("walls.bottom.slip_length=0.01"), "the wall is no_slip; allowed: with type: slip only");
  EXPECT_TRUE(faults(minimal, {"walls.bottom={type: slip, slip_length: 0.01}"}).empty());
}

TEST(CaseAdvice, FindsColonsWithoutASpace) {
  const std::string rest = "domain: {size: [4, 2, 2]}\ngrid: {cells: [8, 8, 8]}\ntime: {end: 1}\n";
  expect_advice(faults("flow: {type:channel, reynolds: {bulk: 5600}}\n" + rest)[0],
                "case.yaml:1:8: flow.type:channel: unknown key: write 'type: channel', with a space behind the colon");
  const Lines number = faults("flow: {reynolds: {bulk:5600}}\n" + rest);
  ASSERT_EQ(number.size(), 1U) << "the key that was meant is not missing";
  expect_advice(number[0], "write 'bulk: 5600', with a space behind the colon");
  expect_advice(faults("flow:\n  reynolds:\n    bulk:5600\n" + rest)[0],
                "case.yaml:3:5: flow.reynolds: 'bulk:5600' is not a map; allowed: a map of bulk, tau, center, wall, "
                "viscosity; write 'bulk: 5600', with a space behind the colon");
  expect_advice(faults("flow:\n  type:channel\n  reynolds: {bulk: 5600}\n" + rest)[0],
                "in line 2, write 'type: channel', with a space behind the colon");
  EXPECT_FALSE(contains(faults("title: a: b\n")[0], "behind the colon"));
}

TEST(CaseAdvice, SaysHowAValueBecomesAMap) {
  expect_advice(fault("flow.reynolds=5600"),
                "'5600' is not a map; allowed: a map of bulk, tau, center, wall, viscosity; write {bulk: 5600} or "
                "{tau: 5600} or {center: 5600} or {wall: 5600} or {viscosity: 5600}");
  expect_advice(fault("grid.stretching=tanh"), "write {type: tanh}");
  expect_advice(fault("output.timeseries=5"), "write {every: 5}");
  EXPECT_FALSE(contains(fault("grid=fine"), "write"));
}

TEST(CaseAdvice, TakesDurationsWithUnits) {
  EXPECT_EQ(parse_duration("4h"), 14400.0);
  EXPECT_EQ(parse_duration("30m"), 1800.0);
  EXPECT_EQ(parse_duration("2d"), 172800.0);
  EXPECT_EQ(parse_duration("45s"), 45.0);
  EXPECT_EQ(parse_duration("1.5h"), 5400.0);
  EXPECT_EQ(parse_duration("1d2h3m4s"), 93784.0);
  EXPECT_EQ(parse(minimal, {"walltime=4h"}).walltime, 14400.0);
  for (const char* bad : {"h", "4h30", "30m1h", "4 h", "-4h", "1h-1m", "4hh", "4w", "1e400h", "4:30h"})
    EXPECT_FALSE(parse_duration(bad)) << bad;
  expect_advice(fault("walltime=4w"), "'4w' is not a duration; allowed: none, or H:M:S, a time such as 90m, 4h or 2d");
}

TEST(CaseAdvice, SaysHowToWriteAList) {
  for (const char* text : {"32x32x32", "32X32X32", "32 x 32 x 32", "32 32 32", "32*32*32", "'32, 32, 32'"})
    expect_advice(fault(std::string("grid.cells=") + text), "is not a list: write [32, 32, 32]; allowed: a list of 3");
  expect_advice(fault("domain.size=4*pi x 2*pi x 2"), "write [4*pi, 2*pi, 2]");
  EXPECT_FALSE(contains(fault("grid.cells=32"), "write"));
  EXPECT_FALSE(contains(fault("grid.cells=fine grid"), "write"));
}

TEST(CaseAdvice, ComputesWhatItDoesNotTake) {
  expect_advice(fault("flow.reynolds.bulk=2*2800"),
                "'2*2800' is not a finite decimal number (only lengths are computed: write 5600); allowed: a number");
  expect_advice(fault("grid.cells=[2*16, 16, 48]"), "'2*16' is not an integer (only lengths are computed: write 32)");
  EXPECT_FALSE(contains(fault("flow.reynolds.bulk=many"), "write"));
}

TEST(CaseAdvice, FindsTheBracketThatIsNotClosed) {
  const auto expect = [](const std::string& text, const std::string& place, const std::string& what) {
    const Lines lines = faults(text);
    ASSERT_EQ(lines.size(), 1U) << text;
    EXPECT_EQ(lines[0], place + ": not valid YAML: " + what) << text;
  };
  expect("flow: {reynolds: {bulk: 5600}\ndomain: {size: [4, 2, 2]}\n", "case.yaml:1:7",
         "the { that opens here is not closed");
  expect(minimal + "output:\n  slices: [{normal: z, at: 1, every: 1}\n  log: {every: 1}\n", "case.yaml:7:11",
         "the [ that opens here is not closed");
  expect("grid: {cells: [8, 8, 8}\n", "case.yaml:1:23", "this } cannot close the [ that opens in line 1, column 15");
}

TEST(CaseAdvice, CountsOnlyBracketsWithAMeaning) {
  for (const char* text : {"title: a [ b\n", "title: '['\n", "title: \"\\\"[\"\n", "# [\ntitle: a # {\n", "a: b]\n",
                           "a: {b: 'c}', d: [1, 2]}\n", "- [1]\n- {a: 1}\n", "a:\n  [1,\n   2]\n", "a: it's [\n", ""})
    EXPECT_FALSE(bracket_fault(text)) << text;
  for (const char* text : {"a: [\n", "- {\n", "[", "a: {b: c[}\n", "a: ['x', \"y\"\n"})
    EXPECT_TRUE(bracket_fault(text)) << text;
}

}  // namespace
}  // namespace sluice::io
