// The part of the key table that defines the run: solver, parallel, output, walltime.
#include <fmt/format.h>

#include <algorithm>

#include "io/case/case.hpp"
#include "io/case/case_file.hpp"
#include "io/case/key_table.hpp"
#include "model/field_descriptor.hpp"

namespace sluice::io::key_table {

using enum ValueType;
using namespace binding;

namespace {

// The choices of the table, and the names of the case's scalars.
KeyValue or_scalars(KeyValue value) {
  value.or_scalars = true;
  return value;
}

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for (const FieldDescriptor& field : base_fields()) {
    if (field.outputs.slices) names.push_back(field.name);
  }
  return names;
}

Key probe_positions(const std::string& axis, std::optional<std::vector<double>> ProbeSpec::*positions,
                    const std::string& example) {
  return {.path = "output.probes[]." + axis,
          .value = of_item(length, &OutputSpec::probes, positions),
          .words = {"all"},
          .range = not_negative,
          .fallback = "all",
          .unit = "h",
          .meaning = "Where along " + axis + ", in increasing order; all: at all points.",
          .example = example};
}

std::vector<std::string> center_quantity_names() {
  std::vector<std::string> names;
  for (const CenterQuantity& quantity : center_quantities()) names.push_back(quantity.name);
  return names;
}

Key fields_range(const std::string& axis, std::optional<std::array<double, 2>> FieldsSpec::*range,
                 const std::string& example) {
  return {.path = "output.fields[]." + axis,
          .value = of_item(length, &OutputSpec::fields, range),
          .words = {"all"},
          .range = not_negative,
          .fallback = "all",
          .unit = "h",
          .meaning = "Cells to write along " + axis + ": those between two coordinates, or all.",
          .example = example};
}

// Each in quotes.
KeyValue catalyst_scripts() {
  KeyValue value = member(path, &Case::output, &OutputSpec::catalyst, &CatalystSpec::scripts);
  value.write = [](const Case& settings, std::size_t) -> std::optional<std::string> {
    std::vector<std::string> quoted;
    for (const std::string& script : settings.output.catalyst.scripts) quoted.push_back(quoted_yaml(script));
    return fmt::format("[{}]", fmt::join(quoted, ", "));
  };
  return value;
}

KeyValue of_hint(std::string MpiIoHint::*part) {
  return bind(
      text, {}, [=](auto& settings, std::size_t item) -> auto& { return settings.output.writer.hints[item].*part; });
}

using Sampling = SamplingSpec OutputSpec::*;

/// The keys that statistics, spectra and densities have in common.
Key samples(const std::string& path, Sampling sampling, const std::string& meaning, bool commented) {
  return {.path = path,
          .value = section_or_none(&Case::output, sampling, &SamplingSpec::enabled),
          .words = {"none"},
          .fallback = "none",
          .meaning = meaning,
          .commented = commented};
}
Key first_sample(const std::string& path, Sampling sampling) {
  return {.path = path,
          .value = member(real, &Case::output, sampling, &SamplingSpec::start),
          .range = not_negative,
          .fallback = "0",
          .unit = "h/U",
          .meaning = "Simulation time of the first sample.",
          .example = "60.0"};
}
Key steps_between_samples(const std::string& path, Sampling sampling) {
  return {.path = path,
          .value = member(integer, &Case::output, sampling, &SamplingSpec::every),
          .range = {.minimum = {1}},
          .fallback = "10",
          .unit = "steps",
          .meaning = "Steps between samples."};
}
Key block_of_samples(const std::string& path, Sampling sampling, const std::string& fallback,
                     const std::string& meaning) {
  return {.path = path,
          .value = member(real, &Case::output, sampling, &SamplingSpec::block),
          .range = positive,
          .fallback = fallback,
          .unit = "h/U",
          .meaning = meaning};
}

Key chosen_heights(const std::string& path, Sampling sampling, const std::string& meaning) {
  return {.path = path,
          .value = member(length, &Case::output, sampling, &SamplingSpec::heights),
          .words = {"none"},
          .range = not_negative,
          .fallback = "none",
          .unit = "h",
          .meaning = meaning,
          .example = "[0.083, 1.0]"};
}

Key exchange_key(const std::string& kind, const std::string& meaning) {
  const auto found = std::ranges::find(ExchangeMethods::kinds(), kind, &ExchangeMethods::Kind::name);
  return {.path = "parallel.exchange." + kind,
          .value = one_of(known_exchange_methods(), &Case::exchange, found->method),
          .fallback = "auto",
          .meaning = meaning,
          .commented = true};
}

}  // namespace

std::vector<Key> solver_keys() {
  return {
      {.path = "solver", .meaning = "How space is discretised and how the linear systems are solved."},
      {.path = "solver.order",
       .value = member(choice, &Case::flow, &FlowParameters::order),
       .fallback = "4",
       .earlier_fallback = "2",
       .meaning = "Order of accuracy along x and y; along z it is 2."},
      {.path = "solver.precision",
       .value = one_of({"double", "single"}, &Case::precision),
       .words = {"auto"},
       .physical = false,
       .fallback = "auto",
       .meaning = "Precision of fields, transforms and loops over cells. Time, grid, sums over cells and, on CPUs, "
                  "tridiagonal systems are always in double precision. auto: double, or single in a program that was "
                  "built for single precision alone."},
      {.path = "solver.tridiagonal",
       .value = member(choice, &Case::flow, &FlowParameters::tridiagonal),
       .sampled = false,
       .fallback = "ptdma",
       .meaning = "ptdma: z stays distributed; transpose: z lines are made local. They agree to round-off."},
      {.path = "solver.z_blocks",
       .value = member(integer, &Case::z_blocks),
       .words = {"auto"},
       .range = counting,
       .sampled = false,
       .fallback = "auto",
       .unit = "1",
       .meaning =
           "Number of z blocks, each of at least 2 planes. Ranks own whole blocks, and lines along z are solved "
           "block by block, except on GPUs that split z: there every rank owns the same number of planes, to "
           "one, and the number of blocks is rounded to a multiple of pz. Results are bitwise equal only for the "
           "same number. "
           "auto: max(1, nz/16); from nz = 1024 on, the largest power of two <= nz/8."},
      {.path = "solver.max_divergence",
       .value = member(real, &Case::max_divergence),
       .words = {"auto"},
       .range = positive,
       .physical = false,
       .fallback = "auto",
       .unit = "1",
       .meaning = "Limit of |div u| dt_lim, beyond which the run stops with exit code 5; auto: the square root of the "
                  "precision's epsilon, 1.5e-8 in double and 3.5e-4 in single precision, or more in single precision "
                  "on grids that are very fine at the walls (docs/equations.md).",
       .commented = true},
      {.path = "parallel",
       .physical = false,
       .meaning = "How the work is spread over processes; it never changes the physics."},
      {.path = "parallel.grid",
       .value = member(integer, &Case::process_grid),
       .words = {"auto"},
       .range = counting,
       .fallback = "auto",
       .unit = "1",
       .meaning = "Process grid [py, pz]; auto measures and picks."},
      {.path = "parallel.exchange",
       .value = exchange_methods(),
       .words = known_exchange_methods(),
       .fallback = "auto",
       .meaning = "Exchange method of all traffic between ranks, or one for each kind; auto measures and picks."},
      exchange_key("halos", "Exchange method of halos."),
      exchange_key("rows", "Exchange method of transposes between x and y, used if py > 1."),
      exchange_key("columns", "Exchange method along z, used if pz > 1."),
  };
}

std::vector<Key> output_keys() {
  return {
      {.path = "output", .physical = false, .meaning = "What is written, and how often."},
      {.path = "output.directory",
       .value = member(path, &Case::output, &OutputSpec::directory),
       .fallback = "output",
       .meaning = "Folder of the results, made if it is missing.",
       .example = "retau180"},
      {.path = "output.log", .meaning = "The log on the screen and in log.txt."},
      {.path = "output.log.every",
       .value = member(integer, &Case::output, &OutputSpec::log_every),
       .words = {"none"},
       .range = {.minimum = {1}},
       .fallback = "100",
       .unit = "steps",
       .meaning = "Steps between lines; the first step always. none: lines by the wall clock alone."},
      {.path = "output.log.seconds",
       .value = member(duration, &Case::output, &OutputSpec::log_seconds),
       .words = {"none"},
       .fallback = "60",
       .unit = "s",
       .meaning = "If no line was written for this long, the next step writes one. none: by steps alone."},
      {.path = "output.timeseries", .meaning = "timeseries.csv."},
      {.path = "output.timeseries.every",
       .value = member(integer, &Case::output, &OutputSpec::timeseries_every),
       .range = {.minimum = {1}},
       .fallback = "10",
       .unit = "steps",
       .meaning = "Steps between lines; the first and last step always."},
      {.path = "output.checkpoint",
       .value = section_or_none(&Case::output, &OutputSpec::checkpoint_every),
       .words = {"none"},
       .meaning = "Checkpoints during the run; none: only one when it stops."},
      {.path = "output.checkpoint.every",
       .value = member(real, &Case::output, &OutputSpec::checkpoint_every),
       .range = positive,
       .fallback = "20",
       .unit = "h/U",
       .meaning = "Simulation time between checkpoints."},
      {.path = "output.checkpoint.keep",
       .value = member(integer, &Case::output, &OutputSpec::checkpoint_keep),
       .range = counting,
       .fallback = "2",
       .unit = "1",
       .meaning = "How many of the newest checkpoints are kept."},
      samples("output.statistics", &OutputSpec::statistics,
              "statistics.h5: horizontally averaged sums in blocks of time.", false),
      first_sample("output.statistics.start", &OutputSpec::statistics),
      steps_between_samples("output.statistics.every", &OutputSpec::statistics),
      block_of_samples("output.statistics.block", &OutputSpec::statistics, "10", "Simulation time of a block."),
      {.path = "output.statistics.budgets",
       .value = member(choice, &Case::output, &OutputSpec::statistics_budgets),
       .fallback = "on",
       .meaning =
           "Whether to sample the profiles for the budgets of the Reynolds stresses and of the variances and fluxes of "
           "scalars. It cannot change during a run."},
      {.path = "output.statistics.phases",
       .value = section_or_none(&Case::output, &OutputSpec::statistics_phases),
       .words = {"none"},
       .fallback = "none",
       .meaning = "Averages by phase of a flow that is driven periodically, beside those over all times. They cannot "
                  "change during a run.",
       .commented = true},
      {.path = "output.statistics.phases.period",
       .value = member(length, &Case::output, &OutputSpec::statistics_phases, &PhaseBins::period),
       .range = positive,
       .required = true,
       .unit = "h/U",
       .meaning = "Period of the driving; phase 0 is at time 0.",
       .example = "10"},
      {.path = "output.statistics.phases.bins",
       .value = member(integer, &Case::output, &OutputSpec::statistics_phases, &PhaseBins::count),
       .range = {.minimum = {2}, .maximum = 256},
       .fallback = "16",
       .unit = "1",
       .meaning = "Number of bins of phase; bin n is centred at phase n/bins."},
      samples("output.spectra", &OutputSpec::spectra,
              "spectra.h5: spectra along x and y at every z, summed in blocks of time.", true),
      first_sample("output.spectra.start", &OutputSpec::spectra),
      steps_between_samples("output.spectra.every", &OutputSpec::spectra),
      block_of_samples("output.spectra.block", &OutputSpec::spectra, "50",
                       "Simulation time of a block; it has 20 nz (nx + ny + 4) bytes."),
      chosen_heights("output.spectra.heights", &OutputSpec::spectra,
                     "Where to take spectra in (kx, ky) as well, in increasing order: at the planes nearest to these "
                     "z. Each adds 10 (nx + 2) (ny + 2) bytes to a block. They cannot change during a run."),
      samples("output.densities", &OutputSpec::densities,
              "densities.h5: histograms of u, v, w and p at every z and of the wall shear, and the momentum flux by "
              "quadrants, summed in blocks of time.",
              true),
      first_sample("output.densities.start", &OutputSpec::densities),
      steps_between_samples("output.densities.every", &OutputSpec::densities),
      block_of_samples("output.densities.block", &OutputSpec::densities, "50",
                       "Simulation time of a block; it has about 4200 nz bytes."),
      chosen_heights("output.densities.heights", &OutputSpec::densities,
                     "Where to take joint histograms of u and w, in increasing order: at the z faces nearest to these "
                     "z. Each adds 32 KiB to a block. They cannot change during a run."),
      {.path = "output.slices",
       .value = list_of(&Case::output, &OutputSpec::slices),
       .fallback = "[]",
       .meaning = "Planes of the flow against time, one growing file for each."},
      {.path = "output.slices[].normal",
       .value = of_item(choice, &OutputSpec::slices, &SliceSpec::normal, {"x", "y", "z"}),
       .required = true,
       .meaning = "Direction that the plane is normal to.",
       .example = "z"},
      {.path = "output.slices[].at",
       .value = of_item(length, &OutputSpec::slices, &SliceSpec::at),
       .range = not_negative,
       .required = true,
       .unit = "h",
       .meaning = "Where the plane cuts its normal, within the domain.",
       .example = "0.083"},
      {.path = "output.slices[].every",
       .value = of_item(real, &OutputSpec::slices, &SliceSpec::every),
       .range = positive,
       .required = true,
       .unit = "h/U",
       .meaning = "Simulation time between slices.",
       .example = "1.0"},
      {.path = "output.slices[].fields",
       .value = or_scalars(of_item(choice, &OutputSpec::slices, &SliceSpec::fields, field_names())),
       .fallback = "[u]",
       .meaning = "Fields to write."},
      {.path = "output.probes",
       .value = list_of(&Case::output, &OutputSpec::probes),
       .fallback = "[]",
       .meaning = "Points, lines and planes of the flow against time, one file probes/NAME.h5 for each. Sampled are "
                  "the points of the grid nearest to x, y and z.",
       .commented = true},
      {.path = "output.probes[].name",
       .value = of_item(text, &OutputSpec::probes, &ProbeSpec::name),
       .required = true,
       .meaning = "Name of the file: letters, digits, - and _.",
       .example = "buffer_layer"},
      probe_positions("x", &ProbeSpec::x, "[0, pi]"),
      probe_positions("y", &ProbeSpec::y, "pi/2"),
      probe_positions("z", &ProbeSpec::z, "[0.083, 1.0]"),
      {.path = "output.probes[].every",
       .value = of_item(integer, &OutputSpec::probes, &ProbeSpec::every),
       .range = {.minimum = {1}},
       .required = true,
       .unit = "steps",
       .meaning = "Steps between samples.",
       .example = "5"},
      {.path = "output.probes[].start",
       .value = of_item(real, &OutputSpec::probes, &ProbeSpec::start),
       .range = not_negative,
       .fallback = "0",
       .unit = "h/U",
       .meaning = "Simulation time of the first sample.",
       .example = "60.0"},
      {.path = "output.probes[].fields",
       .value = or_scalars(of_item(choice, &OutputSpec::probes, &ProbeSpec::fields, field_names())),
       .fallback = "[u, v, w, p]",
       .meaning = "Fields to sample, each at its own staggered location (not interpolated)."},
      {.path = "output.fields",
       .value = list_of(&Case::output, &OutputSpec::fields),
       .fallback = "[]",
       .meaning = "Three-dimensional fields at cell centres for pictures, a series fields/NAME_*.h5 each, which "
                  "ParaView opens by fields/NAME.xdmf.",
       .commented = true},
      {.path = "output.fields[].name",
       .value = of_item(text, &OutputSpec::fields, &FieldsSpec::name),
       .required = true,
       .meaning = "Name of the files: letters, digits, - and _.",
       .example = "vortices"},
      {.path = "output.fields[].every",
       .value = of_item(real, &OutputSpec::fields, &FieldsSpec::every),
       .range = positive,
       .required = true,
       .unit = "h/U",
       .meaning = "Simulation time between files.",
       .example = "5.0"},
      {.path = "output.fields[].start",
       .value = of_item(real, &OutputSpec::fields, &FieldsSpec::start),
       .range = not_negative,
       .fallback = "0",
       .unit = "h/U",
       .meaning = "Simulation time from which files are written.",
       .example = "60.0"},
      {.path = "output.fields[].fields",
       .value = or_scalars(of_item(choice, &OutputSpec::fields, &FieldsSpec::fields, center_quantity_names())),
       .fallback = "[velocity, q]",
       .meaning = "What to write: velocity, interpolated to the centres; fluctuation, the velocity less its mean "
                  "over the plane; vorticity; q and lambda2, which show vortices; p."},
      {.path = "output.fields[].precision",
       .value = of_item(choice, &OutputSpec::fields, &FieldsSpec::precision, {"single", "double"}),
       .fallback = "single",
       .meaning = "Precision of the files."},
      {.path = "output.fields[].stride",
       .value = of_item(integer, &OutputSpec::fields, &FieldsSpec::stride),
       .range = {.minimum = {1}},
       .fallback = "[1, 1, 1]",
       .unit = "cells",
       .meaning = "Write every N-th cell: N along x, y and z.",
       .example = "[2, 2, 1]"},
      fields_range("x", &FieldsSpec::x, "[0, 2*pi]"),
      fields_range("y", &FieldsSpec::y, "[0, pi]"),
      fields_range("z", &FieldsSpec::z, "[0, 1]"),
      {.path = "output.catalyst",
       .value = section_or_none(&Case::output, &OutputSpec::catalyst),
       .words = {"none"},
       .fallback = "none",
       .meaning = "Fields at cell centres for ParaView while the run goes on, through Catalyst 2, whose library is "
                  "loaded when the run starts.",
       .commented = true},
      {.path = "output.catalyst.every",
       .value = member(integer, &Case::output, &OutputSpec::catalyst, &CatalystSpec::every),
       .range = {.minimum = {1}},
       .required = true,
       .unit = "steps",
       .meaning = "Steps between two calls of the scripts.",
       .example = "20"},
      {.path = "output.catalyst.scripts",
       .value = catalyst_scripts(),
       .required = true,
       .meaning = "Python scripts that ParaView runs; relative to the case file.",
       .example = "[pipeline.py]"},
      {.path = "output.catalyst.fields",
       .value = or_scalars(bind(
           ValueType::choice, center_quantity_names(), [](auto& settings, std::size_t) -> auto& {
             return member_at(settings, &Case::output, &OutputSpec::catalyst, &CatalystSpec::fields);
           })),
       .fallback = "[velocity, p]",
       .meaning = "What the scripts see, named and computed as in output.fields."},
      {.path = "output.catalyst.library",
       .value = member(path, &Case::output, &OutputSpec::catalyst, &CatalystSpec::library),
       .words = {"auto"},
       .fallback = "auto",
       .meaning = "The file libcatalyst.so. auto: beside or above the folders of the environment variable "
                  "CATALYST_IMPLEMENTATION_PATHS, else where the system looks for libraries.",
       .example = "/opt/paraview/lib/libcatalyst.so"},
      {.path = "output.writer",
       .value = member(choice, &Case::output, &OutputSpec::writer, &WriterSpec::kind),
       .fallback = "direct",
       .meaning =
           "How the ranks write the fields of checkpoints and of output.fields, and samples of slices and probes of "
           "more than 8 MiB. direct: by system calls; hdf5: by collective calls of parallel HDF5, which take hints for "
           "MPI-IO. The files are the same.",
       .commented = true},
      {.path = "output.alignment",
       .value = member(integer, &Case::output, &OutputSpec::writer, &WriterSpec::alignment),
       .range = {.minimum = {1}, .maximum = 1 << 30},
       .fallback = "1",
       .unit = "bytes",
       .meaning =
           "In these files, fields of at least this size begin at a multiple of it, such as the size of a stripe "
           "or block of the file system.",
       .example = "1048576",
       .commented = true},
      {.path = "output.mpi_io_hints",
       .value = list_of(&Case::output, &OutputSpec::writer, &WriterSpec::hints),
       .fallback = "[]",
       .meaning = "Hints for MPI-IO, with output.writer hdf5 only. Those that the MPI library or the file system does "
                  "not know have no effect.",
       .commented = true},
      {.path = "output.mpi_io_hints[].name",
       .value = of_hint(&MpiIoHint::name),
       .required = true,
       .meaning =
           "Name of the hint: striping_factor, striping_unit, cb_nodes, cb_buffer_size, romio_cb_write or another "
           "one of the MPI library.",
       .example = "striping_factor"},
      {.path = "output.mpi_io_hints[].value",
       .value = of_hint(&MpiIoHint::value),
       .required = true,
       .meaning = "Its value.",
       .example = "16"},
      {.path = "walltime",
       .value = member(duration, &Case::walltime),
       .words = {"none"},
       .physical = false,
       .fallback = "none",
       .unit = "s",
       .meaning = "Wall-clock budget, after which the run stops cleanly with a checkpoint.",
       .example = "00:20:00"},
      {.path = "watchdog",
       .value = time_limit(&Case::watchdog),
       .words = {"auto", "off"},
       .physical = false,
       .fallback = "auto",
       .unit = "s",
       .meaning = "The run is aborted with exit code 6 if a step or an output takes longer than this, or its start ten "
                  "times as long; auto, or on: 20 times the usual time, at least 30 minutes; "
                  "off: no limit."},
  };
}

}  // namespace sluice::io::key_table
