// The case file: parsing, defaults and presets, error messages, overrides, round trip, comparison for
// restarts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <filesystem>
#include <locale>
#include <numbers>
#include <regex>
#include <set>
#include <sstream>

#include "core/support/error.hpp"
#include "io/case/case_file.hpp"

namespace sluice::io {
namespace {

using Lines = std::vector<std::string>;

// Line numbers of the tests below refer to this text.
const std::string minimal =
    "flow:\n"                          // 1
    "  reynolds: {bulk: 5714}\n"       // 2
    "domain: {size: [4*pi, pi, 2]}\n"  // 3
    "grid: {cells: [32, 16, 48]}\n"    // 4
    "time: {end: 200}\n";              // 5

// The design's own example, every section of it.
const std::string full = R"(title: Turbulent channel, Re_tau = 180
flow:
  type: channel                    # presets
  reynolds: {bulk: 5714}
  forcing: {bulk_velocity: 1.0}
domain: {size: [4*pi, 4*pi/3, 2]}
grid:
  cells: [256, 192, 144]
  stretching: {type: tanh, factor: 1.6}
walls: {bottom: {velocity: [0, 0, 0]}, top: {velocity: [0, 0, 0]}}
time:
  end: 200
  cfl: 0.9
  diffusion: explicit
initial: {type: turbulent, seed: 1}
solver: {tridiagonal: ptdma, z_blocks: auto}
parallel: {grid: auto, exchange: auto}
output:
  directory: retau180
  log: {every: 100}
  timeseries: {every: 10}
  checkpoint: {every: 20.0, keep: 2}
  statistics: {start: 60.0, every: 10, block: 10.0}
  slices: [{normal: z, at: 0.083, every: 1.0, fields: [u]}]
  probes: [{name: wake, x: [0, pi], z: 0.1, every: 5, fields: [u, w]}]
walltime: 00:20:00
watchdog: 00:10:00
)";

Case parse(const std::string& text, const Lines& overrides = {}) {
  return parse_case(text, "case.yaml", overrides, "/cases/here");
}

// The lines of the message after its head; empty if the case is accepted.
Lines faults(const std::string& text, const Lines& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    std::istringstream message(error.what());
    Lines lines;
    for (std::string line; std::getline(message, line);) lines.push_back(line);
    lines.erase(lines.begin());
    return lines;
  }
  return {};
}

// The only fault of the minimal case with these overrides.
std::string fault(const std::string& override_text) {
  const Lines lines = faults(minimal, {override_text});
  EXPECT_EQ(lines.size(), 1U) << override_text;
  return lines.size() == 1 ? lines[0] : "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_round_trip(const Case& settings) {
  const std::string text = resolved_yaml(settings);
  const Case again = parse_case(text, "resolved.yaml", {}, "/elsewhere", known_exchange_methods());
  EXPECT_TRUE(again == settings) << text;
  EXPECT_EQ(resolved_yaml(again), text);
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
  EXPECT_EQ(c.output.checkpoint_every, 20.0);
  EXPECT_FALSE(c.output.statistics.enabled || c.output.spectra.enabled || c.output.densities.enabled || c.walltime ||
               c.watchdog);
  EXPECT_TRUE(c.output.slices.empty() && c.output.spectra.heights.empty());
  EXPECT_EQ(parse(minimal, {"grid.cells=[2, 1, 2]"}).z_blocks, 1);
}

TEST(Case, ReynoldsNumberSetsViscosityAndForcing) {
  const auto flow = [](const std::string& reynolds) { return parse(minimal, {"flow.reynolds." + reynolds}).flow; };
  EXPECT_EQ(flow("tau=180").viscosity, 1 / 180.0);
  EXPECT_EQ(flow("tau=180").forcing.kind, ForcingKind::pressure_gradient);
  EXPECT_EQ(flow("tau=180").forcing.value, 1);
  EXPECT_EQ(flow("center=4000").viscosity, 1 / 4000.0);
  EXPECT_EQ(flow("center=4000").forcing.kind, ForcingKind::pressure_gradient);
  EXPECT_EQ(flow("center=4000").forcing.value, 2 / 4000.0);
  EXPECT_EQ(flow("viscosity=3.5e-4").viscosity, 3.5e-4);
  EXPECT_EQ(flow("viscosity=3.5e-4").forcing.kind, ForcingKind::bulk_velocity);
  EXPECT_EQ(parse(minimal, {"flow.forcing=none"}).flow.forcing.kind, ForcingKind::none);
  EXPECT_EQ(parse(minimal, {"flow.forcing.pressure_gradient=-2"}).flow.forcing.value, -2);
}

TEST(Case, FlowTypePresetsWallsAndEachSideCanBeOverridden) {
  const Case couette = parse(minimal, {"flow.type=couette", "flow.reynolds.wall=1500"});
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

TEST(Case, ReportsAllFaultsAtOnceInTheOrderOfTheFile) {
  const Lines lines = faults(
      "flow:\n"
      "  tpye: couette\n"
      "  reynolds: {bulk: 5714, tau: 180}\n"
      "domain:\n"
      "  size: [4*pi, 0, 2, 1]\n"
      "grid:\n"
      "  cells: [32, 1.5, 1]\n"
      "time:\n"
      "  cfl: 7\n"
      "  dt: 0.1\n"
      "  diffusion: implict_z\n"
      "output:\n"
      "  slices:\n"
      "    - {normal: q, at: 1, every: 1}\n"
      "    - {normal: z, at: 3, fields: [u, u]}\n",
      {"walltime=1:90:00"});
  const Lines expected{
      "case.yaml:2:3: flow.tpye: unknown key; allowed here: type, reynolds, forcing; did you mean "
      "'flow.type'?",
      "case.yaml:3:26: flow.reynolds.tau: contradicts flow.reynolds.bulk in line 3; allowed: one of the two",
      "case.yaml:5:9: domain.size: a list of 4 where 3 are needed; allowed: a list of 3 numbers or multiples "
      "of pi such "
      "as 4*pi/3, each > 0",
      "case.yaml:7:15: grid.cells[1]: '1.5' is not an integer; allowed: a list of 3 integers, >= 2 and <= "
      "1000000, >= 1 "
      "and <= 1000000, >= 2 and <= 1000000",
      "case.yaml:7:20: grid.cells[2]: '1' is out of range; allowed: a list of 3 integers, >= 2 and <= "
      "1000000, >= 1 and "
      "<= 1000000, >= 2 and <= 1000000",
      "case.yaml:8:1: time: one of the keys end, steps is needed",
      "case.yaml:9:8: time.cfl: '7' is out of range; allowed: a number > 0 and <= 1",
      "case.yaml:10:3: time.dt: contradicts time.cfl in line 9; allowed: one of the two",
      "case.yaml:11:14: time.diffusion: 'implict_z' is not known; allowed: one of explicit, implicit_z; did "
      "you mean "
      "'implicit_z'?",
      "case.yaml:14:16: output.slices[0].normal: 'q' is not known; allowed: one of x, y, z",
      "case.yaml:15:7: output.slices[1].every: missing, and it has no default; allowed: a number > 0",
      "case.yaml:15:38: output.slices[1].fields[1]: 'u' is given twice; allowed: a list of different ones of "
      "u, v, w, p",
      "--set walltime=1:90:00: walltime: '1:90:00' is not a duration; allowed: none, or H:M:S or a number of "
      "seconds > 0",
  };
  EXPECT_EQ(lines, expected);
}

TEST(Case, SuggestsTheNearestKey) {
  EXPECT_TRUE(contains(faults("tiem: {end: 1}\n" + minimal)[0], "case.yaml:1:1: tiem: unknown key"));
  EXPECT_TRUE(contains(faults("tiem: {end: 1}\n" + minimal)[0], "did you mean 'time'?"));
  EXPECT_TRUE(contains(faults("cfl: 0.5\n" + minimal)[0], "did you mean 'time.cfl'?"));
  EXPECT_TRUE(contains(fault("flow.reynolds.buk=3"), "did you mean 'flow.reynolds.bulk'?"));
  EXPECT_TRUE(contains(fault("flow.type=chanel"), "did you mean 'channel'?"));
  EXPECT_FALSE(contains(fault("qqqqqqqq=3"), "did you mean"));
  // A misspelt key is not reported as missing a second time.
  EXPECT_EQ(faults("flow: {reynolds: {bulk: 5}}\ndomain: {size: [1, 1, 2]}\ngrid: {cels: [2, 2, 2]}\ntime: "
                   "{ends: 1}\n")
                .size(),
            2U);
}

TEST(Case, FindsDuplicateKeysAtEveryLevel) {
  EXPECT_EQ(faults(minimal + "time: {end: 3}\n"),
            Lines{"case.yaml:6:1: time: given twice, first in line 5; remove one of the two"});
  EXPECT_EQ(faults(minimal + "output:\n  log:\n    every: 1\n    every: 2\n"),
            Lines{"case.yaml:9:5: output.log.every: given twice, first in line 8; remove one of the two"});
  EXPECT_TRUE(contains(fault("output.log={every: 1, every: 2}"), "output.log.every: given twice"));
}

TEST(Case, RefusesTextThatIsNoCase) {
  EXPECT_TRUE(contains(faults("")[0], "case.yaml:1:1: the file is empty"));
  EXPECT_TRUE(contains(faults("# nothing\n")[0], "the file is empty"));
  EXPECT_TRUE(contains(faults("\n- 1\n- 2\n")[0], "case.yaml:2:1: a list where a map is needed"));
  EXPECT_TRUE(contains(faults("hello\n")[0], "'hello' where a map is needed"));
  EXPECT_TRUE(contains(faults("flow:\n\ttype: channel\n")[0], "case.yaml:2:1: a tab in the indentation"));
  EXPECT_TRUE(contains(faults("flow: {type: channel\ngrid: [\n")[0], "case.yaml:"));
  EXPECT_TRUE(contains(faults("title: a: b\n")[0], "case.yaml:1:9: not valid YAML"));
  EXPECT_TRUE(contains(faults(minimal + "---\na: 1\n")[0], "a second YAML document"));
  EXPECT_TRUE(contains(faults("title: a\x04\n" + minimal)[0], "case.yaml:1:9: control character 0x04"));
  EXPECT_TRUE(contains(faults(std::string("\xff\xfe"
                                          "t\0",
                                          4))[0],
                       "case.yaml:1:1: text in UTF-16; a case file is UTF-8"));
  EXPECT_TRUE(contains(faults(std::string("t\0i\0", 4))[0], "case.yaml:1:2: control character 0x00"));
  EXPECT_EQ(faults("title: [\n", {"nonsense"}).size(), 2U) << "arguments are judged even if the file cannot be read";
}

TEST(Case, FindsTheBeginningOfAnOpenQuote) {
  const auto expect = [](const std::string& text, const std::string& place) {
    const Lines lines = faults(text);
    ASSERT_EQ(lines.size(), 1U) << text;
    EXPECT_EQ(lines[0], place + ": not valid YAML: the quote that begins here is not closed") << text;
  };
  expect(minimal + "title: \"Turbulent channel\noutput:\n  log: {every: 1}\n", "case.yaml:6:8");
  expect(minimal + "title: 'Turbulent channel\noutput:\n  log: {every: 1}\n", "case.yaml:6:8");
  expect(minimal + "title: \"without a line break", "case.yaml:6:8");
  expect(minimal + "title: \"spaces at the end\n   ", "case.yaml:6:8");
  expect(minimal + "title: \"a backslash at the end \\\n", "case.yaml:6:8");
  expect(minimal + "title: \"an escaped \\\" quote\n", "case.yaml:6:8");
  expect(minimal + "title: 'an ''escaped'' quote\n", "case.yaml:6:8");
  expect(minimal + "title: \"the other's quotes\n# don't mind\n", "case.yaml:6:8");
  expect(minimal + "title: \"\n", "case.yaml:6:8");
  expect(minimal + "title: \"lines end\r\n  with CR LF\r\n", "case.yaml:6:8");
  expect(minimal + "title: \"a document ends\n---\nmore: 1\n", "case.yaml:6:8");
  expect("title: 'closed' # don't\noutput: {directory: \"here, log: {every: 1}}\n", "case.yaml:2:21");
  expect("title: 'closed'\n\"output: {log: {every: 1}}\n" + minimal, "case.yaml:2:1");
  expect("title: closed\noutput: {'log: {every: 1}}\n" + minimal, "case.yaml:2:10");
  expect("title: [closed, \"open\n" + minimal, "case.yaml:1:17");
  expect("title: [é, ü, \"ö\n" + minimal, "case.yaml:1:17");
  expect("\"all of it\n" + minimal, "case.yaml:1:1");
  expect("\xef\xbb\xbftitle: \"a byte order mark\n", "case.yaml:1:8");
  EXPECT_TRUE(contains(fault("title=\"open"), "title: not valid YAML: the quote that begins here is not closed"));
}

TEST(Case, TakesQuotesThatOpenNothing) {
  const auto title = [](const std::string& text) { return parse(minimal + "title: " + text).title; };
  EXPECT_EQ(title("don't\n"), "don't");
  EXPECT_EQ(title("12\" pipe # it's wide\n"), "12\" pipe");
  EXPECT_EQ(title("'don''t'\n"), "don't");
  EXPECT_EQ(title("\"a \\\"b\\\" c\"\n"), "a \"b\" c");
  EXPECT_EQ(title("\"two\n  lines\"\n\n"), "two lines");
  EXPECT_EQ(title("two\n  lines\r\n"), "two lines");
  EXPECT_EQ(title("|\n  don't\n  \"stop\n"), "don't\n\"stop\n");
  EXPECT_EQ(title("|\n  don't"), "don't");
  EXPECT_EQ(title(">-\n  don't\n  stop\n"), "don't stop");
  EXPECT_EQ(title("|\n  spaces at the end\n  "), "spaces at the end\n");
  EXPECT_EQ(title("x # don't \"stop\n"), "x");
  EXPECT_EQ(parse(minimal, {"title=don't\n"}).title, "don't");
  EXPECT_EQ(parse(minimal, {"title=|\n  don't\n"}).title, "don't\n");
}

TEST(Case, RefusesTextOfAnySizeAtOnce) {
  const auto first_fault = [](const std::string& text) { return faults(minimal + text).at(0); };
  const auto repeated = [](std::size_t count, const std::string& part) {
    std::string text;
    for (std::size_t n = 0; n < count; ++n) text += part;
    return text;
  };
  EXPECT_EQ(first_fault(repeated(1 << 20, "#")), "case.yaml:1:1: 1048682 bytes; a case is at most 1048576");
  for (const char* open : {"[", "{", "[{", "- "}) {
    EXPECT_TRUE(contains(first_fault("title:\n  " + repeated(200000, open)), "nested more than 20 levels deep"))
        << open;
  }
  EXPECT_TRUE(contains(first_fault("title: " + repeated(1000, "[")), "nested more than 20 levels deep"));
  EXPECT_TRUE(contains(first_fault("title: [" + repeated(10000, "1, ") + "]\n"),
                       "more than 10000 keys and values; a case has far fewer"));
  const std::string large = "a: &a " + std::string(10000, 'x') + "\nb: [";
  EXPECT_TRUE(
      contains(first_fault(large + repeated(1000, "*a, ") + "]\n"), "anchors and aliases expand to more than 1 MiB"));
  EXPECT_TRUE(contains(first_fault("a: " + repeated(18, "&a [") + repeated(2000, "1, ") + repeated(18, "]") + "\n"),
                       "anchors and aliases expand to more than 1 MiB"));
  EXPECT_TRUE(contains(first_fault(std::string(101, 'k') + ": 1\n"), "the name of a key must be a word"));
}

TEST(Case, ReportsTheFirstTwentyProblems) {
  std::string text = minimal;
  for (int n = 0; n < 4500; ++n) text += fmt::format("unknown{}: 1\n", n);
  const Lines lines = faults(text);
  ASSERT_EQ(lines.size(), 21U);
  EXPECT_TRUE(contains(lines[0], "case.yaml:6:1: unknown0: unknown key"));
  EXPECT_TRUE(contains(lines[19], "case.yaml:25:1: unknown19: unknown key"));
  EXPECT_EQ(lines[20], "and 4480 more");
  EXPECT_LT(faults(minimal + "walltime: " + std::string(100000, 'x') + "\n").at(0).size(), 500U);
}

TEST(Case, RefusesWrongTypes) {
  EXPECT_TRUE(contains(fault("time.end='abc'"), "the text \"abc\" is not a finite decimal number"));
  EXPECT_TRUE(contains(fault("time.end='200'"), "not a finite decimal number")) << "quoted numbers are text";
  EXPECT_TRUE(contains(fault("time.end=.inf"), "not a finite decimal number"));
  EXPECT_TRUE(contains(fault("time.end=[1]"), "a list is not a value"));
  EXPECT_TRUE(contains(fault("time.end="), "no value given"));
  EXPECT_TRUE(contains(fault("domain.size=2"), "'2' is not a list"));
  EXPECT_TRUE(contains(fault("output.log=5"), "'5' is not a map; allowed: a map of every"));
  EXPECT_TRUE(contains(fault("output.slices=[3]"), "output.slices[0]: '3' is not a map"));
  EXPECT_TRUE(
      contains(fault("output.probes=[{name: a, x: [], every: 1}]"),
               "output.probes[0].x: an empty list; allowed: all, or a number or multiple of pi >= 0, or a list"));
  EXPECT_TRUE(contains(fault("output.probes=[{name: a, z: 1, every: 1, fields: [t]}]"), "'t' is not known"));
  EXPECT_TRUE(contains(fault("output.probes=[{name: a, z: top, every: 1}]"), "not a finite decimal number"));
  EXPECT_TRUE(contains(fault("output.directory=''"), "an empty path"));
  EXPECT_TRUE(contains(fault("flow.forcing={}"), "one of the keys bulk_velocity, pressure_gradient is needed"));
  EXPECT_TRUE(faults(minimal + "parallel:\noutput: {log: }\n").empty()) << "a section without keys is an empty one";
}

TEST(Case, RefusesValuesOutOfRange) {
  for (const char* bad : {"time.cfl=0",
                          "time.cfl=1.01",
                          "time.end=-1",
                          "time.steps=-1",
                          "time.dt=0",
                          "time.dt=1e-11",
                          "time.dt_max=1e-11",
                          "grid.cells=[1, 1, 2]",
                          "grid.cells=[2, 0, 2]",
                          "grid.cells=[2, 1, 1]",
                          "grid.cells=[2, 1, 1e7]",
                          "flow.reynolds.bulk=0",
                          "flow.reynolds.viscosity=-1",
                          "domain.size=[0, 1, 2]",
                          "grid.stretching.factor=0",
                          "initial.seed=-1",
                          "parallel.grid=[0, 1]",
                          "output.log.every=0",
                          "output.checkpoint.keep=0",
                          "output.checkpoint.every=0",
                          "output.statistics.block=0",
                          "walltime=0",
                          "solver.z_blocks=0"}) {
    EXPECT_TRUE(contains(fault(bad), "is out of range; allowed: ")) << fault(bad);
  }
}

TEST(Case, ChecksKeysAgainstEachOther) {
  const auto expect = [](const std::string& setting, const std::string& message) {
    EXPECT_TRUE(contains(fault(setting), message)) << fault(setting);
  };
  expect("domain.size=[1, 1, 3]", "domain.size[2]: the height of flow.type channel is 2 in units of h, not 3");
  expect("flow.reynolds.wall=5", "allowed: with couette only");
  expect("grid.stretching={type: natural}", "grid.stretching.re_tau: missing");
  expect("grid.stretching={type: file}", "grid.stretching.file: missing");
  expect("grid.stretching={type: uniform, factor: 2}",
         "contradicts grid.stretching.type; allowed: only with type tanh");
  expect("initial={type: fields}", "initial.file: missing");
  expect("initial={type: zero, seed: 2}", "only with type turbulent");
  expect("walls.top={velocity: [0, 0, 1]}", "walls.top.velocity[2]: a wall moves in its own plane");
  expect("walls.top={type: free_slip, velocity: [1, 0, 0]}", "only with type no_slip");
  expect("solver.z_blocks=25", "25 blocks of at least 2 planes do not fit into 48 planes; allowed: auto, or 1 to 24");
  expect("time={end: 1, dt: 0.1, dt_max: 0.2}", "time.dt_max: contradicts time.dt");
  expect("output.slices=[{normal: z, at: 2.1, every: 1}]", "output.slices[0].at: 2.1 is outside the domain");
  expect("output.spectra={heights: [0.1, 2.1]}", "output.spectra.heights[1]: 2.1 is outside the domain");
  expect("output.densities={heights: [0.1, 2.1]}", "output.densities.heights[1]: 2.1 is outside the domain");
  expect("output.spectra={heights: [0.1, 0.1]}",
         "output.spectra.heights[1]: 0.1 is not above 0.1; allowed: numbers in");
  expect("output.spectra={heights: []}", "output.spectra.heights: an empty list; allowed: none, or a number");
  expect("output.probes=[{name: a, every: 1}]", "output.probes[0]: the probe is the whole domain; allowed: at least");
  expect("output.probes=[{name: a, z: 2.1, every: 1}]", "output.probes[0].z[0]: 2.1 is outside the domain");
  expect("output.probes=[{name: a, x: [1, 0.5], every: 1}]", "output.probes[0].x[1]: 0.5 is not above 1; allowed: ");
  expect("output.probes=[{name: a/b, z: 1, every: 1}]", "output.probes[0].name: 'a/b' cannot name a file; allowed: ");
  expect("output.probes=[{name: a, z: 1, every: 1}, {name: a, z: 0, every: 1}]",
         "output.probes[1].name: 'a' is the name of another probe");
  expect("time.until={re_tau: 0.3%}",
         "time.until: the run takes no statistics to judge by; allowed: with output.statistics only");
  EXPECT_EQ(parse(minimal, {"solver.z_blocks=24"}).z_blocks, 24);
  EXPECT_EQ(parse(minimal, {"output.spectra={heights: 0.5}"}).output.spectra.heights, std::vector<double>{0.5});
  EXPECT_EQ(parse(minimal, {"grid.stretching={type: natural}", "flow.reynolds.tau=180"}).stretching.re_tau, 180);
  // The place is that of the value, also for rules between keys.
  EXPECT_EQ(faults(minimal + "walls:\n  top:\n    velocity: [0, 0, 2]\n")[0].substr(0, 15), "case.yaml:8:22:");
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
    parse_case(minimal, "f", {"parallel.exchange=nccl"}, "/", {"auto", "mpi_p2p"});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), "this build of Sluice does not have the method 'nccl'")) << error.what();
  }
  EXPECT_TRUE(contains(fault("parallel.exchange=magic"), "'magic' is not known"));
  EXPECT_EQ(parse_case(minimal, "f", {"parallel.exchange=nccl"}, "/", known_exchange_methods()).exchange, "nccl");
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
  EXPECT_FALSE(parse(full, {"watchdog=auto"}).watchdog);
  EXPECT_EQ(parse(full, {"watchdog=off"}).watchdog, std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse(full, {"parallel.grid=[2, 3]"}).process_grid, (std::array<int, 2>{2, 3}));
  EXPECT_TRUE(
      faults("flow: {reynolds: {tau: 1}}\n", {"domain.size=[1, 1, 2]", "grid.cells=[4, 4, 4]", "time.end=1"}).empty());
}

TEST(Case, OverrideFaultsNameTheArgument) {
  EXPECT_EQ(fault("time.end"), "--set time.end: no '='; allowed: KEY=VALUE, such as time.end=100");
  EXPECT_TRUE(contains(fault("time.ned=3"), "--set time.ned=3: time.ned: unknown key"));
  EXPECT_TRUE(contains(fault("time.ned=3"), "did you mean 'time.end'?"));
  EXPECT_TRUE(contains(fault("output.slices[0].at=3"), "a list is set as a whole"));
  EXPECT_TRUE(contains(fault("time.end=[1"), "--set time.end=[1: time.end: not valid YAML"));
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

TEST(Case, ResolvedYamlReadsBackToTheSameCase) {
  expect_round_trip(parse(minimal));
  expect_round_trip(parse(full));
  expect_round_trip(
      parse(full, {"title=" + quoted_yaml("a \"b\": #c\t\\ é\n"), "flow.reynolds.center=1234.5678901234567",
                   "time={steps: 7, dt: 0.1}", "walltime=none", "watchdog=off", "output.checkpoint=none",
                   "output.statistics=none", "output.slices=[]", "initial={type: fields, file: f.h5}"}));
  expect_round_trip(parse(
      full,
      {"flow.type=open_channel", "domain.size=[pi, 1e-3, 1]", "flow.reynolds.tau=1e10", "flow.forcing=none",
       "grid.stretching={type: file, file: faces.txt}", "time.dt_max=0.02", "walls.bottom.velocity=[-0.1, 0.3, 0]",
       "initial.type=zero", "parallel.grid=[3, 2]", "solver={tridiagonal: transpose, z_blocks: 5}",
       "time.diffusion=implicit_z", "grid.stretching={type: natural, re_tau: 550}", "parallel.exchange=mpi_alltoall",
       "output.slices=[{normal: x, at: pi/3, every: 0.1, fields: [u, p]}, {normal: y, at: 0, every: 2}]"}));
}

TEST(Case, ResolvedYamlNamesEveryKeyOfTheTable) {
  // What is absent is an alternative of what is present.
  std::string until;
  for (const auto& figure : key_figure_table) until += fmt::format("{}: 1%, ", figure.name);
  const std::string text = resolved_yaml(parse(full, {"parallel.exchange={rows: mpi_p2p}", "output.statistics={}",
                                                      "output.spectra={}", "time.until={" + until + "}"}));
  for (const auto& key : case_keys()) {
    if (!key.excludes.empty() || !key.only_with.empty()) continue;
    EXPECT_TRUE(std::regex_search(text, std::regex("\\b" + key.name() + ": ")) ||
                std::regex_search(text, std::regex("\\b" + key.name() + ":\n")))
        << key.path;
  }
}

TEST(Case, ComparesWhatIsPhysical) {
  const Case stored = parse(full);
  EXPECT_TRUE(physical_changes(stored, parse(full, {"title=x", "time.steps=9", "time.dt=0.1", "walltime=none",
                                                    "parallel.grid=[2, 1]", "output={directory: other}"}))
                  .empty());
  EXPECT_EQ(physical_changes(stored, parse(full, {"flow.reynolds.bulk=5600"})),
            Lines{"flow.reynolds: {bulk: 5714} -> {bulk: 5600}"});
  EXPECT_EQ(physical_changes(stored, parse(full, {"flow.reynolds.tau=180"})),
            Lines{"flow.reynolds: {bulk: 5714} -> {tau: 180}"});
  EXPECT_EQ(physical_changes(stored, parse(full, {"solver.z_blocks=8"})), Lines{"solver.z_blocks: 9 -> 8"});
  EXPECT_EQ(physical_changes(stored, parse(full, {"grid.cells=[256, 192, 96]"})),
            (Lines{"grid.cells: [256, 192, 144] -> [256, 192, 96]", "solver.z_blocks: 9 -> 6"}));
  for (const char* change : {"flow.forcing=none", "domain.size=[pi, pi, 2]", "grid.stretching.factor=1.7",
                             "walls.top=free_slip", "walls.bottom.velocity=[1, 0, 0]", "time.diffusion=implicit_z",
                             "initial.seed=2", "solver.tridiagonal=transpose"}) {
    EXPECT_EQ(physical_changes(stored, parse(full, {change})).size(), 1U) << change;
  }
  const Lines start{"initial={type: fields, file: /here/a.h5}", "initial={type: fields, file: /there/a.h5}"};
  EXPECT_TRUE(physical_changes(parse(full, {start[0]}), parse(full, {start[1]})).empty())
      << "a moved folder is no change";
}

TEST(Case, TemplateIsAValidCaseAndItsCommentsAreSettings) {
  const std::string text = case_template();
  const Case c = parse(text);
  EXPECT_EQ(c.cells[0], 256);
  EXPECT_EQ(c.output.slices.size(), 1U);
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    EXPECT_LE(line.size(), 100U) << line;
    lines.insert(line);
  }
  const auto shown = [&](const Key& key) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return std::regex_search(line, std::regex("^ *#?(- )?" + key.name() + ":"));
    });
  };
  for (const auto& key : case_keys()) EXPECT_TRUE(shown(key)) << key.path;
  // Without their '#', the hidden walls and forcing stand at the right depth.
  std::string walls =
      std::regex_replace(text, std::regex("#(walls|bottom|top|velocity|forcing|bulk_velocity):"), "$1:");
  EXPECT_TRUE(faults(walls).empty());
}

TEST(Case, ReferencePageHasARowForEveryKey) {
  const std::string page = generate_key_reference();
  EXPECT_EQ(page, generate_key_reference());
  std::set<std::string> paths;
  for (const auto& key : case_keys()) {
    EXPECT_TRUE(paths.insert(key.path).second) << key.path;
    EXPECT_FALSE(key.meaning.empty()) << key.path;
    const bool top_section = key.section().empty() && key.is_section();
    EXPECT_TRUE(contains(page, (top_section ? "## " + key.path + "\n" : "| `" + key.path + "` |"))) << key.path;
    EXPECT_TRUE(key.section().empty() || key.section().ends_with("[]") || find_key(key.section())) << key.path;
  }
}

// Decimal comma and grouping everywhere, in the C++ locale and, where the system has one, the C locale.
class CommaLocale {
 public:
  CommaLocale() : before_(std::locale::global(std::locale(std::locale::classic(), new Comma))) {
    std::setlocale(LC_ALL, "de_DE.UTF-8");
  }
  ~CommaLocale() {
    std::setlocale(LC_ALL, "C");
    std::locale::global(before_);
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

 private:
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::locale before_;
};

TEST(Case, DoesNotDependOnTheLocale) {
  const Case expected = parse(full, {"time.steps=1234567"});
  const std::string text = resolved_yaml(expected);
  const Lines bad = faults(std::string(1500, '\n') + "time: {end: 1,5}\n");
  const CommaLocale locale;
  std::ostringstream stream;
  stream << 1234.5;
  ASSERT_EQ(stream.str(), "1.234,5") << "the locale of this test has no effect";
  EXPECT_TRUE(parse(full, {"time.steps=1234567"}) == expected);
  EXPECT_EQ(resolved_yaml(expected), text);
  EXPECT_EQ(faults(std::string(1500, '\n') + "time: {end: 1,5}\n"), bad);
  EXPECT_TRUE(contains(bad.at(0), "case.yaml:1"));
}

}  // namespace
}  // namespace sluice::io
