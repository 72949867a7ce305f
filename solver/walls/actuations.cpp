// All actuations of walls, and which one a wall has.
#include "solver/walls/actuations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/support/error.hpp"
#include "solver/walls/opposition_control.hpp"
#include "solver/walls/wall_actuation.hpp"
#include "solver/walls/wave_actuation.hpp"

namespace sluice {

namespace {

// A new type is one more entry here.
std::span<const WallActuation* const> types() {
  static const std::array list{&oscillation(), &travelling_wave(), &blowing_suction(), &opposition_control()};
  return list;
}

const WallActuation& type_of(const Actuation& actuation) {
  const auto found = std::ranges::find(types(), actuation.type);
  SLUICE_REQUIRE(found != types().end(), "a type of actuation is not in the list");
  return **found;
}

struct WallOfCase {
  Walls::Side side;
  const char* name;
  WallCondition FlowParameters::*wall;
  std::string path() const { return std::string("walls.") + name; }
  std::string section() const { return path() + ".actuation"; }
};
constexpr std::array walls_of_case{WallOfCase{Walls::Side::bottom, "bottom", &FlowParameters::bottom},
                                   WallOfCase{Walls::Side::top, "top", &FlowParameters::top}};

/// The number of the type in the list.
ParameterChoice choice_of_type(WallCondition FlowParameters::*wall) {
  ParameterChoice choice{
      .words = {},
      .set = [=](FlowParameters& flow, std::size_t n) { (flow.*wall).actuation.type = types()[n]; },
      .get =
          [=](const FlowParameters& flow) {
            return static_cast<std::size_t>(std::ranges::find(types(), (flow.*wall).actuation.type) - types().begin());
          }};
  for (const WallActuation* type : types()) choice.words.push_back(type->name());
  return choice;
}

std::string meanings_of_types() {
  std::string text;
  for (const WallActuation* type : types())
    text += (text.empty() ? "" : "; ") + fmt::format("{}: {}", type->name(), type->meaning());
  return text + ".";
}

/// Adds the keys of a type, in the order of the list. `only_with` names the types that have them.
void add_keys(const WallActuation& type, const KeysOfWall& wall, std::vector<ParameterKey>& keys) {
  for (ParameterKey& key : type.keys(wall)) {
    const auto known = std::ranges::find(keys, key.path, &ParameterKey::path);
    if (known == keys.end()) {
      keys.push_back(std::move(key));
      keys.back().only_with = {type.name()};
      continue;
    }
    known->only_with.push_back(type.name());
    if (known->meaning.starts_with(key.meaning.substr(0, key.meaning.size() - 1))) continue;
    known->meaning.pop_back();  // its full stop
    known->meaning += fmt::format("; for {} {}", type.name(), key.meaning);
  }
}

void add_section(const WallOfCase& wall, std::vector<ParameterKey>& all) {
  const std::string path = wall.section();
  const auto actuation = [side = wall.wall](auto& flow) -> auto& {
    return (flow.*side).actuation;
  };
  all.push_back({.path = path,
                 .value = ParameterValue{ParameterSection{
                     .remove = [=](FlowParameters& flow) { actuation(flow) = {}; },
                     .is_none = [=](const FlowParameters& flow) { return actuation(flow) == Actuation{}; }}},
                 .words = {"none"},
                 .fallback = "none",
                 .meaning = "What the wall does to control the flow; it is added to the velocity of the wall.",
                 .commented = true});
  all.push_back({.path = path + ".type",
                 .value = ParameterValue{choice_of_type(wall.wall)},
                 .required = true,
                 .meaning = meanings_of_types(),
                 .example = types().front()->name()});
  const KeysOfWall binding(wall.wall);
  std::vector<ParameterKey> keys;
  for (const WallActuation* type : types()) add_keys(*type, binding, keys);
  for (ParameterKey& key : keys) {
    key.path = path + "." + key.path;
    if (key.only_with.size() == types().size()) key.only_with.clear();
    all.push_back(std::move(key));
  }
  all.push_back({.path = path + ".units",
                 .value = ParameterValue{choice_of(binding.common(&Actuation::units), {"outer", "wall"})},
                 .fallback_note = "outer",
                 .meaning = "Units of the numbers above: outer, U and h; or wall, those of a flow at `re_tau`.",
                 .example = "outer",
                 .commented = true});
  all.push_back({.path = path + ".re_tau",
                 .value = ParameterValue{binding.common(&Actuation::re_tau)},
                 .range = {.minimum = {0}, .above = true},
                 .unit = "1",
                 .meaning = "u_tau h / nu of the flow that gives the wall units, usually of the flow without control.",
                 .example = "200",
                 .commented = true});
}

/// From now on in outer units.
void resolve(Actuation& actuation, const WallActuation& type, double viscosity, const CaseFacts& facts) {
  if (actuation.units == ActuationUnits::wall && actuation.re_tau.value_or(0) > 0) {
    const double re_tau = *actuation.re_tau;  // u_tau h / nu with h = 1
    type.use_outer_units(actuation, {re_tau * viscosity, viscosity});
    actuation.units = ActuationUnits::outer;
    actuation.units_of_case = {re_tau};
    actuation.re_tau.reset();
  }
  type.derive(actuation, facts);
}

void check_wall(const WallOfCase& of_case, const WallCondition& wall, const RuleReport& report) {
  const std::string path = of_case.section();
  const Actuation& actuation = wall.actuation;
  if (!report.good(of_case.path()) || !actuation.active()) return;
  if (wall.kind == WallKind::free_slip)
    return report.note(path, "a free-slip wall does nothing; allowed: with type no_slip");
  if (actuation.units == ActuationUnits::wall)
    return report.note(path + ".units", "wall units need the key re_tau; allowed: re_tau > 0, or units outer");
  if (actuation.re_tau) report.note(path + ".re_tau", "the units are outer; allowed: with units: wall only");
  type_of(actuation).check(actuation, path, report);
  for (std::size_t n = 0; n < wall.velocity.size(); ++n) {
    const bool responds = n == 2 && actuation.responds();
    const bool taken = responds ? wall.velocity[n] != Formula(0) : !wall.velocity[n].is_constant();
    if (taken && (responds || actuation.velocity(n) != Formula(0)))
      report.note(
          fmt::format("{}.velocity[{}]", of_case.path(), n),
          fmt::format("contradicts {}, which sets this component; allowed: {}", path, responds ? "0" : "a number"));
  }
}

class WallControl final : public Physics {
 public:
  std::string name() const override { return "wall control"; }
  bool active(const FlowParameters& flow) const override {
    return flow.bottom.actuation.active() || flow.top.actuation.active();
  }
  std::vector<ParameterKey> keys() const override {
    std::vector<ParameterKey> keys;
    for (const WallOfCase& wall : walls_of_case) add_section(wall, keys);
    return keys;
  }
  /// Those of the bottom wall stand for either.
  std::vector<Synonym> synonyms() const override {
    std::vector<Synonym> all;
    for (const WallActuation* type : types()) {
      for (const auto& [name, key] : type->synonyms()) {
        const Synonym synonym{name, walls_of_case[0].section() + "." + key};
        if (std::ranges::find(all, synonym) == all.end()) all.push_back(synonym);
      }
    }
    return all;
  }
  void derive(FlowParameters& flow, const CaseFacts& facts) const override {
    for (const WallOfCase& wall : walls_of_case) {
      Actuation& actuation = (flow.*wall.wall).actuation;
      if (actuation.active()) resolve(actuation, type_of(actuation), flow.viscosity, facts);
    }
  }
  void check(const FlowParameters& flow, const RuleReport& report) const override {
    for (const WallOfCase& wall : walls_of_case) check_wall(wall, flow.*wall.wall, report);
  }
};

std::string check_text_of(const Actuation& actuation, const Grid& grid, Walls::Side side, double viscosity,
                          double friction_velocity) {
  const double re_tau = actuation.units_of_case.re_tau;
  const double u_tau = re_tau > 0 ? re_tau * viscosity : friction_velocity;
  if (!(u_tau > 0)) return actuation.type->name();
  const std::string name = re_tau > 0 ? fmt::format("the u_tau that re_tau: {:g} sets, {:.5f}", re_tau, u_tau)
                                      : fmt::format("the expected u_tau, {:.5f}", u_tau);
  return type_of(actuation).check_text({grid, side, actuation, {u_tau, viscosity}, name});
}

}  // namespace

const Physics& wall_control() {
  static const WallControl control;
  return control;
}

WallResponses::WallResponses(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                             const FlowParameters& flow, Walls& walls) {
  for (const Walls::Side side : Walls::sides) {
    const Actuation& actuation = walls.condition(side).actuation;
    if (!actuation.responds()) continue;
    responses_.push_back(type_of(actuation).response({comm, decomposition, grid, walls, flow, side}));
  }
}

double WallResponses::memory(const Box3& box, const FlowParameters& flow) {
  double bytes = 0;
  for (const WallCondition* wall : {&flow.bottom, &flow.top})
    bytes += wall->actuation.responds() ? type_of(wall->actuation).memory(box, flow.order) : 0;
  return bytes;
}

WallResponses::~WallResponses() = default;

void WallResponses::respond(const VelocityToCorrect& velocity, const Metrics& metrics) {
  for (const auto& response : responses_) response->respond(velocity, metrics);
}

std::vector<WallPlane> WallResponses::state() const {
  std::vector<WallPlane> planes;
  for (const auto& response : responses_) {
    for (WallPlane& plane : response->state()) planes.push_back(std::move(plane));
  }
  return planes;
}

std::vector<std::string> names_of_responses() {
  std::vector<std::string> names;
  for (const WallActuation* type : types()) {
    if (!type->responds()) continue;
    names.push_back(type->name());
    std::ranges::replace(names.back(), '_', ' ');
  }
  return names;
}

bool has_responses(const FlowParameters& flow) {
  return flow.bottom.actuation.responds() || flow.top.actuation.responds();
}

std::vector<std::string> check_lines_of_walls(const FlowParameters& flow, const Grid& grid, double friction_velocity) {
  std::vector<std::string> lines;
  for (const WallOfCase& wall : walls_of_case) {
    const Actuation& actuation = (flow.*wall.wall).actuation;
    if (!actuation.active()) continue;
    lines.push_back(fmt::format("{:<15} {}", std::string(wall.name) + " wall",
                                check_text_of(actuation, grid, wall.side, flow.viscosity, friction_velocity)));
  }
  return lines;
}

}  // namespace sluice
