#include "src/outputs/checkpoint_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/decomp/field_copy.hpp"
#include "core/support/error.hpp"
#include "io/files/field_writer.hpp"
#include "solver/walls/wall_response.hpp"
#include "src/outputs/companions.hpp"
#include "src/run/program_settings.hpp"

namespace sluice {

namespace {

using companion_names::program_group;
using companion_names::walls_group;

constexpr const char* next_prefix = "next_";  ///< of velocities that wait for the next step
constexpr std::array axes{'x', 'y'};
constexpr std::array forcing_keys{"flow.forcing", "flow.spanwise_forcing"};

struct NamedCode {
  const char* name;
  const char* words;
  std::int64_t TimeStepper::AddedCode::*count;
};
constexpr std::array codes{
    NamedCode{"forces", "forces", &TimeStepper::AddedCode::forces},
    NamedCode{"sources", "sources of scalars", &TimeStepper::AddedCode::sources},
    NamedCode{"responses_bottom", "response of the bottom wall", &TimeStepper::AddedCode::responses_bottom},
    NamedCode{"responses_top", "response of the top wall", &TimeStepper::AddedCode::responses_top}};

const char* word_for(Walls::Side side) {
  return side == Walls::Side::bottom ? "bottom" : "top";
}

char letter_for(Location component) {
  return component == Location::x_face ? 'u' : component == Location::y_face ? 'v' : 'w';
}

/// "w_bottom"
std::string name_of(Walls::Side side, Location component) {
  return fmt::format("{}_{}", letter_for(component), word_for(side));
}

/// "pressure_gradient_y"
std::string name_of(ForcingKind kind, std::size_t axis) {
  return fmt::format("{}_{}", forcing_words[static_cast<std::size_t>(kind)], axes[axis]);
}

/// The whole plane on rank 0, x fastest; empty elsewhere. `values`: of the rank's part.
std::vector<double> gather_plane(const Simulation& simulation, Walls::Side side, const std::vector<real>& values) {
  const auto& cells = simulation.grid.cells();
  Box3 piece = simulation.box();
  piece.lo[2] = 0;
  piece.hi[2] = 1;
  if (!simulation.stepper.walls().owns(side)) piece.hi = piece.lo;
  const std::vector<std::byte> bytes = io::gather_box(simulation.comm.world(), box_of(cells[0], cells[1], 1), piece,
                                                      io::h5::type_of<real>, values.data());
  std::vector<real> plane(bytes.size() / sizeof(real));
  if (!bytes.empty()) std::memcpy(plane.data(), bytes.data(), bytes.size());
  return {plane.begin(), plane.end()};
}

[[noreturn]] void refuse(const io::CheckpointReader& reader, const char* group, const std::string& name,
                         const std::string& why) {
  throw Error(ExitCode::restart, fmt::format("{}: {}/{} is damaged: {}", reader.path(), group, name, why));
}

/// A plane of values that every rank has read.
const std::vector<double>& whole_plane(const Simulation& simulation, const io::CheckpointReader& reader,
                                       const io::Values& values, const char* group, const std::string& name) {
  const std::vector<double>& plane = values.reals(name);
  const auto& cells = simulation.grid.cells();
  if (std::ssize(plane) != cells[0] * cells[1])
    refuse(reader, group, name, fmt::format("it has {} values, not {}", plane.size(), cells[0] * cells[1]));
  return plane;
}

const std::vector<double>& finite_plane(const Simulation& simulation, const io::CheckpointReader& reader,
                                        const io::Values& values, const std::string& name) {
  const std::vector<double>& plane = whole_plane(simulation, reader, values, program_group, name);
  if (!std::ranges::all_of(plane, [](double value) { return std::isfinite(value); }))
    refuse(reader, program_group, name, "a value is not finite");
  return plane;
}

bool concerns(const std::vector<std::string>& changes, const std::string& key) {
  return std::ranges::any_of(changes, [&](const std::string& change) { return change.starts_with(key); });
}

bool can_be_set(const Simulation& simulation, Walls::Side side, Location component) {
  try {
    simulation.stepper.walls().require_prescribable(side, component);
    return true;
  } catch (const Error&) {  // the case sets it
    return false;
  }
}

}  // namespace

void save_walls(const Simulation& simulation, io::ValueGroups& checkpoint) {
  io::Values values;
  for (const auto& [name, side, of_wall] : simulation.stepper.wall_responses().state())
    values.set(name, gather_plane(simulation, side, download(*of_wall)));
  if (!values.all().empty()) checkpoint.emplace_back(walls_group, std::move(values));
}

/// Walls that did not respond to the flow before are at rest until the first substep.
void read_walls(Simulation& simulation, const io::CheckpointReader& reader) {
  const std::vector<WallPlane> state = simulation.stepper.wall_responses().state();
  if (state.empty() || !reader.has_values(walls_group)) return;
  const io::Values values = reader.values(walls_group);
  for (const auto& [name, side, of_wall] : state) {
    if (values.has(name))
      restore(*of_wall, whole_plane(simulation, reader, values, walls_group, name), simulation.grid);
  }
}

void save_program(const Simulation& simulation, io::ValueGroups& checkpoint) {
  io::Values values;
  const ProgramSettings settings = program_settings(simulation);
  for (const auto& [side, component, plane] : settings.walls)
    values.set(name_of(side, component), gather_plane(simulation, side, download(plane)));
  const std::vector<PrescribedWall> next =
      simulation.next_walls ? simulation.next_walls() : std::vector<PrescribedWall>();
  for (const auto& [side, component, plane] : next)
    values.set(next_prefix + name_of(side, component), gather_plane(simulation, side, download(plane)));
  for (std::size_t axis = 0; axis < settings.forcing.size(); ++axis) {
    if (const auto& forcing = settings.forcing[axis])
      values.set(name_of(forcing->kind, axis), forcing->value.constant());
  }
  const TimeStepper::AddedCode& before = simulation.code_of_checkpoint;
  const TimeStepper::AddedCode code = before.any() ? before : simulation.stepper.added_code();
  for (const NamedCode& named : codes) {
    if (code.*named.count > 0) values.set(named.name, code.*named.count);
  }
  if (!values.all().empty()) checkpoint.emplace_back(program_group, std::move(values));
}

void read_program(Simulation& simulation, const io::CheckpointReader& reader, std::vector<std::string>& changes) {
  if (!reader.has_values(program_group)) return;
  const io::Values values = reader.values(program_group);
  const std::vector<std::string> of_case = changes;
  ProgramSettings settings;
  std::vector<PrescribedWall> next_walls;
  for (const Walls::Side side : Walls::sides) {
    for (const Location component : Walls::components) {
      const std::string name = name_of(side, component);
      const std::string next = next_prefix + name;
      if (!values.has(name) && !values.has(next)) continue;
      if (concerns(of_case, fmt::format("walls.{}", word_for(side))) || !can_be_set(simulation, side, component)) {
        changes.push_back(fmt::format("{} of the {} wall, which a program had set: that of the case",
                                      letter_for(component), word_for(side)));
        continue;
      }
      const auto read = [&](const std::string& dataset, std::vector<PrescribedWall>& walls) {
        if (!values.has(dataset)) return;
        walls.push_back({side, component, plane_for_wall(simulation, component)});
        restore(walls.back().plane, finite_plane(simulation, reader, values, dataset), simulation.grid);
      };
      read(name, settings.walls);
      read(next, next_walls);
    }
  }
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    for (const ForcingKind kind : {ForcingKind::bulk_velocity, ForcingKind::pressure_gradient, ForcingKind::power}) {
      const std::string name = name_of(kind, axis);
      if (!values.has(name)) continue;
      const double value = values.real(name);
      if (!std::isfinite(value) || (kind == ForcingKind::power && value <= 0))
        refuse(reader, program_group, name, fmt::format("it is {}", value));
      if (concerns(of_case, forcing_keys[axis]) || !can_drive(simulation, axis, kind)) {
        changes.push_back(fmt::format("{} {:g}, which a program had set: that of the case", name, value));
      } else {
        settings.forcing[axis] = ForcingParameters{kind, value};
      }
    }
  }
  restore(simulation, settings);
  if (!next_walls.empty()) keep_next_walls(simulation, std::move(next_walls));
  for (const NamedCode& named : codes) {
    if (values.has(named.name)) simulation.code_of_checkpoint.*named.count = values.integer(named.name);
  }
}

std::string missing_code(const Simulation& simulation) {
  const TimeStepper::AddedCode now = simulation.stepper.added_code();
  std::vector<std::string> list;
  for (const NamedCode& named : codes) {
    const std::int64_t missing = simulation.code_of_checkpoint.*named.count - now.*named.count;
    if (missing > 0) list.push_back(fmt::format("{}: {}", named.words, missing));
  }
  return fmt::format("{}", fmt::join(list, ", "));
}

std::string text_of_program_settings(const Simulation& simulation) {
  const ProgramSettings settings = program_settings(simulation);
  std::vector<std::string> list;
  for (const auto& [side, component, plane] : settings.walls)
    list.push_back(fmt::format("{} of the {} wall", letter_for(component), word_for(side)));
  if (simulation.next_walls) list.emplace_back("velocities of walls from the next step on");
  for (std::size_t axis = 0; axis < settings.forcing.size(); ++axis) {
    if (const auto& forcing = settings.forcing[axis])
      list.push_back(fmt::format("{} {:g}", name_of(forcing->kind, axis), forcing->value.constant()));
  }
  return fmt::format("{}", fmt::join(list, ", "));
}

}  // namespace sluice
