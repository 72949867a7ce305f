// The part of the key table that says how it is run: solver, parallel, output, walltime.
#include "core/flow/field_descriptor.hpp"
#include "io/case/key_table.hpp"
#include "io/case/names.hpp"

namespace sluice::io::key_table {

using enum ValueType;

namespace {

std::vector<std::string> slice_fields() {
  std::vector<std::string> names;
  for (const FieldDescriptor& field : flow_fields()) {
    if (field.outputs.slices) names.push_back(field.name);
  }
  return names;
}

}  // namespace

std::vector<Key> solver_keys() {
  return {
      {.path = "solver", .meaning = "How the linear systems are solved."},
      {.path = "solver.tridiagonal",
       .type = choice,
       .choices = all_names<TridiagonalMethod>(),
       .fallback = "ptdma",
       .meaning = "ptdma: z stays distributed; transpose: z lines are made local. They agree to round-off."},
      {.path = "solver.z_blocks",
       .type = integer,
       .words = {"auto"},
       .range = counting,
       .fallback = "auto",
       .unit = "1",
       .meaning = "Blocks that z is split by and, but for GPUs that split it, solved in, each of at least 2 planes, "
                  "part of every bitwise promise; auto: max(1, nz/16)."},
      {.path = "parallel", .meaning = "How the work is spread over processes; it never changes the physics."},
      {.path = "parallel.grid",
       .type = integer,
       .count = 2,
       .words = {"auto"},
       .range = counting,
       .fallback = "auto",
       .unit = "1",
       .meaning = "Process grid [py, pz]; auto measures and picks."},
      {.path = "parallel.exchange",
       .type = choice,
       .choices = known_exchange_methods(),
       .fallback = "auto",
       .meaning = "Exchange method of transposes and halos; auto measures and picks."},
  };
}

std::vector<Key> output_keys() {
  return {
      {.path = "output", .meaning = "What is written, and how often."},
      {.path = "output.directory",
       .type = path,
       .fallback = "output",
       .meaning = "Folder of the results, made if it is missing.",
       .example = "retau180"},
      {.path = "output.log", .meaning = "The log on the screen and in log.txt."},
      {.path = "output.log.every",
       .type = integer,
       .range = {.minimum = {1}},
       .fallback = "100",
       .unit = "steps",
       .meaning = "Steps between lines."},
      {.path = "output.timeseries", .meaning = "timeseries.csv."},
      {.path = "output.timeseries.every",
       .type = integer,
       .range = {.minimum = {1}},
       .fallback = "10",
       .unit = "steps",
       .meaning = "Steps between lines; the first and last step always."},
      {.path = "output.checkpoint",
       .words = {"none"},
       .meaning = "Checkpoints on the way; none: only the one where a run stops."},
      {.path = "output.checkpoint.every",
       .type = real,
       .range = positive,
       .fallback = "20",
       .unit = "h/U",
       .meaning = "Simulation time between checkpoints."},
      {.path = "output.checkpoint.keep",
       .type = integer,
       .range = counting,
       .fallback = "2",
       .unit = "1",
       .meaning = "How many checkpoints are kept, the newest."},
      {.path = "output.statistics",
       .words = {"none"},
       .fallback = "none",
       .meaning = "statistics.h5: horizontally averaged sums in blocks of time."},
      {.path = "output.statistics.start",
       .type = real,
       .range = not_negative,
       .fallback = "0",
       .unit = "h/U",
       .meaning = "Simulation time of the first sample.",
       .example = "60.0"},
      {.path = "output.statistics.every",
       .type = integer,
       .range = {.minimum = {1}},
       .fallback = "10",
       .unit = "steps",
       .meaning = "Steps between samples."},
      {.path = "output.statistics.block",
       .type = real,
       .range = positive,
       .fallback = "10",
       .unit = "h/U",
       .meaning = "Simulation time of a block."},
      {.path = "output.slices",
       .count = Key::any_number,
       .fallback = "[]",
       .meaning = "Planes of the flow, each its own file."},
      {.path = "output.slices[].normal",
       .type = choice,
       .choices = {"x", "y", "z"},
       .required = true,
       .meaning = "Direction that the plane is normal to.",
       .example = "z"},
      {.path = "output.slices[].at",
       .type = length,
       .range = not_negative,
       .required = true,
       .unit = "h",
       .meaning = "Where the plane cuts its normal, within the domain.",
       .example = "0.083"},
      {.path = "output.slices[].every",
       .type = real,
       .range = positive,
       .required = true,
       .unit = "h/U",
       .meaning = "Simulation time between slices.",
       .example = "1.0"},
      {.path = "output.slices[].fields",
       .type = choice,
       .count = Key::any_number,
       .choices = slice_fields(),
       .fallback = "[u]",
       .meaning = "Fields to write."},
      {.path = "walltime",
       .type = duration,
       .words = {"none"},
       .fallback = "none",
       .unit = "s",
       .meaning = "Wall-clock budget, after which the run stops in good order with a checkpoint.",
       .example = "00:20:00"},
  };
}

}  // namespace sluice::io::key_table
