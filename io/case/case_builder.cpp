#include "io/case/case_builder.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "core/support/error.hpp"
#include "io/case/keys.hpp"
#include "io/case/names.hpp"
#include "io/case/numbers.hpp"

namespace sluice::io {

namespace {

using Kind = YamlNode::Kind;

std::map<std::string, YamlNode> parse_fallbacks() {
  std::map<std::string, YamlNode> nodes;
  Problems problems("key table", {});
  for (const auto& key : case_keys()) {
    auto node = read_yaml(key.fallback, Place::table, key.path, problems);
    SLUICE_REQUIRE(node, "the default of a key is not YAML: " + key.path);
    nodes.emplace(key.path, std::move(*node));
  }
  return nodes;
}

const YamlNode& fallback_of(const std::string& path) {
  static const auto nodes = parse_fallbacks();
  return nodes.at(path);
}

// The values of one section, defaults included. A key that was refused reads as zero or empty.
class Section {
 public:
  Section(const YamlNode* node, std::string path, std::string base)
      : node_(node), path_(std::move(path)), base_(std::move(base)) {}

  bool has(std::string_view name) const { return node_ != nullptr && node_->find(name) != nullptr; }

  Section section(std::string_view name) const {
    return {has(name) ? node_->find(name) : nullptr, join_path(path_, name), base_};
  }

  std::vector<Section> list(std::string_view name) const {
    std::vector<Section> sections;
    for (const auto& item : value(name).items) sections.push_back({&item, join_path(path_, name) + "[]", base_});
    return sections;
  }

  bool is_word(std::string_view name, std::string_view word) const { return value(name).is_word(word); }
  std::string text(std::string_view name) const { return value(name).text; }
  double real(std::string_view name) const { return parse_real(text(name)).value_or(0); }
  std::int64_t integer(std::string_view name) const { return parse_integer(text(name)).value_or(0); }
  double length(std::string_view name) const { return parse_length(text(name)).value_or(0); }
  double duration(std::string_view name) const { return parse_duration(text(name)).value_or(0); }

  template <class Enum>
  Enum choice(std::string_view name) const {
    return from_name<Enum>(text(name)).value_or(Enum{});
  }

  template <class T, std::size_t N, class Parse>
  std::array<T, N> values(std::string_view name, Parse parse) const {
    std::array<T, N> result{};
    const auto& items = value(name).items;
    for (std::size_t n = 0; n < std::min(N, items.size()); ++n) {
      result[n] = static_cast<T>(parse(items[n].text).value_or(0));
    }
    return result;
  }

  std::vector<std::string> words(std::string_view name) const {
    std::vector<std::string> result;
    for (const auto& item : value(name).items) result.push_back(item.text);
    return result;
  }

  // Absolute. Against the folder of the file or, from the command line, the working directory.
  std::string path(std::string_view name) const {
    const YamlNode& node = value(name);
    if (node.text.empty()) return {};
    const std::filesystem::path base = node.place.source > Place::file ? "" : base_;
    const auto whole = std::filesystem::absolute(base / node.text).lexically_normal();
    return whole.has_filename() ? whole.string() : whole.parent_path().string();
  }

 private:
  const YamlNode& value(std::string_view name) const {
    return has(name) ? *node_->find(name) : fallback_of(join_path(path_, name));
  }

  const YamlNode* node_;
  std::string path_;
  std::string base_;
};

double viscosity_of(const ReynoldsSpec& reynolds) {
  switch (reynolds.kind) {
    case ReynoldsKind::bulk:
      return 2 / reynolds.value;
    case ReynoldsKind::viscosity:
      return reynolds.value;
    case ReynoldsKind::tau:
    case ReynoldsKind::center:
    case ReynoldsKind::wall:
      return 1 / reynolds.value;
  }
  return 0;
}

// The forcing that makes the velocity unit of the Reynolds number 1.
ForcingParameters preset_forcing(FlowType type, const ReynoldsSpec& reynolds) {
  if (type == FlowType::couette) return {};
  switch (reynolds.kind) {
    case ReynoldsKind::tau:
      return {ForcingKind::pressure_gradient, 1};  // the mean balance G h = u_tau^2
    case ReynoldsKind::center:
      // nu d2U/dz2 = -G with U_c = 1 at the centre, or at the free surface, a distance h = 1 from the wall.
      return {ForcingKind::pressure_gradient, 2 * viscosity_of(reynolds)};
    case ReynoldsKind::bulk:
    case ReynoldsKind::wall:
    case ReynoldsKind::viscosity:
      break;
  }
  return {ForcingKind::bulk_velocity, 1};
}

void read_flow(const Section& section, Case& settings) {
  settings.flow_type = section.choice<FlowType>("type");
  const Section reynolds = section.section("reynolds");
  for (const auto kind :
       {ReynoldsKind::bulk, ReynoldsKind::tau, ReynoldsKind::center, ReynoldsKind::wall, ReynoldsKind::viscosity}) {
    if (!reynolds.has(name(kind))) continue;
    settings.reynolds = {kind, reynolds.real(name(kind))};
  }
  settings.flow.viscosity = viscosity_of(settings.reynolds);

  const Section forcing = section.section("forcing");
  if (!section.has("forcing")) settings.flow.forcing = preset_forcing(settings.flow_type, settings.reynolds);
  for (const auto kind : {ForcingKind::bulk_velocity, ForcingKind::pressure_gradient}) {
    if (!forcing.has(name(kind))) continue;
    settings.flow.forcing = {kind, forcing.real(name(kind))};
  }
}

WallCondition preset_wall(FlowType type, bool top) {
  WallCondition wall;
  if (type == FlowType::couette) wall.u = top ? 1 : -1;
  if (type == FlowType::open_channel && top) wall.kind = WallKind::free_slip;
  return wall;
}

WallCondition read_wall(const Section& walls, std::string_view side, FlowType type) {
  const WallCondition preset = preset_wall(type, side == "top");
  if (!walls.has(side)) return preset;
  const Section section = walls.section(side);
  WallCondition wall = preset;
  if (const auto word = from_name<WallKind>(walls.text(side))) {
    wall.kind = *word;
  } else if (section.has("type")) {
    wall.kind = section.choice<WallKind>("type");
  } else if (section.has("velocity")) {
    wall.kind = WallKind::no_slip;
  }
  if (wall.kind == WallKind::free_slip) {
    wall.u = wall.v = 0;
  } else if (section.has("velocity")) {
    const auto velocity = section.values<double, 3>("velocity", parse_real);
    wall.u = velocity[0];
    wall.v = velocity[1];
  }
  return wall;
}

StretchingSpec read_stretching(const Section& section, const ReynoldsSpec& reynolds) {
  StretchingSpec stretching;
  stretching.kind = section.choice<StretchingKind>("type");
  switch (stretching.kind) {
    case StretchingKind::uniform:
      break;
    case StretchingKind::tanh:
      stretching.factor = section.real("factor");
      break;
    case StretchingKind::file:
      stretching.file = section.path("file");
      break;
    case StretchingKind::natural:
      stretching.re_tau = section.real("re_tau");
      if (!section.has("re_tau") && reynolds.kind == ReynoldsKind::tau) stretching.re_tau = reynolds.value;
      break;
  }
  return stretching;
}

TimeSpec read_time(const Section& section) {
  TimeSpec time;
  if (section.has("end")) time.end = section.real("end");
  if (section.has("steps")) time.steps = section.integer("steps");
  if (section.has("dt")) {
    time.dt = section.real("dt");
  } else {
    time.cfl = section.real("cfl");
    if (!section.is_word("dt_max", "none")) time.dt_max = section.real("dt_max");
  }
  return time;
}

InitialSpec read_initial(const Section& section) {
  InitialSpec initial;
  initial.kind = section.choice<InitialKind>("type");
  if (initial.kind == InitialKind::turbulent) initial.seed = static_cast<std::uint64_t>(section.integer("seed"));
  if (section.has("file")) initial.file = section.path("file");
  return initial;
}

OutputSpec read_output(const Section& section) {
  OutputSpec output;
  output.directory = section.path("directory");
  output.log_every = section.section("log").integer("every");
  output.timeseries_every = section.section("timeseries").integer("every");
  if (!section.is_word("checkpoint", "none")) {
    output.checkpoint_every = section.section("checkpoint").real("every");
    output.checkpoint_keep = static_cast<int>(section.section("checkpoint").integer("keep"));
  }
  if (!section.is_word("statistics", "none")) {
    const Section statistics = section.section("statistics");
    output.statistics = true;
    output.statistics_start = statistics.real("start");
    output.statistics_every = statistics.integer("every");
    output.statistics_block = statistics.real("block");
  }
  for (const auto& item : section.list("slices")) {
    const std::string normal = item.text("normal");
    output.slices.push_back(
        {normal.empty() ? 'z' : normal[0], item.length("at"), item.real("every"), item.words("fields")});
  }
  return output;
}

}  // namespace

Case build_case(const YamlNode& root, const std::string& base_directory) {
  const Section top(&root, "", base_directory);
  Case settings;
  settings.title = top.text("title");
  read_flow(top.section("flow"), settings);
  settings.size = top.section("domain").values<double, 3>("size", parse_length);
  const Section grid = top.section("grid");
  settings.cells = grid.values<std::int64_t, 3>("cells", parse_integer);
  settings.stretching = read_stretching(grid.section("stretching"), settings.reynolds);
  settings.flow.bottom = read_wall(top.section("walls"), "bottom", settings.flow_type);
  settings.flow.top = read_wall(top.section("walls"), "top", settings.flow_type);
  settings.time = read_time(top.section("time"));
  settings.flow.diffusion = top.section("time").choice<Diffusion>("diffusion");
  settings.initial = read_initial(top.section("initial"));

  const Section solver = top.section("solver");
  settings.flow.tridiagonal = solver.choice<TridiagonalMethod>("tridiagonal");
  const auto automatic = std::max<std::int64_t>(1, settings.cells[2] / 16);
  settings.z_blocks = static_cast<int>(solver.is_word("z_blocks", "auto") ? automatic : solver.integer("z_blocks"));
  const Section parallel = top.section("parallel");
  if (!parallel.is_word("grid", "auto")) settings.process_grid = parallel.values<int, 2>("grid", parse_integer);
  settings.exchange = parallel.text("exchange");
  settings.output = read_output(top.section("output"));
  if (!top.is_word("walltime", "none")) settings.walltime = top.duration("walltime");
  return settings;
}

}  // namespace sluice::io
