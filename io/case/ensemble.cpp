#include "io/case/ensemble.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
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

bool is_number(const Key& key) {
  using enum ValueType;
  constexpr std::array types{real, integer, length, duration, fraction, formula};
  return key.value.count == 1 && std::ranges::find(types, key.value.type) != types.end();
}

constexpr const char* allowed = "allowed: keys of one number or formula each, such as flow.reynolds.bulk or time.dt";

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
  if (!is_number(*key)) return fmt::format("the key has no single number; {}", allowed);
  return {};
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

std::string yaml_of_varied(const std::string& value) {
  return parse_real(value) ? value : quoted_yaml(value);
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
      own.push_back(fmt::format("{}={}", key.path, yaml_of_varied(key.values[member])));
    own.push_back("output.directory=" + quoted_yaml(settings.output.directory + "/" + names[member]));
  }
  return all;
}

std::string ensemble_record(const Case& settings) {
  using Json = nlohmann::ordered_json;
  Json varied = Json::object();
  const std::vector<std::uint64_t> seeds = seeds_of(settings);
  if (seeds.size() > 1) varied["initial.seed"] = seeds;
  for (const VariedKey& key : settings.ensemble.vary) {
    Json values = Json::array();
    for (const std::string& value : key.values) {
      const auto number = parse_real(value);
      const auto integer = parse_integer(value);
      values.push_back(integer ? Json(*integer) : number ? Json(*number) : Json(value));
    }
    varied[key.path] = values;
  }
  const Json record{
      {"members", settings.ensemble.members}, {"directories", member_names(settings)}, {"varied", varied}};
  return record.dump(1) + "\n";
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
