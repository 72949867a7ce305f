#include "src/commands/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/case/case.hpp"
#include "io/case/map_reader.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice {

namespace {

using io::MapReader;
using io::Problems;
using io::YamlNode;
using Kind = YamlNode::Kind;

constexpr std::array all_strategies{LineStrategy::transposed, LineStrategy::whole_lines, LineStrategy::two_passes,
                                    LineStrategy::tiles,      LineStrategy::split_tiles, LineStrategy::condensed};

std::optional<Link> read_link(MapReader& links, const std::string& key, Problems& problems) {
  const YamlNode* node = links.find(key, false);
  if (node == nullptr) return std::nullopt;
  MapReader reader(*node, links.path_of(key), problems);
  const Link link{1e9 * reader.number("gb_per_s").value_or(0), 1e-6 * reader.number("microseconds").value_or(0),
                  1e-6 * reader.number("microseconds_per_further_message", true, 0, false).value_or(0)};
  reader.refuse_others();
  return link;
}

/// The time of each phase. Other keys of a phase, which results of benchmarks have, are not read.
std::map<std::string, double> read_phases(MapReader& step, Problems& problems) {
  std::map<std::string, double> phases;
  const YamlNode* list = step.find("phases", false);
  if (list == nullptr) return phases;
  if (list->kind != Kind::sequence) problems.add(list->place, step.path_of("phases"), "is not a list");
  for (std::size_t n = 0; n < list->items.size(); ++n) {
    MapReader reader(list->items[n], fmt::format("{}[{}]", step.path_of("phases"), n), problems);
    const std::string name = reader.text("name", {});
    phases[name] = 1e-3 * reader.number("milliseconds", true, 0, false).value_or(0);
  }
  return phases;
}

LineStrategy strategy_of(const std::string& name_of_it) {
  const auto found =
      std::ranges::find_if(all_strategies, [&](LineStrategy strategy) { return name_of_it == name(strategy); });
  return found == all_strategies.end() ? LineStrategy{} : *found;
}

/// A result of `bench step`: of a file, whose other keys are not needed, or written in the machine file.
MeasuredStep read_step(const YamlNode& node, const std::string& path, bool is_result, Problems& problems) {
  MapReader reader(node, path, problems);
  MeasuredStep step;
  step.precision = reader.text("precision", {"double", "single"});
  const bool is_whole = is_result || node.find("ns_per_point_per_step") != nullptr;
  step.diffusion = reader.text("diffusion", io::all_names<Diffusion>(), is_whole);
  const std::string order = reader.text("order", {"2", "4"}, is_whole);
  step.order = order == "4" ? 4 : order == "2" ? 2 : 0;
  const double scalars = reader.number("scalars", false, 0, false).value_or(0);
  constexpr int most_scalars = 1000;
  if (scalars > most_scalars || scalars != std::floor(scalars)) {
    problems.add(node.place, reader.path_of("scalars"), fmt::format("must be an integer from 0 to {}", most_scalars));
  } else {
    step.scalars = static_cast<int>(scalars);
  }
  std::vector<std::string> names;
  for (const LineStrategy strategy : all_strategies) names.emplace_back(name(strategy));
  step.z_lines = strategy_of(reader.text("z_lines", names));
  step.triad = 1e9 * reader.number("triad_gb_per_s", is_whole).value_or(0);
  if (const YamlNode* cells = reader.find("cells")) {
    if (cells->kind != Kind::sequence || cells->items.size() != 3) {
      problems.add(cells->place, reader.path_of("cells"), "must be a list of 3 integers");
    } else {
      for (std::size_t n = 0; n < 3; ++n)
        step.cells[n] = reader.count(cells->items[n], reader.path_of("cells")).value_or(1);
    }
  }
  step.phases = read_phases(reader, problems);
  if (const auto ns = reader.number("ns_per_point_per_step", is_whole || step.phases.empty()))
    step.seconds = *ns * 1e-9 * step.points();
  if (!is_result) {
    reader.refuse_others();
  } else if (reader.text("what", {"step"}) == "step" && reader.count("ranks").value_or(1) != 1) {
    problems.add(node.place, reader.path_of("ranks"), "must be 1: the forecast starts from one device");
  }
  return step;
}

MeasuredStep read_result(const std::string& file, const std::string& text) {
  Problems problems(file, {}, "result of bench step");
  MeasuredStep step;
  if (const auto root = io::read_yaml(text, io::Place::file, "", problems)) {
    io::note_control_characters(*root, "", problems);
    step = read_step(*root, "", true, problems);
  }
  problems.raise();
  return step;
}

}  // namespace

bool Machine::is_gpu() const {
  return std::ranges::any_of(steps, [](const MeasuredStep& step) {
    return step.z_lines == LineStrategy::tiles || step.z_lines == LineStrategy::split_tiles ||
           step.z_lines == LineStrategy::condensed;
  });
}

Machine parse_machine(const std::string& text, const std::string& file_name,
                      const std::function<std::string(const std::string& file)>& read_file) {
  Problems problems(file_name, {}, "machine file");
  const std::optional<YamlNode> root = io::read_yaml(text, io::Place::file, "", problems);
  if (root) io::note_control_characters(*root, "", problems);
  problems.raise();
  Machine machine;
  MapReader reader(*root, "", problems);
  machine.title = reader.text("title", {});
  machine.memory = 1e9 * reader.number("memory_gb").value_or(0);
  machine.devices_per_host = static_cast<int>(reader.count("devices_per_host").value_or(1));
  if (const YamlNode* links = reader.find("links")) {
    MapReader of_links(*links, "links", problems);
    machine.host = read_link(of_links, "host", problems);
    machine.network = read_link(of_links, "network", problems);
    of_links.refuse_others();
  }
  if (const YamlNode* steps = reader.find("steps")) {
    if (steps->kind != Kind::sequence || steps->items.empty())
      problems.add(steps->place, "steps", "must be a list of results of `sluice bench step`");
    for (std::size_t n = 0; n < steps->items.size(); ++n) {
      const YamlNode& item = steps->items[n];
      if (item.kind == Kind::scalar) {
        machine.steps.push_back(read_result(item.text, read_file(item.text)));
      } else {
        machine.steps.push_back(read_step(item, fmt::format("steps[{}]", n), false, problems));
      }
    }
  }
  reader.refuse_others();
  problems.raise();
  return machine;
}

}  // namespace sluice
