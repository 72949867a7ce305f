#include "io/case/case_stages.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/decomp/decomposition.hpp"
#include "core/support/error.hpp"
#include "io/case/case_file.hpp"
#include "io/case/keys.hpp"
#include "io/case/paths.hpp"
#include "io/case/time_tables.hpp"

namespace sluice::io {

namespace {

using Fallbacks = std::map<std::string, YamlNode>;

const std::string& fallback_text(const Key& key, Defaults defaults) {
  return defaults == Defaults::of_earlier_versions && !key.earlier_fallback.empty() ? key.earlier_fallback
                                                                                    : key.fallback;
}

Fallbacks read_fallbacks(Defaults defaults) {
  Fallbacks nodes;
  Problems problems("key table", {});
  for (const auto& key : case_keys()) {
    const std::string& text = fallback_text(key, defaults);
    if (text.empty()) continue;
    auto node = read_yaml(text, Place::table, key.path, problems);
    SLUICE_REQUIRE(node, "the default of a key is not YAML: " + key.path);
    nodes.emplace(key.path, std::move(*node));
  }
  return nodes;
}

// The defaults in the key table, by path.
const Fallbacks& fallbacks_of(Defaults defaults) {
  static const Fallbacks now = read_fallbacks(Defaults::of_this_version);
  static const Fallbacks earlier = read_fallbacks(Defaults::of_earlier_versions);
  return defaults == Defaults::of_this_version ? now : earlier;
}

// Null if the key has no default, or does not belong to the section's type.
const YamlNode* fallback_of(const Key& key, const YamlNode& section, const Fallbacks& fallbacks) {
  const auto found = fallbacks.find(key.path);
  if (found == fallbacks.end() || fit_to_type(key, section) == Fit::no) return nullptr;
  const auto given = [&](const std::string& name) { return section.find(name) != nullptr; };
  return std::any_of(key.excludes.begin(), key.excludes.end(), given) ? nullptr : &found->second;
}

// Reads the value of a key that is not a section into its member.
void read_value(const Key& key, const YamlNode& node, std::size_t item, const std::string& base, Case& settings) {
  YamlNode value = node;
  if (is_word_of(key, node)) value.kind = YamlNode::Kind::null;
  if (key.value.type == ValueType::path) {
    value.text = absolute_path(node, base);
    for (YamlNode& path : value.items) path.text = absolute_path(path, base);
  }
  key.value.read(settings, item, value);
}

// Reads the keys of a section and its subsections into their members. A key that is absent and has no default leaves
// its member unchanged. `item`: index of the section in a list.
void read_section(const YamlNode& section, const std::string& path, std::size_t item, const std::string& base,
                  const Fallbacks& fallbacks, Case& settings) {
  static const YamlNode empty = empty_map();
  for (const Key* key : keys_of(path)) {
    const YamlNode* given = section.find(key->name());
    const YamlNode* node = given != nullptr ? given : fallback_of(*key, section, fallbacks);
    if (!key->is_section()) {
      if (node != nullptr) read_value(*key, *node, item, base, settings);
      continue;
    }
    if (node == nullptr) node = &empty;
    if (key->value.read) key->value.read(settings, item, *node);
    if (is_word_of(*key, *node)) continue;
    const std::size_t count = key->value.size ? key->value.size(settings) : 1;
    for (std::size_t n = 0; n < count; ++n) {
      const bool list = static_cast<bool>(key->value.size);
      read_section(list ? node->items[n] : *node, key->content(), list ? n : item, base, fallbacks, settings);
    }
  }
}

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

// The forcing for which the velocity unit of the Reynolds number is 1.
ForcingParameters preset_forcing(const Case& given) {
  const ReynoldsSpec& reynolds = given.reynolds;
  if (given.flow_type == FlowType::couette || given.flow_type == FlowType::periodic || is_driven_from_above(given.flow))
    return {};
  switch (reynolds.kind) {
    case ReynoldsKind::tau:
      return {ForcingKind::pressure_gradient, 1};  // mean momentum balance G h = u_tau^2
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

// The title of a case that has none.
std::string title_of(FlowType type) {
  switch (type) {
    case FlowType::channel:
      return "Channel flow";
    case FlowType::couette:
      return "Couette flow";
    case FlowType::open_channel:
      return "Open-channel flow";
    case FlowType::periodic:
      return "Flow in a periodic box";
  }
  return {};
}

// A case of this kind before its other keys are read.
Case preset_case(const Case& given) {
  const FlowType type = given.flow_type;
  Case preset;
  preset.title = title_of(type);
  preset.flow.forcing = preset_forcing(given);
  if (type == FlowType::couette) {
    preset.flow.bottom.velocity[0] = -1;
    preset.flow.top.velocity[0] = 1;
  }
  if (type == FlowType::open_channel) preset.flow.top.kind = WallKind::free_slip;
  if (type == FlowType::periodic) {
    preset.flow.periodic_z = true;
    preset.flow.bottom.kind = preset.flow.top.kind = WallKind::free_slip;
  }
  return preset;
}

// Computes the values that depend on several keys.
void derive(Case& settings) {
  settings.flow.viscosity = viscosity_of(settings.reynolds);
  for (const Physics* term : introduced_physics()) term->derive(settings.flow, {.size = settings.size});
  for (WallCondition* wall : {&settings.flow.bottom, &settings.flow.top}) {
    if (!wall->drags()) wall->velocity = {};
    if (wall->kind != WallKind::slip) wall->slip_length = 0;
  }
  StretchingSpec& stretching = settings.stretching;
  const bool follows = stretching.kind == StretchingKind::natural && settings.reynolds.kind == ReynoldsKind::tau;
  if (follows && stretching.re_tau == 0) stretching.re_tau = settings.reynolds.value;
  if (settings.z_blocks == 0) settings.z_blocks = ZBlocks::default_count(settings.cells[2]);
}

}  // namespace

std::map<std::string, std::string> sampled_key_defaults() {
  std::map<std::string, std::string> values;
  const Fallbacks& fallbacks = fallbacks_of(Defaults::of_earlier_versions);
  for (const Key& key : case_keys()) {
    const bool in_list = key.path.find("[]") != std::string::npos;  // the list is stored as a whole
    if (key.fallback.empty() || in_list || !is_sampled(key)) continue;
    values[key.path] = key.fallback;
    if (key.is_section()) continue;
    Case settings;  // the value as the resolved case has it: 0.001 for 1e-3
    read_value(key, fallbacks.at(key.path), 0, "", settings);
    values[key.path] = key.value.write(settings, 0).value_or(key.fallback);
  }
  return values;
}

Case build_case(const YamlNode& root, const std::string& base_directory, Defaults defaults) {
  const Fallbacks& fallbacks = fallbacks_of(defaults);
  // Read twice: the presets of walls and forcing depend on the flow type, its Reynolds number and the
  // terms.
  Case first;
  read_section(root, "", 0, base_directory, fallbacks, first);
  Case settings = preset_case(first);
  read_section(root, "", 0, base_directory, fallbacks, settings);
  derive(settings);
  return settings;
}

}  // namespace sluice::io
