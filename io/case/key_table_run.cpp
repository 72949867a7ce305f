// The part of the key table that defines the run: solver, parallel, output, walltime.
#include <algorithm>

#include "core/flow/field_descriptor.hpp"
#include "io/case/key_table.hpp"
#include "io/case/names.hpp"

namespace sluice::io::key_table {

using enum ValueType;
using namespace binding;

namespace {

std::vector<std::string> slice_fields() {
  std::vector<std::string> names;
  for (const FieldDescriptor& field : flow_fields()) {
    if (field.outputs.slices) names.push_back(field.name);
  }
  return names;
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
       .meaning = "Blocks that z is split by and, but for GPUs that split it, solved in, each of at least 2 planes, "
                  "part of every bitwise promise; auto: max(1, nz/16)."},
      {.path = "solver.max_divergence",
       .value = member(real, &Case::max_divergence),
       .words = {"auto"},
       .range = positive,
       .physical = false,
       .fallback = "auto",
       .unit = "1",
       .meaning = "Limit of |div u| dt_lim, beyond which the run stops with exit code 5; auto: the square root of the "
                  "precision's epsilon, 1.5e-8 in double and 3.5e-4 in single precision.",
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
       .range = {.minimum = {1}},
       .fallback = "100",
       .unit = "steps",
       .meaning = "Steps between lines."},
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
       .meaning = "Checkpoints on the way; none: only the one where a run stops."},
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
       .meaning = "How many checkpoints are kept, the newest."},
      {.path = "output.statistics",
       .value = section_or_none(&Case::output, &OutputSpec::statistics),
       .words = {"none"},
       .fallback = "none",
       .meaning = "statistics.h5: horizontally averaged sums in blocks of time."},
      {.path = "output.statistics.start",
       .value = member(real, &Case::output, &OutputSpec::statistics_start),
       .range = not_negative,
       .fallback = "0",
       .unit = "h/U",
       .meaning = "Simulation time of the first sample.",
       .example = "60.0"},
      {.path = "output.statistics.every",
       .value = member(integer, &Case::output, &OutputSpec::statistics_every),
       .range = {.minimum = {1}},
       .fallback = "10",
       .unit = "steps",
       .meaning = "Steps between samples."},
      {.path = "output.statistics.block",
       .value = member(real, &Case::output, &OutputSpec::statistics_block),
       .range = positive,
       .fallback = "10",
       .unit = "h/U",
       .meaning = "Simulation time of a block."},
      {.path = "output.statistics.budgets",
       .value = member(choice, &Case::output, &OutputSpec::statistics_budgets),
       .fallback = "on",
       .meaning = "Whether to take what the budgets of the Reynolds stresses need. It cannot change during a run."},
      {.path = "output.slices",
       .value = slices(),
       .fallback = "[]",
       .meaning = "Planes of the flow, each its own file."},
      {.path = "output.slices[].normal",
       .value = of_slice(choice, &SliceSpec::normal, {"x", "y", "z"}),
       .required = true,
       .meaning = "Direction that the plane is normal to.",
       .example = "z"},
      {.path = "output.slices[].at",
       .value = of_slice(length, &SliceSpec::at),
       .range = not_negative,
       .required = true,
       .unit = "h",
       .meaning = "Where the plane cuts its normal, within the domain.",
       .example = "0.083"},
      {.path = "output.slices[].every",
       .value = of_slice(real, &SliceSpec::every),
       .range = positive,
       .required = true,
       .unit = "h/U",
       .meaning = "Simulation time between slices.",
       .example = "1.0"},
      {.path = "output.slices[].fields",
       .value = of_slice(choice, &SliceSpec::fields, slice_fields()),
       .fallback = "[u]",
       .meaning = "Fields to write."},
      {.path = "walltime",
       .value = member(duration, &Case::walltime),
       .words = {"none"},
       .physical = false,
       .fallback = "none",
       .unit = "s",
       .meaning = "Wall-clock budget, after which the run stops in good order with a checkpoint.",
       .example = "00:20:00"},
      {.path = "watchdog",
       .value = time_limit(&Case::watchdog),
       .words = {"auto", "off"},
       .physical = false,
       .fallback = "auto",
       .unit = "s",
       .meaning = "Time that a step or an output may take, and ten times that for the start, before the run is aborted "
                  "with exit code 6; auto: 20 times the usual time, at least 30 minutes."},
  };
}

}  // namespace sluice::io::key_table
