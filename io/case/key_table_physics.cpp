// The part of the key table that defines the flow: flow, domain, grid, walls, time, initial.
#include <fmt/format.h>

#include "io/case/case.hpp"
#include "io/case/key_table.hpp"

namespace sluice::io::key_table {

using enum ValueType;
using namespace binding;

namespace {

// One definition of the Reynolds number, held in Case::reynolds as {kind, value}; the others then write nothing. A
// restart compares, and statistics store, the viscosity that follows from it. The template shows the bulk one.
Key reynolds_key(ReynoldsKind kind, const std::string& unit, const std::string& example, const std::string& meaning) {
  const std::string word(name(kind));
  const bool bulk = kind == ReynoldsKind::bulk;
  std::vector<std::string> others = all_names<ReynoldsKind>();
  std::erase(others, word);
  return {.path = "flow.reynolds." + word,
          .value = alternative(kind, &Case::reynolds),
          .range = positive,
          .required = bulk,
          .unit = unit,
          .meaning = meaning,
          .excludes = others,
          .example = example,
          .commented = !bulk};
}

// A limit of time.until, by number in key_figure_table.
Key accuracy_key(std::size_t figure) {
  const auto& [name, meaning] = key_figure_table[figure];
  return {.path = std::string("time.until.") + name,
          .value = accuracy_limit(figure),
          .range = {.minimum = {0}, .above = true, .maximum = 1},
          .unit = "1",
          .meaning = fmt::format("Limit for the {}.", meaning),
          .example = figure == 0 ? "0.3%" : "1%",
          .commented = true};
}

}  // namespace

std::vector<Key> flow_keys() {
  return {
      {.path = "title",
       .value = member(text, &Case::title),
       .physical = false,
       .fallback_note = "the name of flow.type",
       .meaning = "Name of the case, for logs, files and figures.",
       .example = "Turbulent channel, Re_tau = 180"},
      {.path = "flow", .required = true, .meaning = "What flows, and what drives it."},
      {.path = "flow.type",
       .value = member(choice, &Case::flow_type),
       .fallback = "channel",
       .meaning = "Kind of flow, which presets the walls and the forcing: channel (two walls at rest), couette (walls "
                  "at -1 and +1, no forcing), open_channel (a wall at rest below, free slip above), periodic (no "
                  "walls, no forcing)."},
      {.path = "flow.reynolds",
       .required = true,
       .meaning = "The Reynolds number, by exactly one of its definitions, which also sets the velocity unit U."},
      reynolds_key(ReynoldsKind::bulk, "1", "5714", "2 U_b h / nu with the bulk velocity U_b = 1, so nu = 2 / bulk."),
      reynolds_key(ReynoldsKind::tau, "1", "180",
                   "u_tau h / nu with the friction velocity u_tau = 1, so nu = 1 / tau."),
      reynolds_key(ReynoldsKind::center, "1", "4000",
                   "U_c h / nu with the largest velocity of the laminar profile U_c = 1, so nu = 1 / center."),
      reynolds_key(ReynoldsKind::wall, "1", "1500",
                   "U_w h / nu with the wall speed U_w = 1, so nu = 1 / wall; couette only."),
      reynolds_key(ReynoldsKind::viscosity, "U h", "3.5e-4", "The kinematic viscosity nu itself."),
      {.path = "flow.forcing",
       .value = section_or_none(&Case::flow, &FlowParameters::forcing),
       .words = {"none"},
       .fallback_note = "none for couette and with a geostrophic velocity; else by flow.reynolds: bulk or "
                        "viscosity: bulk_velocity 1, tau: "
                        "pressure_gradient 1, center: pressure_gradient 2 nu",
       .meaning = "What drives the flow along x.",
       .commented = true},
      {.path = "flow.forcing.bulk_velocity",
       .value = alternative(ForcingKind::bulk_velocity, &Case::flow, &FlowParameters::forcing),
       .required = true,
       .unit = "U",
       .meaning = "Volume mean of u, held exactly at the end of every substep.",
       .excludes = {"pressure_gradient", "power"},
       .example = "1.0"},
      {.path = "flow.forcing.pressure_gradient",
       .value = alternative(ForcingKind::pressure_gradient, &Case::flow, &FlowParameters::forcing),
       .unit = "U^2/h",
       .meaning = "The driving force -dp/dx.",
       .excludes = {"bulk_velocity", "power"},
       .example = "1.0",
       .commented = true},
      {.path = "flow.forcing.power",
       .value = alternative(ForcingKind::power, &Case::flow, &FlowParameters::forcing),
       .range = positive,
       .unit = "U^3/h",
       .meaning = "Power of the driving force per volume, force times volume mean of u, held exactly in every substep.",
       .excludes = {"bulk_velocity", "pressure_gradient"},
       .example = "0.004",
       .commented = true},
      {.path = "flow.spanwise_forcing",
       .value = section_or_none(&Case::flow, &FlowParameters::spanwise_forcing),
       .words = {"none"},
       .fallback = "none",
       .meaning = "What drives the flow along y.",
       .commented = true},
      {.path = "flow.spanwise_forcing.bulk_velocity",
       .value = alternative(ForcingKind::bulk_velocity, &Case::flow, &FlowParameters::spanwise_forcing),
       .required = true,
       .unit = "U",
       .meaning = "Volume mean of v, held exactly at the end of every substep.",
       .excludes = {"pressure_gradient"},
       .example = "0"},
      {.path = "flow.spanwise_forcing.pressure_gradient",
       .value = alternative(ForcingKind::pressure_gradient, &Case::flow, &FlowParameters::spanwise_forcing),
       .unit = "U^2/h",
       .meaning = "The driving force -dp/dy.",
       .excludes = {"bulk_velocity"},
       .example = "0.001",
       .commented = true},
  };
}

std::vector<Key> grid_keys() {
  return {
      {.path = "domain", .required = true, .sampled = false, .meaning = "The box, periodic in x and y."},
      {.path = "domain.size",
       .value = member(length, &Case::size),
       .range = positive,
       .required = true,
       .unit = "h",
       .meaning = "Lengths along x (streamwise), y (spanwise) and z (wall-normal); the last is 2, or 1 for an open "
                  "channel; with a geostrophic velocity an open channel may have any.",
       .example = "[4*pi, 4*pi/3, 2]"},
      {.path = "grid", .required = true, .sampled = false, .meaning = "The grid: uniform in x and y, stretched in z."},
      {.path = "grid.cells",
       .value = member(integer, &Case::cells),
       .range = {.minimum = {2, 1, 2}, .maximum = 1e6},
       .required = true,
       .unit = "1",
       .meaning = "Cells along x, y and z; ny = 1 is a two-dimensional flow, x needs a mode besides the mean, and z a "
                  "plane at each wall.",
       .example = "[256, 192, 144]"},
      {.path = "grid.velocity",
       .value = member(real, &Case::grid_velocity),
       .fallback = "0",
       .unit = "U",
       .meaning =
           "Velocity of the grid along x. Velocities in all results stay those relative to the laboratory. A grid "
           "that moves with the flow, at about 0.6 of the bulk velocity, makes the errors of advection several "
           "times smaller and allows longer steps.",
       .commented = true},
      {.path = "grid.stretching", .meaning = "How the faces between cells are spread along z."},
      {.path = "grid.stretching.type",
       .value = member(choice, &Case::stretching, &StretchingSpec::kind),
       .fallback = "tanh",
       .meaning = "tanh: faces at z = 1 + tanh(a (2k/nz - 1))/tanh(a), its lower half for an open channel; uniform; "
                  "natural (Pirozzoli & Orlandi 2021); file."},
      {.path = "grid.stretching.factor",
       .value = member(real, &Case::stretching, &StretchingSpec::factor),
       .range = {.minimum = {0}, .above = true, .maximum = 10},
       .fallback = "1.6",
       .unit = "1",
       .meaning = "a of the tanh: larger is finer at the walls.",
       .only_with = {"tanh"}},
      {.path = "grid.stretching.re_tau",
       .value = member(real, &Case::stretching, &StretchingSpec::re_tau),
       .range = positive,
       .fallback_note = "flow.reynolds.tau where that is given, else required",
       .unit = "1",
       .meaning = "Friction Reynolds number that the natural grid is laid out for.",
       .only_with = {"natural"},
       .example = "180",
       .commented = true},
      {.path = "grid.stretching.file",
       .value = member(path, &Case::stretching, &StretchingSpec::file),
       .required = true,
       .meaning = "Text file of the nz + 1 face coordinates, from the bottom to the top.",
       .only_with = {"file"},
       .example = "faces.txt",
       .commented = true},
  };
}

std::vector<Key> wall_keys() {
  std::vector<Key> keys{{.path = "walls",
                         .meaning = "The walls; needed only where they differ from the presets of flow.type.",
                         .commented = true}};
  for (const bool top : {false, true}) {
    const auto side = top ? &FlowParameters::top : &FlowParameters::bottom;
    const std::string name = top ? "top" : "bottom";
    const std::string path_of_side = "walls." + name;
    keys.push_back({.path = path_of_side,
                    .value = wall(side),
                    .words = {"no_slip", "free_slip"},
                    .fallback_note = "by flow.type",
                    .meaning = "The " + name + " wall."});
    keys.push_back({.path = path_of_side + ".type",
                    .value = member(choice, &Case::flow, side, &WallCondition::kind),
                    .fallback_note = "by flow.type; no_slip where a velocity is given",
                    .meaning =
                        "no_slip: the fluid moves with the wall; free_slip: no shear stress; slip: the velocity at the "
                        "wall differs from that of the wall by slip_length times its gradient.",
                    .example = "no_slip"});
    keys.push_back({.path = path_of_side + ".velocity",
                    .value = wall_velocity(side),
                    .fallback_note = "by flow.type",
                    .unit = "U",
                    .meaning =
                        "Velocity of the wall along x, y and z; formulas may vary over the wall and in time. The "
                        "third component blows or sucks fluid through the wall; its mean must be the same on "
                        "both walls.",
                    .only_with = {"no_slip", "slip"},
                    .example = "[0, 0, 0]"});
    keys.push_back({.path = path_of_side + ".slip_length",
                    .value = member(real, &Case::flow, side, &WallCondition::slip_length),
                    .range = not_negative,
                    .required = true,
                    .unit = "h",
                    .meaning = "Slip length, the same for u and v.",
                    .only_with = {"slip"},
                    .example = "0.01",
                    .commented = true});
  }
  return keys;
}

std::vector<Key> time_keys() {
  std::vector<Key> keys{
      {.path = "time",
       .required = true,
       .sampled = false,
       .meaning = "Time stepping; no step is shortened to hit a time."},
      {.path = "time.end",
       .value = member(real, &Case::time, &TimeSpec::end),
       .range = not_negative,
       .required = true,
       .physical = false,
       .unit = "h/U",
       .meaning = "The run ends after the first step that reaches this time, up to round-off.",
       .excludes = {"steps"},
       .example = "200"},
      {.path = "time.steps",
       .value = member(integer, &Case::time, &TimeSpec::steps),
       .range = not_negative,
       .physical = false,
       .unit = "steps",
       .meaning = "The run ends after this step, counted from the start of the case, restarts included.",
       .excludes = {"end"},
       .example = "10000",
       .commented = true},
      {.path = "time.cfl",
       .value = member(real, &Case::time, &TimeSpec::cfl),
       .range = {.minimum = {0}, .above = true, .maximum = 1},
       .physical = false,
       .fallback = "0.9",
       .fallback_note = "0.9 unless time.dt is given",
       .unit = "1",
       .meaning = "The time step as a fraction of the stability limit dt_lim.",
       .excludes = {"dt"}},
      {.path = "time.dt",
       .value = member(real, &Case::time, &TimeSpec::dt),
       .range = time_step,
       .physical = false,
       .unit = "h/U",
       .meaning = "A fixed time step, in place of time.cfl: step n ends at time n dt.",
       .excludes = {"cfl", "dt_max"},
       .example = "0.005",
       .commented = true},
      {.path = "time.dt_max",
       .value = member(real, &Case::time, &TimeSpec::dt_max),
       .words = {"none"},
       .range = time_step,
       .physical = false,
       .fallback = "none",
       .unit = "h/U",
       .meaning = "Upper bound of the time step that follows from time.cfl.",
       .excludes = {"dt"},
       .commented = true},
      {.path = "time.diffusion",
       .value = member(choice, &Case::flow, &FlowParameters::diffusion),
       .fallback = "explicit",
       .meaning = "explicit: RK3 for all of it; implicit_z: Crank-Nicolson along z, for grids fine at the walls; "
                  "implicit: Crank-Nicolson in all directions, for very viscous flows; needs time.dt_max or time.dt."},
      {.path = "time.until",
       .value = section_or_none(&Case::time, &TimeSpec::until),
       .words = {"none"},
       .physical = false,
       .fallback = "none",
       .meaning = "Ends the run when its statistics are accurate enough: when the half width of the 95 % interval of "
                  "each of these figures is at most this fraction of it, such as 0.3%. Needs output.statistics.",
       .commented = true},
  };
  for (std::size_t n = 0; n < key_figure_table.size(); ++n) keys.push_back(accuracy_key(n));
  return keys;
}

std::vector<Key> initial_keys() {
  KeyValue velocity = member(formula, &Case::initial, &InitialSpec::velocity);
  velocity.variables = "xyz";
  KeyValue profile = member(formula, &Case::initial, &InitialSpec::profile);
  profile.variables = "z";
  KeyValue profile_file = member(path, &Case::initial, &InitialSpec::profile_file);
  profile_file.write = [write = profile_file.write](const Case& settings, std::size_t item) {
    return settings.initial.profile_file.empty() ? std::nullopt : write(settings, item);
  };
  return {
      {.path = "initial", .sampled = false, .meaning = "The flow at time 0."},
      {.path = "initial.type",
       .value = member(choice, &Case::initial, &InitialSpec::kind),
       .fallback = "turbulent",
       .meaning = "turbulent: made from the seed; laminar: the laminar profile; zero: at rest; fields: an HDF5 file "
                  "with /u /v /w; checkpoint: interpolated from another grid."},
      {.path = "initial.seed",
       .value = member(integer, &Case::initial, &InitialSpec::seed),
       .range = not_negative,
       .fallback = "1",
       .unit = "1",
       .meaning = "Seed of the turbulent initial field.",
       .only_with = {"turbulent"}},
      {.path = "initial.amplitude",
       .value = member(real, &Case::initial, &InitialSpec::amplitude),
       .range = not_negative,
       .fallback = "1",
       .unit = "1",
       .meaning = "Multiplies the waves that are added to the mean profile; at 1 they are as intense as turbulence.",
       .only_with = {"turbulent"}},
      {.path = "initial.profile",
       .value = profile,
       .fallback_note = "a turbulent profile that fits the forcing and the walls",
       .unit = "U",
       .meaning = "The means of u and v at time 0, evaluated at the heights of the cell centres. If a bulk velocity is "
                  "given, a uniform velocity is added to reach it.",
       .excludes = {"profile_file"},
       .only_with = {"turbulent"},
       .example = "[\"1.5*z*(2 - z)\", 0]",
       .commented = true},
      {.path = "initial.profile_file",
       .value = profile_file,
       .meaning = "The same from a text file with columns z, U and, if it is not 0, V. Between its heights the profile "
                  "is linear; they must include those of all cell centres.",
       .excludes = {"profile"},
       .only_with = {"turbulent"},
       .example = "profile.txt",
       .commented = true},
      {.path = "initial.velocity",
       .value = velocity,
       .required = true,
       .unit = "U",
       .meaning = "u, v and w at time 0; what is not free of divergence is projected.",
       .only_with = {"formula"},
       .example = "[\"sin(x)*cos(z)\", 0, \"-cos(x)*sin(z)\"]",
       .commented = true},
      {.path = "initial.file",
       .value = member(path, &Case::initial, &InitialSpec::file),
       .required = true,
       .meaning = "The HDF5 file to start from.",
       .only_with = {"fields", "checkpoint"},
       .example = "start.h5",
       .commented = true},
  };
}

}  // namespace sluice::io::key_table
