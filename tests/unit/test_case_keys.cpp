// Every key of the table: bound to a member of Case, written and read back, and compared on a restart if it is
// physical.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "core/support/error.hpp"
#include "io/case/case_file.hpp"

namespace sluice::io {
namespace {

using Lines = std::vector<std::string>;

std::optional<Case> parse(const Lines& overrides) {
  try {
    return parse_case(case_template(), "case.yaml", overrides, "/cases/here", {known_exchange_methods()});
  } catch (const Error&) {
    return std::nullopt;
  }
}

// A map in a list in which one key has this value and the others their usual ones, without alternatives of that key.
std::string item_of(const std::string& section, const std::string& path = "", const std::string& value = "") {
  Lines entries;
  for (const Key* key : keys_of(section)) {
    const bool is_key = key->path == path;
    const bool encloses = path.starts_with(key->path + ".");
    const Key* tested = path.empty() ? nullptr : find_key(path);
    const bool alternative =
        tested != nullptr && tested->section() == section && contains(tested->excludes, key->name());
    if (alternative || (key->commented && !is_key && !encloses)) continue;
    const std::string usual = key->is_section()      ? item_of(key->content(), path, value)
                              : key->example.empty() ? key->fallback
                                                     : key->example;
    entries.push_back(fmt::format("{}: {}", key->name(), is_key ? value : usual));
  }
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

// Values of which at least two are good for the key, by its type, choices, words and example.
Lines candidates(const Key& key) {
  Lines values = key.words;
  const std::string given = key.example.empty() ? key.fallback : key.example;
  if (!given.empty()) values.push_back(given);
  const bool list = key.value.count != 1;
  const auto add = [&](const std::string& value) { values.push_back(list ? fmt::format("[{}]", value) : value); };
  if (key.name().starts_with("wavelength")) values = {"2*pi/3", "pi/3"};
  if (key.value.or_table) {
    values.emplace_back("{times: [0, 0.5], values: [1, 2]}");
    values.emplace_back("{times: [0, 0.5], values: [1, 2], period: 2*pi}");
    values.emplace_back("{times: [0, 0.1], values: [1, 2]}");
  }
  switch (key.value.type) {
    case ValueType::section:
      if (key.name() == "actuation") values.emplace_back("{type: oscillation, amplitude: 1, period: 2}");
      values.emplace_back(list ? fmt::format("[{}]", item_of(key.content())) : "{}");
      if (key.path == "flow.buoyancy") values.emplace_back("{richardson: 0.5}");
      if (key.path == "output.statistics.phases") values.emplace_back("{period: 3}");
      if (key.path == "output.catalyst") values.emplace_back("{every: 3, scripts: [one.py]}");
      if (key.path == "time.until") values.emplace_back("{cf: 0.01}");
      if (key.path == "flow.rotation") values.emplace_back("{number: 0.5}");
      if (key.path == "flow.magnetic_field") values.emplace_back("{hartmann: 5}");
      if (key.path == "ensemble") values.emplace_back("{members: 3, seeds: 7}");
      if (key.path == "flow.spanwise_forcing") values.emplace_back("{bulk_velocity: 0}");
      break;
    case ValueType::text:
    case ValueType::path:
      add("one");
      add("another");
      break;
    case ValueType::lists:
      values.emplace_back("{time.cfl: [0.8, 0.9, 0.8, 0.9], flow.forcing.bulk_velocity: [1, 1, 1, 1 + sin(t)]}");
      break;
    case ValueType::choice:
      std::for_each(key.value.choices.begin(), key.value.choices.end(), add);
      break;
    default:
      for (const std::string number : {"0.5", "1", "2", "3"}) {
        if (!list) {
          add(number);
        } else if (given.starts_with('[')) {
          values.push_back("[" + number + given.substr(given.find(',')));
        } else {
          values.push_back(fmt::format("[{}, {}]", number, number));
        }
      }
  }
  return values;
}

// A complete actuation of this type.
std::string actuation_of(const std::string& type) {
  const std::string begin = "{type: " + type + ", amplitude: 0.5, ";
  if (type == "oscillation") return begin + "period: 10}";
  if (type == "oscillation in wall units")
    return "{type: oscillation, amplitude: 5, period: 9, units: wall, re_tau: 99}";
  return begin + (type == "opposition_control" ? "height: 0.1}" : "period: 10, wavelength_x: 2*pi/3}");
}

// The --set arguments that give the key this value, where it has a meaning.
Lines overrides_for(const Key& key, const std::string& value) {
  Lines overrides;
  if (key.path == "flow.reynolds.wall") overrides.push_back("flow.type=couette");
  if (key.path.starts_with("flow.rotation.")) {
    overrides.emplace_back("flow.forcing=none");
    overrides.emplace_back("flow.rotation={number: 0.5, axis: wall_normal}");
  }
  if (key.path.starts_with("output.statistics.phases."))
    overrides.push_back("output.statistics={phases: {period: 10}}");
  if (key.path.starts_with("output.catalyst.")) overrides.push_back("output.catalyst={every: 7, scripts: [a.py]}");
  if (key.path.starts_with("ensemble.")) overrides.emplace_back("ensemble={members: 4}");
  if (key.path == "ensemble.seeds" && value.find(',') != std::string::npos) overrides.back() = "ensemble={members: 2}";
  if (key.path.starts_with("output.mpi_io_hints")) overrides.emplace_back("output.writer=hdf5");
  if (key.path.starts_with("time.until")) overrides.push_back("output.statistics={}");
  if (key.path.starts_with("flow.buoyancy")) {
    overrides.push_back("scalars=[{name: temperature}, {name: one}, {name: another}]");
    if (key.excludes.empty() && key.path != "flow.buoyancy") overrides.push_back("flow.buoyancy.richardson=1");
    if (key.name() == "friction_richardson") overrides.push_back("flow.forcing.pressure_gradient=1");
  }
  const bool in_wall_units = key.name() == "re_tau" || (key.name() == "units" && value == "wall");
  if (key.section().ends_with(".actuation")) {
    const std::string type = key.name() == "type"    ? value
                             : in_wall_units         ? "oscillation in wall units"
                             : key.only_with.empty() ? "oscillation"
                                                     : key.only_with[0];
    overrides.push_back(key.section() + "=" + actuation_of(type));
  } else if (!key.only_with.empty())
    overrides.push_back(fmt::format("{}.type={}", key.section(), key.only_with[0]));
  const std::string section = key.section();
  const auto items = section.find("[]");
  if (items == std::string::npos) {
    overrides.push_back(fmt::format("{}={}", key.path, value));
    return overrides;
  }
  const std::string list = section.substr(0, items);
  overrides.push_back(fmt::format("{}=[{}]", list, item_of(list + "[]", key.path, value)));
  return overrides;
}

// Different cases that differ in this key.
std::vector<Case> cases_of(const Key& key) {
  std::vector<Case> cases;
  const auto add = [&](const std::optional<Case>& one) {
    if (one && std::find(cases.begin(), cases.end(), *one) == cases.end()) cases.push_back(*one);
  };
  if (key.is_section() && key.path != "flow.buoyancy") add(parse({}));
  for (const auto& value : candidates(key)) add(parse(overrides_for(key, value)));
  return cases;
}

bool has_value(const Key& key) {
  return !key.is_section() || !key.words.empty() || key.value.size;
}

TEST(CaseKeys, EachFillsAMemberThatIsWrittenAndReadBack) {
  for (const auto& key : case_keys()) {
    if (!has_value(key)) continue;
    const std::vector<Case> cases = cases_of(key);
    EXPECT_GE(cases.size(), 2U) << key.path << ": not bound to a member of Case, or no values to test it with";
    for (const auto& settings : cases) {
      const std::string text = resolved_yaml(settings);
      EXPECT_TRUE(parse_case(text, "resolved.yaml", {}, "/elsewhere", {known_exchange_methods()}) == settings)
          << key.path << "\n"
          << text;
    }
  }
}

TEST(CaseKeys, EachThatIsPhysicalIsReportedWhenARestartChangesIt) {
  for (const auto& key : case_keys()) {
    if (!has_value(key)) continue;
    const std::vector<Case> cases = cases_of(key);
    for (std::size_t n = 1; n < cases.size(); ++n) {
      const Lines changes = physical_changes(cases[n - 1], cases[n]);
      EXPECT_EQ(!changes.empty(), is_physical(key)) << key.path << ": " << fmt::format("{}", fmt::join(changes, "; "));
      const auto names_it = [&](const std::string& line) {
        return key.path.starts_with(line.substr(0, line.find(':')));
      };
      EXPECT_TRUE(changes.empty() || std::any_of(changes.begin(), changes.end(), names_it)) << key.path;
      EXPECT_TRUE(physical_changes(cases[n], cases[n]).empty()) << key.path;
    }
  }
}

TEST(CaseKeys, EachThatStatisticsDependOnIsStoredWithThem) {
  for (const auto& key : case_keys()) {
    if (!has_value(key)) continue;
    const std::vector<Case> cases = cases_of(key);
    for (std::size_t n = 1; n < cases.size(); ++n) {
      EXPECT_EQ(sampled_keys(cases[n - 1]) != sampled_keys(cases[n]), is_sampled(key)) << key.path;
    }
  }
}

TEST(CaseKeys, StatisticsDependOnAllPhysicalKeysButThoseOfGridTimeInitialFieldAndSystems) {
  Lines left_out;
  for (const Key& key : case_keys()) {
    if (!key.sampled) left_out.push_back(key.path);
    EXPECT_FALSE(is_sampled(key) && !is_physical(key)) << key.path;
  }
  EXPECT_EQ(left_out, (Lines{"domain", "grid", "time", "initial", "solver.tridiagonal", "solver.z_blocks"}));
}

TEST(CaseKeys, ThoseThatStatisticsDependOnAreStoredAsInTheResolvedCase) {
  using Values = std::map<std::string, std::string>;
  const Lines couette{"flow.type=couette", "flow.reynolds={wall: 1000}", "walls.top={velocity: [1, 1e-5, 0]}"};
  EXPECT_EQ(sampled_keys(*parse(couette)), (Values{{"flow.buoyancy", "none"},
                                                   {"flow.forcing", "none"},
                                                   {"flow.magnetic_field", "none"},
                                                   {"flow.reynolds.viscosity", "0.001"},
                                                   {"flow.rotation", "none"},
                                                   {"flow.spanwise_forcing", "none"},
                                                   {"flow.type", "couette"},
                                                   {"scalars", "[]"},
                                                   {"solver.order", "4"},
                                                   {"walls.bottom.actuation", "none"},
                                                   {"walls.bottom.type", "no_slip"},
                                                   {"walls.bottom.velocity", "[-1, 0, 0]"},
                                                   {"walls.top.actuation", "none"},
                                                   {"walls.top.type", "no_slip"},
                                                   {"walls.top.velocity", "[1, 1.0e-05, 0]"}}));
  const Lines slip{"flow.reynolds={bulk: 2000}", "walls.top=free_slip"};
  EXPECT_EQ(sampled_keys(*parse(slip)), (Values{{"flow.buoyancy", "none"},
                                                {"flow.forcing.bulk_velocity", "1"},
                                                {"flow.magnetic_field", "none"},
                                                {"flow.reynolds.viscosity", "0.001"},
                                                {"flow.rotation", "none"},
                                                {"flow.spanwise_forcing", "none"},
                                                {"flow.type", "channel"},
                                                {"scalars", "[]"},
                                                {"solver.order", "4"},
                                                {"walls.bottom.actuation", "none"},
                                                {"walls.bottom.type", "no_slip"},
                                                {"walls.bottom.velocity", "[0, 0, 0]"},
                                                {"walls.top.actuation", "none"},
                                                {"walls.top.type", "free_slip"}}));
  EXPECT_EQ(sampled_keys(*parse(slip)), sampled_keys(*parse({"flow.reynolds={viscosity: 1e-3}", slip[1]})));
}

TEST(CaseKeys, ThoseOfRotationAreStoredAsInTheResolvedCase) {
  const auto ekman = sampled_keys(*parse({"flow.type=open_channel", "flow.reynolds={viscosity: 1e-3}",
                                          "flow.rotation={number: 2e-3, axis: [0, 0, 1], geostrophic: [1, 0]}"}));
  EXPECT_EQ(ekman.at("flow.rotation.number"), "0.002");
  EXPECT_EQ(ekman.at("flow.rotation.axis"), "wall_normal");
  EXPECT_EQ(ekman.at("flow.rotation.geostrophic"), "[1, 0]");
  EXPECT_EQ(ekman.at("flow.forcing"), "none");
}

TEST(CaseKeys, ADefaultIsWrittenAsTheCaseWritesIt) {
  const auto defaults = sampled_key_defaults();
  const auto written = sampled_keys(*parse({"solver.order=2"}));  // the value before there was the key
  EXPECT_TRUE(defaults.contains("flow.type"));
  for (const auto& [path, text] : defaults) {
    if (written.contains(path)) {
      EXPECT_EQ(written.at(path), text) << path;
    }
  }
}

TEST(CaseKeys, FreeOnARestartAreTitleEndTimeStepParallelOutputAndLimitsOfWallTime) {
  Lines free;
  for (const Key& key : case_keys()) {
    if (!key.physical) free.push_back(key.path);
  }
  EXPECT_EQ(free, (Lines{"title", "time.end", "time.steps", "time.cfl", "time.dt", "time.dt_max", "time.until",
                         "solver.precision", "solver.max_divergence", "parallel", "output", "walltime", "watchdog",
                         "ensemble"}));
}

// Resolved cases as version 0.1 put them into its checkpoints, each with the settings that it was made from.
const std::string couette_of_0_1 = R"(# The case as resolved: every default filled in, every path absolute.
title: "Sheared: \"two\" walls"
flow:
  type: couette
  reynolds: {wall: 1500}
  forcing: none
domain:
  size: [12.566370614359172, 4.1887902047863905, 2]
grid:
  cells: [8, 6, 16]
  stretching: {type: tanh, factor: 1.5}
walls:
  bottom: {type: no_slip, velocity: [-1, 0, 0]}
  top: {type: no_slip, velocity: [1, 0.1, 0]}
time:
  steps: 1
  dt: 0.001
  diffusion: implicit_z
initial: {type: turbulent, seed: 7}
solver:
  tridiagonal: transpose
  z_blocks: 1
parallel:
  grid: auto
  exchange: auto
output:
  directory: "/cases/here/out"
  log: {every: 100}
  timeseries: {every: 10}
  checkpoint: none
  statistics: {start: 0, every: 1, block: 1}
  slices:
    - {normal: z, at: 0.5235987755982988, every: 1, fields: [u, p]}
    - {normal: x, at: 0, every: 2, fields: [u]}
walltime: none
)";
const std::string couette = R"(title: "Sheared: \"two\" walls"
flow: {type: couette, reynolds: {wall: 1500}}
domain: {size: [4*pi, 4*pi/3, 2]}
grid: {cells: [8, 6, 16], stretching: {type: tanh, factor: 1.5}}
walls: {top: {velocity: [1, 0.1, 0]}}
time: {steps: 1, dt: 0.001, diffusion: implicit_z}
initial: {type: turbulent, seed: 7}
solver: {order: 2, tridiagonal: transpose}
output:
  directory: out
  checkpoint: none
  statistics: {start: 0, every: 1, block: 1}
  slices: [{normal: z, at: pi/6, every: 1.0, fields: [u, p]}, {normal: x, at: 0, every: 2}]
)";
const std::string open_channel_of_0_1 = R"(# The case as resolved: every default filled in, every path absolute.
title: "Channel flow"
flow:
  type: open_channel
  reynolds: {center: 4000}
  forcing: {pressure_gradient: 5e-04}
domain:
  size: [3.141592653589793, 2, 1]
grid:
  cells: [8, 6, 16]
  stretching: {type: uniform}
walls:
  bottom: {type: no_slip, velocity: [0, 0, 0]}
  top: {type: free_slip}
time:
  end: 0.001
  cfl: 0.9
  dt_max: 0.002
  diffusion: explicit
initial: {type: laminar}
solver:
  tridiagonal: ptdma
  z_blocks: 1
parallel:
  grid: auto
  exchange: auto
output:
  directory: "/cases/here/output"
  log: {every: 100}
  timeseries: {every: 10}
  checkpoint: {every: 20, keep: 2}
  statistics: none
  slices: []
walltime: 600
)";
// Its title was the default of version 0.1.
const std::string open_channel = R"(title: Channel flow
flow: {type: open_channel, reynolds: {center: 4000}}
domain: {size: [pi, 2, 1]}
grid: {cells: [8, 6, 16], stretching: {type: uniform}}
time: {end: 0.001, dt_max: 0.002}
initial: {type: laminar}
solver: {order: 2}
walltime: 0:10:00
)";

TEST(CaseKeys, ACaseStoredByVersion0_1IsTheSameCase) {
  for (const auto& [stored_text, text] :
       {std::pair(couette_of_0_1, couette), std::pair(open_channel_of_0_1, open_channel)}) {
    const Case stored = parse_stored_case(stored_text, "stored");
    const Case now = parse_case(text, "case.yaml", {}, "/cases/here");
    EXPECT_EQ(physical_changes(stored, now), Lines{});
    EXPECT_TRUE(stored == now);
    const Case by_default = parse_case(text, "case.yaml", {"solver.order=4"}, "/cases/here");
    EXPECT_EQ(physical_changes(stored, by_default), Lines{"solver.order: 2 -> 4"});
  }
}

}  // namespace
}  // namespace sluice::io
