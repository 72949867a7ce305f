// What is made from the case and from the table of keys: the resolved case, which reads back to the same one, the
// comparison for restarts, the template and the reference page.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <locale>
#include <regex>
#include <set>
#include <sstream>

#include "tests/unit/case_fixture.hpp"

namespace sluice::io {
namespace {

using namespace case_test;

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

TEST(Case, ResolvedYamlHasActuationsInOuterUnits) {
  const Case settings =
      parse(full, {"walls.bottom={velocity: ['min(t, 1)', 0, 0], actuation: {type: blowing_suction, amplitude: 0.3, "
                   "wavelength_x: 600, wavelength_y: 200*pi/3, speed: 7, units: wall, re_tau: 150}}",
                   "walls.top={type: slip, slip_length: 0.02, velocity: [1, 0, 0]}", "domain.size=[4, 4*pi/9, 2]"});
  expect_round_trip(settings);
  const std::string text = resolved_yaml(settings);
  EXPECT_TRUE(contains(text, "velocity: [\"min(t, 1)\", 0, 0], actuation: {type: blowing_suction, amplitude: "))
      << text;
  EXPECT_TRUE(contains(text, "wavelength_x: 4, ") && contains(text, "units: outer}")) << text;
  EXPECT_FALSE(contains(text, "re_tau")) << text;
}

TEST(Case, ResolvedYamlHasTheFormulasOfScalars) {
  const Case settings =
      parse(full, {"scalars=[{name: c, walls: {bottom: {value: 'min(t, 1)'}, top: {flux: sin(x - t)}}}]"});
  expect_round_trip(settings);
  EXPECT_TRUE(contains(resolved_yaml(settings), "{bottom: {value: \"min(t, 1)\"}, top: {flux: \"sin(x - t)\"}}"))
      << resolved_yaml(settings);
}

TEST(Case, ResolvedYamlNamesEveryKeyOfTheTable) {
  // What is absent is an alternative of what is present.
  std::string until;
  for (const auto& figure : key_figure_table) until += fmt::format("{}: 1%, ", figure.name);
  const std::string text = resolved_yaml(
      parse(full, {"parallel.exchange={rows: mpi_p2p}", "output.statistics={phases: {period: 10}}", "output.spectra={}",
                   "output.fields=[{name: flow, every: 1}]", "output.catalyst={every: 1, scripts: [a.py]}",
                   "flow.rotation={number: 0.5}", "flow.magnetic_field={hartmann: 5}", "flow.buoyancy={richardson: 1}",
                   "time.until={" + until + "}", "walls.top.actuation={type: oscillation, amplitude: 1, period: 2}",
                   "scalars=[{name: c, walls: {bottom: {value: 1}}, initial: 1 - z/2}]",
                   "ensemble={members: 2, seeds: 1, vary: {flow.reynolds.bulk: [5600, 5714]}}"}));
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
  const std::size_t scalars = text.find("#scalars:");
  const std::string before =
      std::regex_replace(text.substr(0, scalars),
                         std::regex("#(walls|bottom|top|velocity|forcing|spanwise_forcing|bulk_velocity):"), "$1:");
  EXPECT_TRUE(faults(before + text.substr(scalars)).empty());
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
