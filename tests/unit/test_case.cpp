// The case file as it is read: keys, defaults and presets, numbers, overrides, paths.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>

#include "solver/walls/opposition_control.hpp"
#include "solver/walls/wave_actuation.hpp"
#include "tests/support/buoyancy.hpp"
#include "tests/support/rotation.hpp"
#include "tests/unit/case_fixture.hpp"

namespace sluice::io {
namespace {

using namespace case_test;

TEST(Case, GivesTheStrengthOfBuoyancyInTheUnitsOfTheFlow) {
  const auto coefficient = [](const Lines& changes) {
    Lines all{"flow.reynolds={viscosity: 0.01}", "scalars=[{name: c, prandtl: 0.5}]"};
    all.insert(all.end(), changes.begin(), changes.end());
    return test::buoyancy_of(parse(minimal, all).flow).coefficient;
  };
  EXPECT_EQ(coefficient({"flow.buoyancy={richardson: 18}"}), 18);
  EXPECT_DOUBLE_EQ(coefficient({"flow.buoyancy={grashof: 8e4}"}), 1);      // (2h)^3 = 8
  EXPECT_DOUBLE_EQ(coefficient({"flow.buoyancy={rayleigh: 8e4}"}), 2);     // kappa = 0.02
  const std::string friction = "flow.buoyancy={friction_richardson: 18}";  // u_tau^2: force over area of walls
  EXPECT_DOUBLE_EQ(coefficient({friction, "flow.reynolds={tau: 180}"}), 18);
  EXPECT_DOUBLE_EQ(coefficient({friction, "flow.forcing={pressure_gradient: 0.5}"}), 9);
  EXPECT_DOUBLE_EQ(coefficient({friction, "flow.forcing={pressure_gradient: 0.5}", "walls.top=free_slip"}), 18);
}

TEST(Case, ReadsEveryKeyOfTheDesignExample) {
  const Case c = parse(full);
  EXPECT_EQ(c.title, "Turbulent channel, Re_tau = 180");
  EXPECT_EQ(c.flow.viscosity, 2 / 5714.0);
  EXPECT_EQ(c.flow.forcing.kind, ForcingKind::bulk_velocity);
  EXPECT_EQ(c.size, (std::array<double, 3>{4 * std::numbers::pi, 4 * std::numbers::pi / 3, 2}));
  EXPECT_EQ(c.cells, (std::array<std::int64_t, 3>{256, 192, 144}));
  EXPECT_EQ(c.stretching.kind, StretchingKind::tanh);
  EXPECT_EQ(c.stretching.factor, 1.6);
  EXPECT_EQ(c.time.end, 200.0);
  EXPECT_EQ(c.time.cfl, 0.9);
  EXPECT_FALSE(c.time.dt || c.time.steps || c.process_grid);
  EXPECT_EQ(c.z_blocks, 9);
  EXPECT_EQ(c.exchange, "auto");
  EXPECT_EQ(c.output.directory, "/cases/here/retau180");
  EXPECT_EQ(c.output.checkpoint_every, 20.0);
  EXPECT_TRUE(c.output.statistics.enabled);
  EXPECT_EQ(c.output.statistics.start, 60);
  ASSERT_EQ(c.output.slices.size(), 1U);
  EXPECT_EQ(c.output.slices[0], (SliceSpec{'z', 0.083, 1.0, {"u"}}));
  ASSERT_EQ(c.output.probes.size(), 1U);
  const ProbeSpec probe{"wake", {{0, std::numbers::pi}}, {}, {{0.1}}, 5, 0, {"u", "w"}};
  EXPECT_EQ(c.output.probes[0], probe);
  EXPECT_EQ(c.walltime, 1200.0);
  EXPECT_EQ(c.watchdog, 600.0);
  EXPECT_FALSE(c.max_divergence);
}

TEST(Case, FillsInDefaults) {
  const Case c = parse(minimal);
  EXPECT_EQ(c.title, "Channel flow");
  EXPECT_EQ(c.stretching.kind, StretchingKind::tanh);
  EXPECT_EQ(c.stretching.factor, 1.6);
  EXPECT_EQ(c.time.cfl, 0.9);
  EXPECT_FALSE(c.time.dt_max);
  EXPECT_EQ(c.flow.diffusion, Diffusion::explicit_);
  EXPECT_EQ(c.initial, (InitialSpec{InitialKind::turbulent, 1, ""}));
  EXPECT_EQ(c.z_blocks, 3);
  EXPECT_EQ(c.output.directory, "/cases/here/output");
  EXPECT_EQ(c.output.log_every, 100);
  EXPECT_EQ(c.output.log_seconds, 60.0);
  EXPECT_EQ(c.output.checkpoint_every, 20.0);
  EXPECT_EQ(c.output.writer, WriterSpec{});
  EXPECT_FALSE(c.output.statistics.enabled || c.output.spectra.enabled || c.output.densities.enabled || c.walltime ||
               c.watchdog);
  EXPECT_TRUE(c.output.slices.empty() && c.output.spectra.heights.empty());
  EXPECT_EQ(parse(minimal, {"grid.cells=[2, 1, 2]"}).z_blocks, 1);
}

TEST(Case, ReynoldsNumberSetsViscosityAndForcing) {
  const auto flow = [](const std::string& reynolds) { return parse(minimal, {"flow.reynolds." + reynolds}).flow; };
  EXPECT_EQ(flow("tau=180").viscosity, 1 / 180.0);
  EXPECT_EQ(flow("tau=180").forcing.kind, ForcingKind::pressure_gradient);
  EXPECT_EQ(flow("tau=180").forcing.value.constant(), 1);
  EXPECT_EQ(flow("center=4000").viscosity, 1 / 4000.0);
  EXPECT_EQ(flow("center=4000").forcing.kind, ForcingKind::pressure_gradient);
  EXPECT_EQ(flow("center=4000").forcing.value.constant(), 2 / 4000.0);
  EXPECT_EQ(flow("viscosity=3.5e-4").viscosity, 3.5e-4);
  EXPECT_EQ(flow("viscosity=3.5e-4").forcing.kind, ForcingKind::bulk_velocity);
  EXPECT_EQ(parse(minimal, {"flow.forcing=none"}).flow.forcing.kind, ForcingKind::none);
  EXPECT_EQ(parse(minimal, {"flow.forcing.pressure_gradient=-2"}).flow.forcing.value.constant(), -2);
}

TEST(Case, RotationNumberAndAxisSetTheRate) {
  using Vector = std::array<double, 3>;
  const auto rate = [](const std::string& rotation) {
    return test::rotation_of(parse(minimal, {"flow.rotation={" + rotation + "}"}).flow).rate;
  };
  EXPECT_FALSE(test::rotation_of(parse(minimal).flow).active());
  EXPECT_EQ(rate("number: 0.5"), (Vector{0, 0.25, 0}));
  EXPECT_EQ(rate("number: -0.5, axis: spanwise"), (Vector{0, -0.25, 0}));
  EXPECT_EQ(rate("number: 0.5, axis: streamwise"), (Vector{0.25, 0, 0}));
  EXPECT_EQ(rate("number: 0.5, axis: wall_normal"), (Vector{0, 0, 0.25}));
  EXPECT_EQ(rate("number: 1, axis: [0, 3, -4]"), (Vector{0, 0.5 * (3 / 5.0), 0.5 * (-4 / 5.0)}));
  EXPECT_FALSE(test::rotation_of(parse(minimal, {"flow.rotation={number: 0}"}).flow).active());
}

TEST(Case, AGeostrophicVelocityDrivesAnEkmanLayerOfAnyHeight) {
  const Lines ekman{"flow.type=open_channel", "flow.reynolds={viscosity: 2.5e-3}", "domain.size=[20, 20, 15]",
                    "flow.rotation={number: 5e-3, axis: wall_normal, geostrophic: [1, 0.5]}"};
  const Case settings = parse(minimal, ekman);
  EXPECT_EQ(settings.flow.forcing.kind, ForcingKind::none);
  EXPECT_EQ(test::rotation_of(settings.flow).geostrophic, (std::array<double, 2>{1, 0.5}));
  EXPECT_EQ(settings.size[2], 15);
  expect_round_trip(settings);
}

TEST(Case, FlowTypePresetsWallsAndEachSideCanBeOverridden) {
  const Case couette = parse(minimal, {"flow.type=couette", "flow.reynolds.wall=1500"});
  EXPECT_EQ(couette.title, "Couette flow");
  EXPECT_EQ(couette.flow.forcing.kind, ForcingKind::none);
  EXPECT_EQ(couette.flow.viscosity, 1 / 1500.0);
  EXPECT_EQ(couette.flow.bottom.velocity[0], -1);
  EXPECT_EQ(couette.flow.top.velocity[0], 1);
  const Lines open{"flow.type=open_channel", "domain.size=[pi, pi, 1]"};
  EXPECT_EQ(parse(minimal, open).flow.bottom.kind, WallKind::no_slip);
  EXPECT_EQ(parse(minimal, open).flow.top.kind, WallKind::free_slip);
  EXPECT_EQ(parse(minimal, {open[0], open[1], "walls.top.velocity=[2, 0.5, 0]"}).flow.top,
            (WallCondition{WallKind::no_slip, 2, 0.5}));
  const Case slip = parse(minimal, {"flow.type=couette", "walls.top=free_slip", "time.diffusion=implicit_z"});
  EXPECT_EQ(slip.flow.top, (WallCondition{WallKind::free_slip, 0, 0}));
  EXPECT_EQ(slip.flow.bottom.velocity[0], -1);
  EXPECT_EQ(parse(minimal, {"flow.type=couette", "walls.top=no_slip"}).flow.top.velocity[0], 1);
}

TEST(Case, WallsMoveByFormulasAndActuationsInOuterOrWallUnits) {
  const auto bottom = [](const std::string& keys) {
    return parse(minimal, {"walls.bottom={" + keys + "}"}).flow.bottom;
  };
  const WallCondition formula = bottom("velocity: [0.1, 'sin(x + t)', 0]");
  EXPECT_EQ(formula.velocity[0], 0.1);
  EXPECT_EQ(formula.total_velocity(1)({.x = 1, .t = 2}), std::sin(3.0));
  EXPECT_TRUE(formula.is_actuated());
  EXPECT_FALSE(bottom("velocity: [0.1, 0, 0]").is_actuated());

  // u_tau = 200 nu with nu = 2/5714
  const double nu = 2.0 / 5714;
  const WallCondition outer = bottom("velocity: [0.5, 1, 0], actuation: {type: oscillation, amplitude: 3, period: 8}");
  EXPECT_EQ(outer.total_velocity(0), Formula(0.5));
  EXPECT_DOUBLE_EQ(outer.total_velocity(1)({.t = 2}), 4);
  const Actuation wall =
      bottom("actuation: {type: oscillation, amplitude: 12, period: 100, units: wall, re_tau: 200}").actuation;
  EXPECT_DOUBLE_EQ(wall.amplitude, 12 * 200 * nu);
  EXPECT_DOUBLE_EQ(*wall.further.of<WaveParameters>().period, 100 / (200 * 200 * nu));
  EXPECT_DOUBLE_EQ(bottom("actuation: {type: opposition_control, amplitude: 1, height: 15, units: wall, re_tau: 200}")
                       .actuation.further.of<OppositionParameters>()
                       .height,
                   15.0 / 200);

  // the box is 4 pi x pi
  const WallCondition wave =
      bottom("actuation: {type: travelling_wave, component: streamwise, amplitude: 2, wavelength_x: pi, speed: 0.5}");
  EXPECT_DOUBLE_EQ(*wave.actuation.further.of<WaveParameters>().period, 2 * std::numbers::pi);
  EXPECT_NEAR(wave.total_velocity(0)({.x = 1, .t = 2}), 2 * std::sin(2 * 1 - 2), 1e-15);
  const WallCondition back =
      bottom("actuation: {type: blowing_suction, amplitude: 2, wavelength_y: pi/2, period: 1, direction: backward}");
  EXPECT_NEAR(back.total_velocity(2)({.y = 1, .t = 0.1}), 2 * std::sin(4 * 1 + 0.2 * std::numbers::pi), 1e-15);
}

TEST(Case, NumbersAreStrictAndMultiplesOfPiSimple) {
  EXPECT_EQ(parse_real("1e3"), 1000.0);
  EXPECT_EQ(parse_real("-.5"), -0.5);
  EXPECT_EQ(parse_real("+3."), 3.0);
  for (const char* bad :
       {"", "-", "+-1", "inf", ".inf", "nan", ".nan", "0x10", "0o17", "017", "1_000", "1,5", "1 2", "1e999"}) {
    EXPECT_FALSE(parse_real(bad)) << bad;
    EXPECT_FALSE(parse_integer(bad)) << bad;
    EXPECT_FALSE(parse_length(bad)) << bad;
  }
  EXPECT_EQ(parse_integer("1e6"), 1000000);
  EXPECT_EQ(parse_integer("9007199254740993"), 9007199254740993);
  EXPECT_FALSE(parse_integer("1.5"));
  EXPECT_FALSE(parse_integer("1e17"));
  EXPECT_EQ(parse_length("pi"), std::numbers::pi);
  EXPECT_EQ(parse_length("4 * pi / 3"), 4 * std::numbers::pi / 3);
  EXPECT_EQ(parse_length("2*pi*3"), 2 * std::numbers::pi * 3);
  for (const char* bad : {"4pi", "pi*", "*pi", "pi/0", "pi+1", "Pi", "2**pi"}) EXPECT_FALSE(parse_length(bad)) << bad;
  EXPECT_EQ(parse_duration("00:20:00"), 1200.0);
  EXPECT_EQ(parse_duration("100:00:07"), 360007.0);
  EXPECT_EQ(parse_duration("90.5"), 90.5);
  for (const char* bad : {"20:00", "0:60:0", "1:2:3:4", "-1:0:0", "-5", "a:b:c"})
    EXPECT_FALSE(parse_duration(bad)) << bad;
  EXPECT_EQ(parse_real(format_real(0.1 + 0.2)), 0.1 + 0.2);
}

TEST(Numbers, AreNumbersToReadersOfYaml11) {
  for (const auto& [value, text] : {std::pair(1e-5, "1.0e-05"),
                                    {-3e20, "-3.0e+20"},
                                    {1.25e-7, "1.25e-07"},
                                    {0.5, "0.5"},
                                    {2.0, "2"},
                                    {1e-300, "1.0e-300"}}) {
    EXPECT_EQ(yaml_real(value), text);
    EXPECT_EQ(parse_real(yaml_real(value)), value);
    EXPECT_EQ(with_points(format_real(value)), text);
  }
  EXPECT_EQ(with_points("[1e-05, 2.5e-05, -1.0e+06, e-05, x2e-05, 3e5]"),
            "[1.0e-05, 2.5e-05, -1.0e+06, e-05, x2e-05, 3e5]");
}

TEST(Case, TakesEveryWordForASwitch) {
  for (const char* word : {"on", "true", "yes", "True", "YES", "\"on\""}) {
    const Case c = parse(full, {std::string("output.statistics.budgets=") + word, std::string("watchdog=") + word});
    EXPECT_EQ(c.output.statistics_budgets, Switch::on) << word;
    EXPECT_FALSE(c.watchdog) << word;
  }
  for (const char* word : {"off", "false", "no", "False", "NO"}) {
    const Case c = parse(full, {std::string("output.statistics.budgets=") + word, std::string("watchdog=") + word});
    EXPECT_EQ(c.output.statistics_budgets, Switch::off) << word;
    EXPECT_EQ(c.watchdog, std::numeric_limits<double>::infinity()) << word;
  }
  EXPECT_EQ(faults(minimal, {"output.statistics.budgets=maybe"}).size(), 1U);
  EXPECT_EQ(faults(minimal, {"flow.forcing=no"}).size(), 1U);
  EXPECT_EQ(parse(minimal, {"title=yes"}).title, "yes");
}

TEST(Case, TakesLimitsOfFiguresAsNumbersOrPercentages) {
  const Case c =
      parse(minimal + "output: {statistics: {}}\n", {"time.until={re_tau: 0.3%, cf: 0.01, u_center: '2 %'}"});
  EXPECT_EQ(c.time.until, (AccuracyLimits{0.003, 0.01, {}, {}, {}, {}, 0.02}));
  expect_round_trip(c);
  EXPECT_EQ(parse(minimal).time.until, AccuracyLimits{});
  for (const char* bad : {"0", "-1%", "101%", "1.5", "%", "1%%", "nan", "1 h"})
    EXPECT_TRUE(
        contains(fault(fmt::format("time.until.re_tau={}", bad)), "allowed: a number or percentage > 0 and <= 1"))
        << bad;
  EXPECT_TRUE(contains(fault("time.until={re_taw: 1%}"), "did you mean 'time.until.re_tau'"));
}

TEST(Case, AcceptsOnlyExchangeMethodsOfTheBuild) {
  EXPECT_EQ(parse(minimal, {"parallel.exchange=mpi_p2p"}).exchange, "mpi_p2p");
  try {
    parse_case(minimal, "f", {"parallel.exchange=nccl"}, "/", {{"auto", "mpi_p2p"}});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), "this build of Sluice does not have the method 'nccl'")) << error.what();
  }
  EXPECT_TRUE(contains(fault("parallel.exchange=magic"), "'magic' is not known"));
  EXPECT_EQ(parse_case(minimal, "f", {"parallel.exchange=nccl"}, "/", {known_exchange_methods()}).exchange, "nccl");
  EXPECT_TRUE(contains(fault("parallel.exchange={rows: magic}"), "parallel.exchange.rows: 'magic' is not known"));
}

TEST(Case, GivesEachKindOfTrafficAnExchangeMethod) {
  const Case mixed = parse(minimal, {"parallel.exchange={halos: mpi_p2p, columns: mpi_alltoall}"});
  EXPECT_EQ(mixed.exchange, ExchangeMethods("mpi_p2p", "auto", "mpi_alltoall"));
  EXPECT_EQ(ExchangeMethods::from_text(mixed.exchange.text()), mixed.exchange) << mixed.exchange.text();
  EXPECT_EQ(ExchangeMethods::from_text("mpi_p2p"), "mpi_p2p");
  EXPECT_EQ(ExchangeMethods::from_text("halo=mpi_p2p"), "halo=mpi_p2p");  // no kind of traffic: the name of no method
  expect_round_trip(mixed);
  EXPECT_EQ(parse(minimal + "parallel: {exchange: mpi_p2p}\n", {"parallel.exchange.rows=mpi_alltoall"}).exchange,
            ExchangeMethods("mpi_p2p", "mpi_alltoall", "mpi_p2p"));
}

TEST(Case, OverridesReplaceAndRemoveAlternatives) {
  EXPECT_EQ(parse(full, {"time.dt=0.01"}).time.dt, 0.01);
  EXPECT_FALSE(parse(full, {"time.dt=0.01"}).time.cfl);
  EXPECT_EQ(parse(full, {"time.dt=0.01", "time.cfl=0.5"}).time.cfl, 0.5) << "the last of two wins";
  EXPECT_FALSE(parse(full, {"time.steps=10"}).time.end);
  EXPECT_EQ(parse(full, {"flow.reynolds.tau=395"}).reynolds.kind, ReynoldsKind::tau);
  EXPECT_EQ(parse(full, {"flow.forcing.pressure_gradient=1"}).flow.forcing.kind, ForcingKind::pressure_gradient);
  EXPECT_EQ(parse(full, {"grid.stretching={type: uniform}"}).stretching, StretchingSpec{});
  EXPECT_EQ(parse(full, {"grid.stretching.type=uniform"}).stretching, StretchingSpec{}) << "the factor goes too";
  EXPECT_FALSE(parse(full, {"output.checkpoint=none"}).output.checkpoint_every);
  EXPECT_EQ(parse(full, {"output.checkpoint=none", "output.checkpoint.every=3"}).output.checkpoint_every, 3.0);
  EXPECT_FALSE(parse(full, {"walltime=none"}).walltime);
  EXPECT_FALSE(parse(full, {"output.log.every=none"}).output.log_every);
  EXPECT_EQ(parse(full, {"output.log.seconds=2m"}).output.log_seconds, 120.0);
  EXPECT_FALSE(parse(full, {"output.log.seconds=none"}).output.log_seconds);
  EXPECT_FALSE(parse(full, {"watchdog=auto"}).watchdog);
  EXPECT_EQ(parse(full, {"watchdog=off"}).watchdog, std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse(full, {"parallel.grid=[2, 3]"}).process_grid, (std::array<int, 2>{2, 3}));
  EXPECT_TRUE(
      faults("flow: {reynolds: {tau: 1}}\n", {"domain.size=[1, 1, 2]", "grid.cells=[4, 4, 4]", "time.end=1"}).empty());
}

TEST(Case, PathsResolveAgainstTheirOrigin) {
  const std::string text = minimal + "initial: {type: fields, file: ../start.h5}\noutput: {directory: a/./b/}\n";
  EXPECT_EQ(parse(text).initial.file, "/cases/start.h5");
  EXPECT_EQ(parse(text).output.directory, "/cases/here/a/b");
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(parse(text, {"output.directory=x"}).output.directory, here + "/x");
  EXPECT_EQ(parse(text, {"initial={type: checkpoint, file: c.h5}"}).initial.file, here + "/c.h5");
  EXPECT_EQ(parse(text, {"output.directory=/abs"}).output.directory, "/abs");
  EXPECT_EQ(parse(minimal, {"output.directory=" + quoted_yaml("/a: #b\"\\\n")}).output.directory, "/a: #b\"\\\n");
}

TEST(Case, AcceptsYamlAnchors) {
  EXPECT_EQ(parse(minimal + "walls: {bottom: &wall {velocity: [1, 0, 0]}, top: *wall}\n").flow.top.velocity[0], 1);
  // Nine levels of nine aliases would be a tree of half a billion values.
  std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int n = 1; n < 10; ++n) {
    const std::string alias = fmt::format("*a{}", n - 1);
    bomb += fmt::format("a{0}: &a{0} [{1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}]\n", n, alias);
  }
  EXPECT_TRUE(contains(faults(bomb)[0], "anchors and aliases expand to more than 1 MiB"));
}

}  // namespace
}  // namespace sluice::io
