#include "io/case/ensemble.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/support/error.hpp"
#include "io/case/keys.hpp"
#include "io/case/numbers.hpp"

namespace sluice::io {

namespace {

/// Members share memory and launches on the device, so that they have the same arrays and take steps of the same kind;
/// and they write the same files.
constexpr std::array same_for_all{"domain", "grid", "time.diffusion", "solver", "parallel", "output", "ensemble"};

/// Of one process.
constexpr std::array of_the_program{"walltime", "watchdog"};

bool is_inside(std::string_view path, std::string_view section) {
  return path.starts_with(section) && (path.size() == section.size() || path[section.size()] == '.');
}

bool has_numbers(const Key& key) {
  using enum ValueType;
  constexpr std::array types{real, integer, length, duration, fraction, formula};
  return !key.value.is_list() && std::ranges::find(types, key.value.type) != types.end();
}

constexpr const char* allowed = "allowed: keys of numbers or formulas, such as flow.reynolds.bulk or time.dt";

/// The first key inside a section that can be varied; empty if there is none.
std::string first_inside(const Key& section) {
  for (const Key& key : case_keys())
    if (key.path != section.path && is_inside(key.path, section.path) && fault_of_varied(key.path).empty())
      return key.path;
  return {};
}

bool is_list(const VariedKey& key) {
  return find_key(key.path)->value.count != 1;
}

using Json = nlohmann::ordered_json;

Json json_of(const std::string& value) {
  const auto number = parse_real(value);
  const auto integer = parse_integer(value);
  return integer ? Json(*integer) : number ? Json(*number) : Json(value);
}

std::vector<std::uint64_t> seeds_of(const Case& settings) {
  const EnsembleSpec& ensemble = settings.ensemble;
  if (settings.initial.kind != InitialKind::turbulent) return {};
  if (ensemble.seeds.size() > 1) return ensemble.seeds;
  std::vector<std::uint64_t> seeds;
  for (int member = 0; member < ensemble.members; ++member)
    seeds.push_back((ensemble.seeds.empty() ? settings.initial.seed : ensemble.seeds[0]) +
                    static_cast<std::uint64_t>(member));
  return seeds;
}

}  // namespace

std::string fault_of_varied(const std::string& path) {
  const Key* key = find_key(path);
  if (key == nullptr || path.find("[]") != std::string::npos) {
    const auto dot = path.rfind('.');
    std::vector<std::string> near = nearest_keys(dot == std::string::npos ? "" : path.substr(0, dot),
                                                 dot == std::string::npos ? path : path.substr(dot + 1));
    std::erase_if(near, [](const std::string& one) { return !fault_of_varied(one).empty(); });
    return fmt::format("unknown key; {}{}", allowed,
                       near.empty() ? "" : fmt::format("; did you mean '{}'?", fmt::join(near, "' or '")));
  }
  if (path == "initial.seed") return "the seeds of members are ensemble.seeds";
  const auto holds = [&](const char* section) { return is_inside(path, section); };
  if (std::ranges::any_of(same_for_all, holds))
    return fmt::format("all members have the same value, because they share memory and kernels, or their files; {}",
                       allowed);
  if (std::ranges::any_of(of_the_program, holds))
    return fmt::format("all members have the same value, because one program runs them; {}", allowed);
  if (has_numbers(*key)) return {};
  const std::string inside = key->is_section() ? first_inside(*key) : "";
  if (!inside.empty()) return fmt::format("the key is a section; write paths of keys in it, such as {}", inside);
  return fmt::format("the key has no numbers; {}", allowed);
}

std::vector<KeyFault> ensemble_faults(const Case& settings) {
  const EnsembleSpec& ensemble = settings.ensemble;
  if (ensemble.members == 0) return {};
  std::vector<KeyFault> faults;
  const auto count = static_cast<std::size_t>(ensemble.members);
  if (ensemble.seeds.size() > 1 && ensemble.seeds.size() != count)
    faults.push_back({"ensemble.seeds", fmt::format("a list of {} for {} members; allowed: one seed, or one for each "
                                                    "member",
                                                    ensemble.seeds.size(), count)});
  if (!ensemble.seeds.empty() && settings.initial.kind != InitialKind::turbulent)
    faults.push_back({"ensemble.seeds", fmt::format("initial.type {} has no seed; allowed: with turbulent only",
                                                    name(settings.initial.kind))});
  for (const VariedKey& key : ensemble.vary) {
    if (key.values.size() == count) continue;
    faults.push_back({"ensemble.vary", fmt::format("{} has {} values for {} members; allowed: one for each member",
                                                   key.path, key.values.size(), count)});
  }
  if (settings.process_grid && *settings.process_grid != std::array{1, 1})
    faults.push_back({"parallel.grid", "each member of an ensemble runs on one process; allowed: auto or [1, 1]"});
  return faults;
}

std::string yaml_of_varied(const VariedKey& key, std::size_t member) {
  std::vector<std::string> values;
  for (const std::string& value : key.values[member]) values.push_back(parse_real(value) ? value : quoted_yaml(value));
  return is_list(key) ? fmt::format("[{}]", fmt::join(values, ", ")) : values.front();
}

std::vector<std::string> member_names(const Case& settings) {
  const int members = settings.ensemble.members;
  const std::size_t width = std::max<std::size_t>(2, std::to_string(members - 1).size());
  std::vector<std::string> names;
  for (int member = 0; member < members; ++member) names.push_back(fmt::format("member_{:0{}}", member, width));
  return names;
}

std::vector<std::vector<std::string>> member_settings(const Case& settings) {
  const std::vector<std::uint64_t> seeds = seeds_of(settings);
  const std::vector<std::string> names = member_names(settings);
  std::vector<std::vector<std::string>> all;
  for (std::size_t member = 0; member < names.size(); ++member) {
    std::vector<std::string>& own = all.emplace_back();
    own.emplace_back("ensemble=none");
    if (!seeds.empty()) own.push_back(fmt::format("initial.seed={}", seeds[member]));
    for (const VariedKey& key : settings.ensemble.vary)
      own.push_back(fmt::format("{}={}", key.path, yaml_of_varied(key, member)));
    own.push_back("output.directory=" + quoted_yaml(settings.output.directory + "/" + names[member]));
  }
  return all;
}

std::string ensemble_record(const Case& settings) {
  Json varied = Json::object();
  const std::vector<std::uint64_t> seeds = seeds_of(settings);
  if (!seeds.empty()) varied["initial.seed"] = seeds;
  for (const VariedKey& key : settings.ensemble.vary) {
    Json& of_members = varied[key.path] = Json::array();
    for (const std::vector<std::string>& value : key.values) {
      Json components = Json::array();
      for (const std::string& text : value) components.push_back(json_of(text));
      of_members.push_back(is_list(key) ? components : components.front());
    }
  }
  const Json record{
      {"members", settings.ensemble.members}, {"directories", member_names(settings)}, {"varied", varied}};
  return record.dump(1) + "\n";
}

std::string first_equal_members(const Case& settings) {
  const Json varied = Json::parse(ensemble_record(settings))["varied"];
  const std::vector<std::string> names = member_names(settings);
  std::map<std::vector<Json>, std::string> seen;
  for (std::size_t member = 0; member < names.size(); ++member) {
    std::vector<Json> own;
    for (const Json& values : varied) own.push_back(values[member]);
    const auto [place, is_new] = seen.emplace(own, names[member]);
    if (!is_new) return fmt::format("{} and {}", place->second, names[member]);
  }
  return {};
}

std::vector<std::string> directories_in_record(const std::string& text, const std::string& file) {
  const auto record = nlohmann::json::parse(text, nullptr, false);
  std::vector<std::string> directories;
  if (record.is_object() && record.contains("directories") && record["directories"].is_array()) {
    for (const auto& directory : record["directories"])
      if (directory.is_string()) directories.push_back(directory.get<std::string>());
  }
  if (directories.empty()) throw Error(ExitCode::io, file + ": the file names no members of an ensemble");
  return directories;
}

}  // namespace sluice::io
