// The rules between several keys. Each is checked only if its keys are valid on their own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/case/case.hpp"
#include "io/case/case_stages.hpp"
#include "io/case/ensemble.hpp"
#include "io/case/keys.hpp"
#include "io/case/numbers.hpp"
#include "model/field_descriptor.hpp"
#include "model/key_figures.hpp"

namespace sluice::io {

namespace {

class Rules {
 public:
  Rules(const Case& settings, const YamlNode& root, Problems& problems)
      : settings_(settings), root_(root), problems_(problems) {}

  void check_reynolds() {
    const std::string path = "flow.reynolds.wall";
    if (!problems_.good("flow.type") || !problems_.good("flow.reynolds")) return;
    if (settings_.reynolds.kind != ReynoldsKind::wall || settings_.flow_type == FlowType::couette) return;
    note(path,
         fmt::format("the walls of flow.type {} do not move; allowed: with couette only", name(settings_.flow_type)));
  }

  void check_height() {
    if (!problems_.good("flow.type") || !problems_.good("domain.size")) return;
    if (settings_.flow.periodic_z) return;
    const double height = settings_.flow_type == FlowType::open_channel ? 1 : 2;
    if (settings_.size[2] == height || is_boundary_layer()) return;
    note(
        "domain.size[2]",
        fmt::format("the height of flow.type {} is {} in units of h, not {}; allowed: {}; h is {}: to keep the shape "
                    "of the box, multiply all three lengths by {:.6g}",
                    name(settings_.flow_type), format_real(height), format_real(settings_.size[2]), format_real(height),
                    height == 1 ? "the depth" : "half the distance between the walls", height / settings_.size[2]));
  }

  void check_periodic() {
    if (!problems_.good("flow.type") || !settings_.flow.periodic_z) return;
    const FlowParameters& flow = settings_.flow;
    const auto require = [&](bool holds, const std::string& path, const char* allowed) {
      if (!holds && problems_.good(path))
        note(path, fmt::format("flow.type periodic has no walls; allowed: {}", allowed));
    };
    require(settings_.reynolds.kind == ReynoldsKind::viscosity, "flow.reynolds", "viscosity");
    require(flow.bottom.kind == WallKind::free_slip && flow.top.kind == WallKind::free_slip, "walls",
            "no such section");
    require(settings_.stretching.kind == StretchingKind::uniform, "grid.stretching.type", "uniform");
    require(settings_.time.until == AccuracyLimits{}, "time.until", "no limits of accuracy, which are of wall units");
    const auto insulated = [](const ScalarParameters& s) { return s.bottom == ScalarWall{} && s.top == ScalarWall{}; };
    require(std::ranges::all_of(flow.scalars, insulated), "scalars", "scalars without walls");
    require(flow.diffusion != Diffusion::implicit_z, "time.diffusion", "explicit or implicit");
    require(!settings_.output.densities.enabled, "output.densities", "none");
    const auto kind = settings_.initial.kind;
    require(kind != InitialKind::turbulent && kind != InitialKind::laminar, "initial.type",
            "zero, formula, fields or checkpoint");
  }

  /// Diffusion does not limit the steps, and a fluid at rest accelerates within the first one.
  void check_time_step() {
    const TimeSpec& time = settings_.time;
    if (settings_.flow.diffusion != Diffusion::implicit || time.dt || time.dt_max) return;
    for (const char* path : {"time.diffusion", "time.dt", "time.dt_max"})
      if (!problems_.good(path)) return;
    note("time.diffusion",
         "implicit needs time.dt_max or time.dt: diffusion does not limit its steps, but their accuracy does; allowed: "
         "any, such as a hundredth of h^2/nu");
  }

  void check_terms() {
    const RuleReport report{.good = [&](const std::string& path) { return problems_.good(path); },
                            .note = [&](const std::string& path, const std::string& what) { note(path, what); },
                            .facts = {.size = settings_.size}};
    for (const Physics* term : introduced_physics()) term->check(settings_.flow, report);
  }

  void check_stretching() {
    const StretchingSpec& stretching = settings_.stretching;
    const std::string path = "grid.stretching.re_tau";
    if (!problems_.good("grid.stretching.type") || !problems_.good(path) || !problems_.good("flow.reynolds")) return;
    if (stretching.kind != StretchingKind::natural || stretching.re_tau > 0) return;
    note(path,
         fmt::format("missing; it follows from flow.reynolds.tau only; allowed: {}", allowed_text(*find_key(path))));
  }

  // A wall whose type is not given has that of the flow.
  void check_slip(const std::string& side, const WallCondition& wall) {
    const YamlNode* walls = root_.find("walls");
    const YamlNode* given = walls != nullptr ? walls->find(side) : nullptr;
    if (!problems_.good("walls." + side) || wall.kind == WallKind::slip || given == nullptr) return;
    if (given->find("slip_length") != nullptr)
      note("walls." + side + ".slip_length",
           fmt::format("the wall is {}; allowed: with type: slip only", name(wall.kind)));
  }

  void check_flux_through_walls() {
    if (!problems_.good("walls")) return;
    const Formula bottom = settings_.flow.bottom.total_velocity(2);
    const Formula top = settings_.flow.top.total_velocity(2);
    if (bottom.depends_on("xy") || top.depends_on("xy") || bottom == top) return;
    const std::string side = top == Formula(0) ? "bottom" : "top";
    const auto text = [](const Formula& w) { return w.is_constant() ? format_real(w.constant()) : w.text(); };
    note(fmt::format("walls.{}", side),
         fmt::format("w is {} on the bottom wall and {} on the top wall, but what enters must leave; allowed: the same "
                     "mean of w on both",
                     text(bottom), text(top)));
  }

  void check_forcing(const std::string& section, const ForcingParameters& forcing) {
    const std::string path = fmt::format("flow.{}.{}", section, name(forcing.kind));
    if (forcing.kind == ForcingKind::none || !problems_.good(path)) return;
    const double at_start = forcing.value.at_time(0);
    if (!std::isfinite(at_start)) {
      note(path, "the formula is not finite at time 0; allowed: one that is finite at all times of the run");
    } else if (forcing.kind == ForcingKind::power && at_start <= 0) {
      note(path, fmt::format("the power is {} at time 0; allowed: > 0 there", format_real(at_start)));
    } else if (forcing.kind == ForcingKind::power && problems_.good("initial.type") &&
               settings_.initial.kind == InitialKind::zero) {
      note(path, "a force has no power in a flow at rest; allowed: with another initial.type than zero only");
    }
  }

  void check_z_blocks() {
    const std::string path = "solver.z_blocks";
    if (!problems_.good(path) || !problems_.good("grid.cells")) return;
    const std::int64_t max_blocks = settings_.cells[2] / 2;
    if (settings_.z_blocks <= max_blocks) return;
    note(path, fmt::format("{} blocks of at least 2 planes do not fit into {} planes; allowed: auto, or 1 to {}",
                           settings_.z_blocks, settings_.cells[2], max_blocks));
  }

  void check_until() {
    if (!problems_.good("time.until") || !problems_.good("output.statistics")) return;
    for (std::size_t n = 0; n < key_figure_table.size() && is_driven_from_above(settings_.flow); ++n) {
      if (settings_.time.until[n] && std::string_view(key_figure_table[n].name) == "u_center")
        note("time.until.u_center", "a flow with a geostrophic velocity has no U_c+; allowed: the other figures");
    }
    if (settings_.time.until == AccuracyLimits{} || settings_.output.statistics.enabled) return;
    note("time.until", "the run takes no statistics to judge by; allowed: with output.statistics only");
  }

  void check_phases() {
    const std::string path = "output.statistics.phases";
    const OutputSpec& output = settings_.output;
    const PhaseBins& phases = output.statistics_phases;
    if (phases.count == 0 || !problems_.good("output.statistics")) return;
    for (const ScalarParameters& scalar : settings_.flow.scalars) {
      if (scalar.name.starts_with("phase"))
        note(path, fmt::format("the scalar {} has a name of profiles by phase; allowed: scalars whose names do not "
                               "begin with phase",
                               shortened(scalar.name)));
    }
    if (!settings_.time.dt || !problems_.good("time.dt")) return;
    const double interval = *settings_.time.dt * static_cast<double>(output.statistics.every);
    const std::int64_t missed = phases.missed(interval);
    if (missed == 0) return;
    note(path, fmt::format("samples every {} time units never fall into {} of the {} bins of the period {}; allowed: "
                           "fewer bins, or output.statistics.every and time.dt with which samples reach all phases",
                           format_real(interval), missed, phases.count, format_real(phases.period)));
  }

  void check_exchange(const std::vector<std::string>& methods) {
    for (const auto& kind : ExchangeMethods::kinds()) {
      const std::string path =
          "parallel.exchange" + (settings_.exchange.is_uniform() ? "" : std::string(".") + kind.name);
      const std::string& method = settings_.exchange.*kind.method;
      if (!problems_.good(path) || contains(methods, method)) continue;
      note(path, fmt::format("this build of Sluice does not have the method '{}'; allowed: one of {}", method,
                             fmt::join(methods, ", ")));
    }
  }

  void check_slices() {
    const auto& slices = settings_.output.slices;
    for (std::size_t n = 0; n < slices.size(); ++n) {
      const std::string path = fmt::format("output.slices[{}].at", n);
      if (problems_.good(path) && problems_.good(fmt::format("output.slices[{}].normal", n)))
        check_position(path, slices[n].at, slices[n].normal);
    }
  }

  void check_chosen_heights() {
    check_positions("output.spectra.heights", settings_.output.spectra.heights, 'z');
    check_positions("output.densities.heights", settings_.output.densities.heights, 'z');
  }

  void check_probes() {
    const auto& probes = settings_.output.probes;
    for (std::size_t n = 0; n < probes.size(); ++n) {
      const std::string path = fmt::format("output.probes[{}]", n);
      check_file_name(path + ".name", probes, n, "another probe");
      if (!probes[n].x && !probes[n].y && !probes[n].z)
        note(path, "the probe is the whole domain; allowed: at least one of x, y, z");
      check_positions(path + ".x", probes[n].x.value_or(std::vector<double>()), 'x');
      check_positions(path + ".y", probes[n].y.value_or(std::vector<double>()), 'y');
      check_positions(path + ".z", probes[n].z.value_or(std::vector<double>()), 'z');
    }
  }

  void check_hints() {
    const auto& hints = settings_.output.writer.hints;
    if (!hints.empty() && problems_.good("output.writer") && settings_.output.writer.kind != WriterKind::hdf5)
      note("output.mpi_io_hints", "output.writer direct does not use MPI-IO; allowed: with output.writer hdf5 only");
    for (std::size_t n = 0; n < hints.size(); ++n) {
      for (const HintFault& fault : faults_of_hint(hints, n)) {
        const std::string path = fmt::format("output.mpi_io_hints[{}].{}", n, fault.part);
        if (problems_.good(path)) note(path, fault.text);
      }
    }
  }

  // Each name in a list of fields is one of the table's choices or a scalar.
  void check_field_names() {
    const OutputSpec& output = settings_.output;
    check_field_names("output.slices", output.slices);
    check_field_names("output.probes", output.probes);
    check_field_names("output.fields", output.fields);
    check_field_names("output.catalyst.fields", find_key("output.catalyst.fields"), output.catalyst.fields);
  }

  void check_scalars() {
    const auto& scalars = settings_.flow.scalars;
    for (std::size_t n = 0; n < scalars.size(); ++n) {
      const std::string path = fmt::format("scalars[{}]", n);
      check_scalar_name(path + ".name", scalars, n);
      check_scalar_wall(path + ".walls.bottom", scalars[n].bottom);
      check_scalar_wall(path + ".walls.top", scalars[n].top);
    }
  }

  void check_ensemble() {
    for (const auto& [path, what] : ensemble_faults(settings_))
      if (problems_.good(path)) note(path, what);
  }

  void check_fields() {
    const auto& fields = settings_.output.fields;
    for (std::size_t n = 0; n < fields.size(); ++n) {
      const std::string path = fmt::format("output.fields[{}]", n);
      check_file_name(path + ".name", fields, n, "other fields");
      for (const auto& [axis, range] :
           {std::pair('x', fields[n].x), std::pair('y', fields[n].y), std::pair('z', fields[n].z)}) {
        if (range) check_positions(path + "." + axis, {range->begin(), range->end()}, axis);
      }
    }
  }

 private:
  bool is_boundary_layer() const {
    return settings_.flow_type == FlowType::open_channel && is_driven_from_above(settings_.flow);
  }

  void check_position(const std::string& path, double at, char axis) {
    if (!problems_.good("domain.size")) return;
    const double length = settings_.size[axis - 'x'];
    if (at <= length) return;
    note(path, fmt::format("{} is outside the domain; allowed: 0 to {} along {}", format_real(at), format_real(length),
                           axis));
  }

  void check_positions(const std::string& path, const std::vector<double>& positions, char axis) {
    if (!problems_.good(path)) return;
    for (std::size_t n = 0; n < positions.size(); ++n) {
      const std::string item = fmt::format("{}[{}]", path, n);
      const double at = positions[n];
      check_position(item, at, axis);
      if (n > 0 && at <= positions[n - 1])
        note(item, fmt::format("{} is not above {}; allowed: numbers in increasing order", format_real(at),
                               format_real(positions[n - 1])));
    }
  }

  template <class Item>
  void check_field_names(const std::string& list, const std::vector<Item>& items) {
    const Key* const key = find_key(list + "[].fields");
    for (std::size_t n = 0; n < items.size(); ++n)
      check_field_names(fmt::format("{}[{}].fields", list, n), key, items[n].fields);
  }

  void check_field_names(const std::string& path, const Key* key, const std::vector<std::string>& fields) {
    if (!problems_.good(path) || !problems_.good("scalars")) return;
    std::vector<std::string> known = key->value.choices;
    for (const ScalarParameters& scalar : settings_.flow.scalars) known.push_back(scalar.name);
    for (std::size_t n = 0; n < fields.size(); ++n) {
      const std::string& name = fields[n];
      if (contains(known, name)) continue;
      const std::string near = nearest_word(name, known);
      note(fmt::format("{}[{}]", path, n),
           fmt::format("'{}' is not known; allowed: {}, each at most once{}", shortened(name), fmt::join(known, ", "),
                       near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
    }
  }

  // Checks the name of a list item that also names a file.
  template <class Item>
  void check_file_name(const std::string& path, const std::vector<Item>& items, std::size_t number, const char* kind) {
    if (!problems_.good(path)) return;
    const std::string& name = items[number].name;
    const auto is_allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    const auto lower_case = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    constexpr std::size_t max_length = 100;
    if (name.empty() || name.size() > max_length || !std::ranges::all_of(name, is_allowed)) {
      note(path, fmt::format("'{}' cannot name a file; allowed: 1 to {} letters, digits, - and _", shortened(name),
                             max_length));
    }
    for (std::size_t n = 0; n < number; ++n) {
      if (items[n].name == name) {
        note(path, fmt::format("'{}' is the name of {}; allowed: different names", shortened(name), kind));
      } else if (std::ranges::equal(items[n].name, name, {}, lower_case, lower_case)) {
        note(path, fmt::format("'{}' differs from '{}', the name of {}, only in upper and lower case, which some file "
                               "systems do not tell apart; allowed: different names",
                               shortened(name), shortened(items[n].name), kind));
      }
    }
  }

  void check_scalar_name(const std::string& path, const std::vector<ScalarParameters>& scalars, std::size_t number) {
    if (!problems_.good(path)) return;
    const std::string& name = scalars[number].name;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto is_allowed = [&](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
    const auto is_number = [&](const std::string& text) { return std::ranges::all_of(text, is_digit); };
    constexpr std::size_t max_length = 50;
    if (name.empty() || name.size() > max_length || !is_letter(name[0]) || !std::ranges::all_of(name, is_allowed)) {
      note(path, fmt::format("'{}' cannot name a scalar; allowed: 1 to {} letters, digits and _, beginning with a "
                             "letter",
                             shortened(name), max_length));
    } else if (name.find_first_not_of("uvwpxyz") == std::string::npos || contains(reserved_names(), name)) {
      note(path, fmt::format("'{}' is the name of something else; allowed: other names, such as temperature", name));
    }
    for (std::size_t n = 0; n < number; ++n) {
      const std::string& other = scalars[n].name;
      if (other == name) note(path, fmt::format("'{}' is the name of another scalar; allowed: different names", name));
      // Statistics of the scalar t have names that begin with t_.
      for (const auto& [whole, part] : {std::pair(name, other), std::pair(other, name)}) {
        if (!whole.starts_with(part + "_") || is_number(whole.substr(part.size() + 1))) continue;
        note(path,
             fmt::format("'{}' begins with '{}_', as statistics of the scalar '{}' do; allowed: other names, such "
                         "as '{}_2'",
                         whole, part, part, part));
      }
    }
  }

  void check_scalar_wall(const std::string& section, const ScalarWall& wall) {
    const std::string path = fmt::format("{}.{}", section, name(wall.kind));
    if (!problems_.good(path) || wall.value.depends_on("xy") || std::isfinite(wall.value.at_time(0))) return;
    note(path, "the formula is not finite at time 0; allowed: one that is finite at all times of the run");
  }

  // The names of quantities for pictures, which the case file also uses. Names in files are checked in
  // src/outputs/file_names.cpp.
  static std::vector<std::string> reserved_names() {
    std::vector<std::string> names;
    for (const CenterQuantity& quantity : center_quantities()) {
      names.push_back(quantity.name);
      for (const FieldDescriptor& component : quantity.components) names.push_back(component.name);
    }
    return names;
  }

  // Reports what a rule finds, at the place of the key that it names.
  void note(const std::string& path, const std::string& what) { problems_.add(place_of(root_, path), path, what); }

  const Case& settings_;
  const YamlNode& root_;
  Problems& problems_;
};

}  // namespace

void check_rules(const Case& settings, const YamlNode& root, const std::vector<std::string>& exchange_methods,
                 Problems& problems) {
  Rules rules(settings, root, problems);
  rules.check_reynolds();
  rules.check_height();
  rules.check_periodic();
  rules.check_time_step();
  rules.check_stretching();
  rules.check_slip("bottom", settings.flow.bottom);
  rules.check_slip("top", settings.flow.top);
  rules.check_forcing("forcing", settings.flow.forcing);
  rules.check_forcing("spanwise_forcing", settings.flow.spanwise_forcing);
  rules.check_z_blocks();
  rules.check_until();
  rules.check_phases();
  rules.check_exchange(exchange_methods);
  rules.check_slices();
  rules.check_chosen_heights();
  rules.check_probes();
  rules.check_fields();
  rules.check_hints();
  rules.check_terms();
  rules.check_flux_through_walls();
  rules.check_scalars();
  rules.check_field_names();
  rules.check_ensemble();
}

}  // namespace sluice::io
