// Case files that are refused: every fault with its place, in bounded time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/case_fixture.hpp"

namespace sluice::io {
namespace {

using namespace case_test;

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
      "case.yaml:2:3: flow.tpye: unknown key; allowed here: type, reynolds, forcing, spanwise_forcing, rotation, "
      "magnetic_field, buoyancy; did you mean "
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
      "case.yaml:11:14: time.diffusion: 'implict_z' is not known; allowed: one of explicit, implicit_z, implicit; did "
      "you mean "
      "'implicit_z'?",
      "case.yaml:14:16: output.slices[0].normal: 'q' is not known; allowed: one of x, y, z",
      "case.yaml:15:7: output.slices[1].every: missing, and it has no default; allowed: a number > 0",
      "case.yaml:15:38: output.slices[1].fields[1]: 'u' is given twice; allowed: a list of u, v, w, p, names "
      "of scalars, each at most once",
      "--set walltime=1:90:00: walltime: '1:90:00' is not a duration; allowed: none, or H:M:S, a time such as "
      "90m, 4h or 2d, or a number of seconds > 0",
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

// By an escape in double quotes any character can get into a text, and from there into names, files and terminals.
TEST(Case, RefusesControlCharactersInTexts) {
  const std::string nul("\\0");
  EXPECT_EQ(faults(minimal + "title: \"a" + nul + "b\"\n"),
            Lines{"case.yaml:6:8: title: the text \"a\\x00b\" has the control character 0x00; leave it out"});
  const auto expect = [](const std::string& setting, const std::string& name) {
    const Lines lines = faults(minimal, {setting});
    ASSERT_FALSE(lines.empty()) << setting;
    EXPECT_TRUE(contains(lines[0], "has the control character " + name + "; leave it out")) << lines[0];
    EXPECT_EQ(lines[0].find_first_of(std::string("\0\x1b\x7f", 3)), std::string::npos) << setting;
  };
  expect("title=\"a\\x1b[31mb\"", "0x1b");
  expect("title=\"a\\rb\"", "0x0d");
  expect("title=\"a\\x7f\"", "0x7f");
  expect("title=\"a\\x9bb\"", "0x9b");
  expect("title=a\xc2\x9b[31mb", "0x9b");
  expect("output.directory=\"out" + nul + "\"", "0x00");
  expect("flow.type=\"channel" + nul + "\"", "0x00");
  expect("time.end=\"10" + nul + "\"", "0x00");
  expect("flow.forcing={bulk_velocity: \"1" + nul + "+t\"}", "0x00");
  expect("flow.forcing={bulk_velocity: {table: \"g.txt" + nul + "\"}}", "0x00");
  expect("scalars=[{name: \"T" + nul + "\"}]", "0x00");
  expect("scalars=[{name: T, \"prandtl" + nul + "\": 1}]", "0x00");
}

// Earlier versions let control characters through, and their files must stay readable.
TEST(Case, ReadsStoredTextsWithControlCharacters) {
  Case settings = parse(minimal);
  settings.title = std::string("a\0b\n\x1b", 5);
  EXPECT_EQ(parse_stored_case(resolved_yaml(settings), "resolved.yaml").title, std::string("a\0b\n\x1b", 5));
}

TEST(Case, ShowsControlCharactersOfArguments) {
  EXPECT_EQ(faults(minimal, {"title=a\x1b[31m"}),
            Lines{"--set title=a\\x1b[31m: title: control character 0x1b in 'a\\x1b[31m'; a case file is plain text"});
  EXPECT_TRUE(contains(faults(minimal, {"ti\x1btle=a"})[0], "--set ti\\x1btle=a: ti\\x1btle: unknown key"));
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
  EXPECT_TRUE(contains(fault("flow.forcing={}"), "one of the keys bulk_velocity, pressure_gradient, power is needed"));
  EXPECT_TRUE(faults(minimal + "parallel:\noutput: {log: }\n").empty()) << "a section without keys is an empty one";
}

TEST(Case, RefusesRotationsWithoutAMeaning) {
  EXPECT_TRUE(contains(fault("flow.rotation={}"), "flow.rotation.number: missing"));
  EXPECT_TRUE(contains(fault("flow.rotation={number: 0.5, axis: [0, 0, 0]}"), "a vector of length 0 is no axis"));
  EXPECT_TRUE(
      contains(fault("flow.rotation={number: 0.5, axis: vertical}"), "allowed: streamwise, spanwise, wall_normal, or"));
  EXPECT_TRUE(contains(fault("flow.rotation={number: 0.5, geostrophic: [1, 0]}"), "no wall-normal component"));
  EXPECT_TRUE(
      contains(fault("flow.rotation={number: 0, axis: wall_normal, geostrophic: [1, 0]}"), "no wall-normal component"));
  const std::string ekman = "flow.rotation={number: 0.5, axis: wall_normal, geostrophic: [1, 0]}";
  EXPECT_EQ(faults(minimal, {ekman}), Lines{});
  EXPECT_TRUE(contains(faults(minimal, {ekman, "flow.forcing.bulk_velocity=1"})[0],
                       "it is the mean pressure gradient, as flow.forcing is"));
  EXPECT_TRUE(contains(faults(minimal, {ekman, "domain.size=[1, 1, 20]"})[0], "the height of flow.type channel is 2"));
}

TEST(Case, RefusesMagneticFieldsWithoutAMeaning) {
  EXPECT_TRUE(contains(fault("flow.magnetic_field={}"), "flow.magnetic_field.hartmann: missing"));
  EXPECT_TRUE(contains(fault("flow.magnetic_field={hartmann: 0}"), "'0' is out of range"));
  EXPECT_TRUE(contains(fault("flow.magnetic_field={hartmann: -5}"), "'-5' is out of range"));
  EXPECT_EQ(faults(minimal, {"flow={type: periodic, reynolds: {viscosity: 0.1}, magnetic_field: {hartmann: 5}}",
                             "grid.stretching={type: uniform}", "initial.type=zero"}),
            Lines{});
  EXPECT_TRUE(contains(fault("flow={rotation: {number: 0.5, axis: wall_normal, geostrophic: [1, 0]}, reynolds: {bulk: "
                             "2000}, magnetic_field: {hartmann: 5}}"),
                       "flow.magnetic_field: it brakes the flow far above the wall"));
}

TEST(Case, RefusesTablesWithoutMeaning) {
  const auto fault_of = [](const std::string& table) { return fault("flow.forcing={bulk_velocity: " + table + "}"); };
  EXPECT_TRUE(contains(fault_of("{times: [0, 1, 1], values: [1, 2, 3]}"), "times[2]: the time 1 does not follow 1"));
  EXPECT_TRUE(contains(fault_of("{times: [0], values: [1]}"), "1 points; at least 2 are needed"));
  EXPECT_TRUE(contains(fault_of("{times: [0, 1], values: [1, 2, 3]}"), "2 times, but 3 values"));
  EXPECT_TRUE(contains(fault_of("{times: [0, 1], values: [1, inf]}"), "two lists of finite numbers"));
  EXPECT_TRUE(contains(fault_of("{times: [0, 1]}"), "two lists of finite numbers"));
  EXPECT_TRUE(
      contains(fault_of("{times: [0, 1], values: [1, 2], periodic: 1}"), "'periodic' is not a part of a table"));
  EXPECT_TRUE(contains(fault_of("{times: [0, 1], values: [1, 2], period: 0}"), "the period is not a number > 0"));
  EXPECT_TRUE(contains(fault_of("{times: [0, 3], values: [1, 2], period: 2}"),
                       "times[1]: the points take 3, longer than the period 2"));
  EXPECT_TRUE(contains(fault_of("{times: [0, 1, 2], values: [1, 2, 3], period: 2}"),
                       "times[2]: the value 3 at the end of the period is not 1"));
  EXPECT_TRUE(contains(fault_of("{table: file.txt, values: [1, 2]}"), "both a file and points"));
  EXPECT_TRUE(contains(fault("walls={bottom: {velocity: [{times: [0, 1], values: [1, 2]}, 0, 0]}}"), "a map is not"));
  EXPECT_TRUE(contains(fault("flow.forcing={power: {times: [1, 2], values: [0, 2]}}"), "the power is 0 at time 0"));
}

TEST(Case, RefusesPhasesThatSamplesMiss) {
  const std::string phases = "output.statistics={every: 25, phases: {period: 10, bins: 16}}";
  EXPECT_EQ(faults(minimal, {phases}), Lines{});
  EXPECT_EQ(faults(minimal, {phases, "time.dt=0.025"}), Lines{});
  const Lines resonance = faults(minimal, {phases, "time.dt=0.1"});
  ASSERT_EQ(resonance.size(), 1U);
  EXPECT_TRUE(contains(resonance[0], "samples every 2.5 time units never fall into 12 of the 16 bins of the period 10"))
      << resonance[0];
  EXPECT_TRUE(contains(faults(minimal, {phases, "scalars=[{name: phase_one}]"}).at(0), "the scalar phase_one has"));
  EXPECT_TRUE(contains(fault("output.statistics={phases: {bins: 8}}"), "period: missing"));
  EXPECT_TRUE(contains(fault("output.statistics={phases: {period: 1, bins: 1}}"), "bins: '1' is out of range"));
}

// A table in a file, as parse_case gets its text.
Lines faults_of_file(const std::string& content, const std::string& more = "") {
  try {
    parse_case(minimal, "case.yaml", {"flow.forcing={pressure_gradient: {table: /g.txt" + more + "}}"}, "/cases/here",
               {known_exchange_methods(), [&](const std::string& path, std::size_t) {
                  EXPECT_EQ(path, "/g.txt");
                  return content;
                }});
  } catch (const Error& error) {
    return {error.what()};
  }
  return {};
}

TEST(Case, NamesTheLineOfAFaultInATableInAFile) {
  EXPECT_EQ(faults_of_file("# time, force\n0 1\n2 3\n"), Lines{});
  EXPECT_TRUE(contains(faults_of_file("t,g\n0, 1\n\n0, 3\n").at(0), "/g.txt:4: the time 0 does not follow 0"));
  EXPECT_TRUE(contains(faults_of_file("0 1\n1 nan\n").at(0), "/g.txt:2: '1 nan' is not a time and a value"));
  EXPECT_TRUE(contains(faults_of_file("0 1 2\n1 2 3\n").at(0), "/g.txt:1: '0 1 2' is not a time and a value"));
  EXPECT_TRUE(contains(faults_of_file("t g\nt g\n0 1\n").at(0), "/g.txt:2: 't g' is not"));
  EXPECT_TRUE(contains(faults_of_file("").at(0), "/g.txt: 0 points; at least 2 are needed"));
  EXPECT_TRUE(contains(faults_of_file("0 1\n1 2\n3 1\n", ", period: 2").at(0), "/g.txt:3: the points take 3"));
  std::string many;
  for (int n = 0; n <= 2000; ++n) many += fmt::format("{} 0\n", n);
  EXPECT_TRUE(contains(faults_of_file(many).at(0), "2001 points; at most 2000 are read"));
  many.resize(many.size() - std::string("2000 0\n").size());
  EXPECT_EQ(faults_of_file(many), Lines{});
}

TEST(Case, ReadsTablesOfFortranPrograms) {
  EXPECT_EQ(faults_of_file("\xef\xbb\xbf  0.0D+00  1.0D-03\n  1.0d0  -.5D+1\n"), Lines{});
  EXPECT_TRUE(contains(faults_of_file("0 1D\n1 2\n").at(0), "/g.txt:1: '0 1D' is not a time and a value"));
}

TEST(Case, RefusesTablesThatAreNoText) {
  EXPECT_TRUE(contains(faults_of_file(std::string("0 1\n1 2\0 3\n", 11)).at(0),
                       "/g.txt:2:4: control character 0x00 in '1 2\\x00 3'; a table is plain text"));
  EXPECT_TRUE(contains(faults_of_file("0 1 # \x1b[2J\n1 2\n").at(0), "/g.txt:1:7: control character 0x1b"));
  EXPECT_TRUE(contains(faults_of_file(std::string("\xff\xfe"
                                                  "0\0",
                                                  4))
                           .at(0),
                       "text in UTF-16; a table is UTF-8"));
}

TEST(Case, KeepsThePointsOfATableInAFile) {
  const auto read = [](const std::string& path, std::size_t) {
    EXPECT_EQ(path, "/cases/here/tables/g.csv");
    return std::string("\xef\xbb\xbft;g\r\n-0.5;0.1\r\n1;3e-1 % peak\r\n2.5;0.2\r\n");
  };
  std::string with_table = minimal;
  with_table.insert(with_table.find("domain"), "  forcing: {pressure_gradient: {table: tables/g.csv, period: 4}}\n");
  const Case from_file = parse_case(with_table, "case.yaml", {}, "/cases/here", {known_exchange_methods(), read});
  const TimeTable expected{{-0.5, 1, 2.5}, {0.1, 0.3, 0.2}, 4};
  EXPECT_EQ(from_file.flow.forcing.value.table(), expected);
  EXPECT_TRUE(contains(resolved_yaml(from_file), "{times: [-0.5, 1, 2.5], values: [0.1, 0.3, 0.2], period: 4}"));
  EXPECT_EQ(parse_stored_case(resolved_yaml(from_file), "stored"), from_file);
  with_table.replace(with_table.find("period: 4"), 9, "period: 5");
  const Case other = parse_case(with_table, "case.yaml", {}, "/cases/here", {known_exchange_methods(), read});
  const Lines changes = physical_changes(from_file, other);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_TRUE(contains(changes[0], "flow.forcing: {pressure_gradient: table ")) << changes[0];
}

TEST(Case, RefusesForcingsWithoutMeaning) {
  EXPECT_TRUE(contains(fault("flow.forcing={power: 0}"), "flow.forcing.power: '0' is out of range; allowed: a number"));
  EXPECT_TRUE(contains(fault("flow.forcing={power: 0.1*sin(t)}"), "the power is 0 at time 0; allowed: > 0 there"));
  EXPECT_TRUE(contains(fault("flow.forcing={bulk_velocity: 1/t}"), "the formula is not finite at time 0"));
  EXPECT_TRUE(contains(fault("flow.spanwise_forcing={pressure_gradient: log(t)}"), "the formula is not finite"));
  EXPECT_TRUE(contains(fault("flow.forcing={power: 1, bulk_velocity: 1}"), "contradicts flow.forcing.power"));
  EXPECT_TRUE(contains(faults(minimal, {"flow.spanwise_forcing={power: 1}"}).at(1), "power: unknown key"));
  EXPECT_TRUE(contains(fault("flow.forcing={bulk_velocity: 1 + x}"), "at character 5"));
  const Lines at_rest = faults(minimal, {"flow.forcing={power: 1}", "initial.type=zero"});
  ASSERT_EQ(at_rest.size(), 1U);
  EXPECT_TRUE(contains(at_rest[0], "a force has no power in a flow at rest")) << at_rest[0];
  EXPECT_TRUE(faults(minimal, {"flow.forcing={power: 0.1*(1+t)}", "flow.spanwise_forcing={bulk_velocity: 0}"}).empty());
}

TEST(Case, RefusesFormulasOfScalarsWithoutMeaning) {
  const auto expect = [](const std::string& wall, const std::string& message) {
    const std::string text = fault("scalars=[{name: c, walls: {bottom: " + wall + "}}]");
    EXPECT_TRUE(contains(text, "scalars[0].walls.bottom" + message)) << text;
  };
  expect("{value: 1/t}", ".value: the formula is not finite at time 0");
  expect("{flux: log(t)}", ".flux: the formula is not finite at time 0");
  expect("{value: sin(z)}", ".value: 'sin(z)' is not a formula: at character 5");
  expect("{flux: 1 + }", ".flux: '1 +' is not a formula");
  expect("{value: sin(t), flux: 1}", ".flux: contradicts scalars[0].walls.bottom.value");
  EXPECT_TRUE(
      faults(minimal, {"scalars=[{name: c, walls: {bottom: {value: sin(t)}, top: {flux: 'cos(x + y)/t'}}}]"}).empty());
}

// statistics.h5 has profiles under the name of a scalar with endings.
TEST(Case, RefusesNamesOfScalarsThatStatisticsOfOthersHave) {
  EXPECT_TRUE(
      contains(fault("scalars=[{name: t}, {name: t_squared}]"), "scalars[1].name: 't_squared' begins with 't_'"));
  EXPECT_TRUE(contains(fault("scalars=[{name: t_w}, {name: t}]"), "scalars[1].name: 't_w' begins with 't_'"));
  EXPECT_TRUE(contains(fault("scalars=[{name: t}, {name: t}]"), "scalars[1].name: 't' is the name of another scalar"));
  EXPECT_TRUE(faults(minimal, {"scalars=[{name: t}, {name: t_2}, {name: tau_1}]"}).empty());
}

TEST(Case, RefusesFrictionRichardsonNumbersWhereTheFrictionIsNotKnown) {
  const auto expect = [](const Lines& changes, const std::string& message) {
    Lines all{"scalars=[{name: c}]", "flow.reynolds={tau: 180}", "flow.buoyancy={friction_richardson: 18}"};
    all.insert(all.end(), changes.begin(), changes.end());
    const Lines found = faults(minimal, all);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(contains(found[0], "flow.buoyancy.friction_richardson: " + message)) << found[0];
  };
  expect({"flow.reynolds={bulk: 5600}"},
         "with flow.forcing bulk_velocity the friction velocity is a result; allowed: ");
  expect({"flow.forcing=none"}, "with flow.forcing none the friction velocity is a result");
  expect({"flow.forcing={pressure_gradient: 1 + 0.1*sin(t)}"}, "the pressure gradient varies");
  expect({"flow.forcing={pressure_gradient: -1}"}, "a pressure gradient that is not above 0");
  expect({"flow.spanwise_forcing={pressure_gradient: 0.1}"}, "flow.spanwise_forcing adds");
  expect({"flow.magnetic_field={hartmann: 5}"}, "a magnetic field is a mean force");
  expect({"flow.rotation={number: 0.1, axis: wall_normal}"}, "rotation about a wall-normal axis is a mean force");
  expect({"flow.buoyancy={friction_richardson: 18, direction: [-1, 0, 0]}"}, "gravity along x or y is a mean force");
  expect({"walls={bottom: free_slip, top: free_slip}"}, "free-slip walls have no friction");
}

TEST(Case, RefusesHintsThatMpiCannotTake) {
  const auto with_hdf5 = [](const std::string& hints) {
    return faults(minimal, {"output.writer=hdf5", "output.mpi_io_hints=" + hints});
  };
  const auto expect = [&](const std::string& hints, const std::string& message) {
    const Lines found = with_hdf5(hints);
    ASSERT_EQ(found.size(), 1U) << hints;
    EXPECT_TRUE(contains(found[0], message)) << found[0];
  };
  EXPECT_TRUE(with_hdf5("[{name: striping_factor, value: 16}, {name: romio_cb_write, value: enable}]").empty());
  expect("[{name: a, value: 1}, {name: a, value: 2}]", "output.mpi_io_hints[1].name: 'a' is given twice");
  expect("[{name: '', value: 1}]", "output.mpi_io_hints[0].name: a text of 0 characters; allowed: 1 to 35");
  expect("[{name: " + std::string(36, 'a') + ", value: 1}]", "a text of 36 characters; allowed: 1 to 35");
  expect("[{name: a, value: " + std::string(256, '1') + "}]", "a text of 256 characters; allowed: 1 to 255");
  expect("[{name: a}]", "output.mpi_io_hints[0].value: missing");
  expect("{striping_factor: 16}", "a map is not a list");
  EXPECT_TRUE(contains(fault("output.mpi_io_hints=[{name: a, value: 1}]"), "with output.writer hdf5 only"));
  EXPECT_TRUE(contains(fault("output.writer=adios"), "output.writer: 'adios' is not known; allowed: "));
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
                          "output.alignment=0",
                          "output.alignment=2e9",
                          "output.statistics.block=0",
                          "walltime=0",
                          "output.log.seconds=0",
                          "solver.z_blocks=0"}) {
    EXPECT_TRUE(contains(fault(bad), "is out of range; allowed: ")) << fault(bad);
  }
}

TEST(Case, ChecksKeysAgainstEachOther) {
  const auto expect = [](const std::string& setting, const std::string& message) {
    EXPECT_TRUE(contains(fault(setting), message)) << fault(setting);
  };
  expect(
      "domain.size=[1, 1, 3]",
      "domain.size[2]: the height of flow.type channel is 2 in units of h, not 3; allowed: 2; h is half the distance "
      "between the walls: to keep the shape of the box, multiply all three lengths by 0.666667");
  expect("domain.size=[1, 1, 1]", "multiply all three lengths by 2");
  const Lines open = faults(minimal, {"flow.type=open_channel"});
  ASSERT_EQ(open.size(), 1U);
  EXPECT_TRUE(contains(open[0],
                       "allowed: 1; h is the depth: to keep the shape of the box, multiply all three lengths "
                       "by 0.5"))
      << open[0];
  expect("flow.reynolds.wall=5", "allowed: with couette only");
  expect("grid.stretching={type: natural}", "grid.stretching.re_tau: missing");
  expect("grid.stretching={type: file}", "grid.stretching.file: missing");
  expect("grid.stretching={type: uniform, factor: 2}",
         "contradicts grid.stretching.type; allowed: only with type tanh");
  expect("initial={type: fields}", "initial.file: missing");
  expect("initial={type: zero, seed: 2}", "only with type turbulent");
  expect("walls.top={velocity: [0, 0, 1]}", "walls.top: w is 0 on the bottom wall and 1 on the top wall, but what");
  expect("walls.bottom={velocity: [0, 0, 'sin(t)']}", "walls.bottom: w is sin(t) on the bottom wall and 0 on the top");
  expect("walls.top={velocity: [0, 'sin(z)', 0]}", "walls.top.velocity[1]: ");
  expect("walls.top={type: free_slip, velocity: [1, 0, 0]}", "only with type no_slip");
  expect("walls.top={type: no_slip, slip_length: 0.1}", "only with type slip");
  expect("walls.top={type: slip}", "walls.top.slip_length: missing");
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
  EXPECT_EQ(faults(minimal + "walls:\n  top: {type: free_slip,\n    actuation: {type: oscillation, amplitude: 1}}\n")[0]
                .substr(0, 14),
            "case.yaml:8:5:");
  EXPECT_EQ(faults(minimal + "walls:\n  top:\n    velocity: [0, 0, 2*sin(k*x)]\n")[0].substr(0, 15), "case.yaml:8:28:");
}

TEST(Case, ChecksWhatWallsDo) {
  const auto expect = [](const std::string& actuation, const std::string& message) {
    const std::string text = fault("walls.bottom={actuation: " + actuation + "}");
    EXPECT_TRUE(contains(text, "walls.bottom" + message)) << text;
  };
  expect("{type: oscillation, amplitude: 1}", ".actuation: an oscillation needs a period");
  expect("{type: oscillation, period: 1}", ".actuation.amplitude: missing");
  expect("{type: oscillation, amplitude: 1, speed: 1}", ".actuation.speed: contradicts walls.bottom.actuation.type");
  expect("{type: oscillation, amplitude: 1, period: 0}", ".actuation.period: '0' is out of range");
  expect("{type: oscillation, amplitude: 1, period: 1, units: wall}",
         ".actuation.units: wall units need the key re_tau");
  expect("{type: oscillation, amplitude: 1, period: 1, re_tau: 200}", ".actuation.re_tau: the units are outer");
  expect("{type: travelling_wave, amplitude: 1, period: 1}", ".actuation: a wave needs a wavelength");
  expect("{type: travelling_wave, amplitude: 1, wavelength_x: 3}",
         ".actuation.wavelength_x: 4.1888 waves of this length fit the box");
  expect("{type: blowing_suction, amplitude: 1}", ": w is 1 on the bottom wall and 0 on the top wall, but what enters");
  expect("{type: blowing_suction, amplitude: 1, wavelength_x: pi, speed: 1, period: 2}",
         ".actuation.period: contradicts walls.bottom.actuation.speed");
  expect("{type: opposition_control, amplitude: 1}", ".actuation.height: missing");
  expect("{type: opposition_control, amplitude: 1, height: 2}", ".actuation.height: 2 h from the wall is outside");
  expect("{type: oscillation, amplitude: 1, period: 1}, velocity: [0, 'sin(t)', 0]",
         ".velocity[1]: contradicts walls.bottom.actuation, which sets this component; allowed: a number");
  expect("{type: oscillation, amplitude: 1, period: 1}, type: free_slip",
         ".actuation: a free-slip wall does nothing; allowed: with type no_slip");
}

TEST(Case, OverrideFaultsNameTheArgument) {
  EXPECT_EQ(fault("time.end"), "--set time.end: no '='; allowed: KEY=VALUE, such as time.end=100");
  EXPECT_TRUE(contains(fault("time.ned=3"), "--set time.ned=3: time.ned: unknown key"));
  EXPECT_TRUE(contains(fault("time.ned=3"), "did you mean 'time.end'?"));
  EXPECT_TRUE(contains(fault("output.slices[0].at=3"), "a list is set as a whole"));
  EXPECT_TRUE(contains(fault("time.end=[1"), "--set time.end=[1: time.end: not valid YAML"));
}

}  // namespace
}  // namespace sluice::io
