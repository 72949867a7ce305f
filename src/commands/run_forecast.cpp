#include "src/commands/run_forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/device/memory.hpp"
#include "core/support/real.hpp"
#include "io/files/statistics_file.hpp"
#include "model/schedule.hpp"
#include "solver/diagnostics.hpp"
#include "solver/forcing.hpp"
#include "solver/statistics/densities.hpp"
#include "solver/statistics/spectra.hpp"
#include "solver/statistics/statistics.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/output_needs.hpp"
#include "src/outputs/sampled_file.hpp"

namespace sluice {

namespace {

/// Number of the first step, with times n dt, that has reached `due`.
double first_step(double due, double dt) {
  double step = std::max(0.0, std::ceil(due / dt) - 2);
  while (!is_reached(due, step * dt)) ++step;
  return step;
}

/// Number of the first step that is a multiple of `every` and whose time has reached `start`; not 0.
double first_sample(double every, double start, double dt) {
  return every * std::max(1.0, std::ceil(first_step(start, dt) / every));
}

/// Steps that are multiples of `every` and have reached `start`.
double sampled_steps(double every, double start, const RunLength& length) {
  return std::max(0.0, std::floor((length.steps - first_sample(every, start, length.dt)) / every) + 1);
}

/// Steps that pass an event.
double event_steps(const Schedule& schedule, const RunLength& length) {
  const double events = schedule.index(length.last_time()) - schedule.index(0);
  const double steps = length.steps - std::max(1.0, first_step(schedule.origin, length.dt)) + 1;
  return std::max(0.0, std::min(events, steps));
}

/// Blocks that are closed: one after the other, since a sample at the end of a block is its last.
double closed_blocks(const io::SamplingSpec& sampling, const RunLength& length) {
  constexpr double max_counted = 1e5;  // beyond that, in proportion
  const Schedule schedule{sampling.block, sampling.start};
  const auto every = static_cast<double>(sampling.every);
  double blocks = 0;
  double sample = first_sample(every, sampling.start, length.dt);
  while (sample <= length.steps && blocks < max_counted) {
    const double end = first_step(schedule.due(schedule.index(sample * length.dt) + 1), length.dt);
    if (end > length.steps) return blocks;
    ++blocks;
    sample = every * (std::floor(end / every) + 1);
  }
  return sample <= length.steps ? std::floor(blocks * length.steps / sample) : blocks;
}

double slice_points(const io::SliceSpec& slice, const std::array<std::int64_t, 3>& cells) {
  double points = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (slice.normal != static_cast<char>('x' + axis)) points *= static_cast<double>(cells[axis]);
  }
  return points;
}

/// Rounded down to six digits, so that blocks of this length do not exceed the time that is divided into them.
double rounded_down(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 5);
  return std::floor(value / unit * (1 + 1e-12)) * unit;
}

/// A length near `block` such that a whole number of blocks, at least `least_blocks`, fills `sampled`; with few digits
/// if possible.
double whole_block(double sampled, double block, double least_blocks) {
  const double count = std::max({1.0, least_blocks, std::round(sampled / block)});
  for (double n = count; n < 1.5 * count; ++n) {
    const double unit = std::pow(10.0, std::floor(std::log10(sampled / n)) - 1);
    const double rounded = std::round(sampled / n / unit) * unit;
    if (std::abs(rounded * n - sampled) < 1e-9 * sampled) return rounded;
  }
  return rounded_down(sampled / count);
}

}  // namespace

double checkpoints_written(const io::OutputSpec& output, const RunLength& length) {
  if (!output.checkpoint_every) return 1;
  return 1 + event_steps({*output.checkpoint_every}, {length.dt, length.steps - 1, length.time, length.to_a_time});
}

RunLength expected_length(const io::TimeSpec& time, double dt) {
  if (time.end) return {dt, first_step(*time.end, dt), *time.end, true};
  const auto steps = static_cast<double>(time.steps.value_or(0));
  return {dt, steps, dt * steps, false};
}

std::array<SamplingNeed, 3> sampling_needs(const io::Case& settings) {
  const io::OutputSpec& output = settings.output;
  const std::array<std::int64_t, 3>& cells = settings.cells;
  return {
      {{"statistics", &io::OutputSpec::statistics,
        Statistics::block_bytes(cells, statistics_content(output), settings.flow)},
       {"spectra", &io::OutputSpec::spectra, Spectra::block_bytes(cells, output.spectra.heights.size(), settings.flow)},
       {"densities", &io::OutputSpec::densities, Densities::block_bytes(cells, output.densities.heights.size())}}};
}

SamplingForecast forecast(const io::SamplingSpec& sampling, const RunLength& length) {
  SamplingForecast found;
  found.samples = sampled_steps(static_cast<double>(sampling.every), sampling.start, length);
  if (found.samples == 0) return found;
  found.blocks = closed_blocks(sampling, length);
  found.time = found.blocks * sampling.block;
  const Schedule schedule{sampling.block, sampling.start};
  found.wasted_time = std::max(0.0, length.time - schedule.due(schedule.index(length.last_time())));
  return found;
}

double blocks_memory(const io::Case& settings, const RunLength& length) {
  constexpr double with_copies = 1.5;  // of one quantity, a fourth of a block at most, while the file is written
  constexpr double more = 2;           // the open block, and its copy when it is read from or written to a checkpoint
  double bytes = 0;
  for (const auto& [name, member, block_bytes] : sampling_needs(settings)) {
    const io::SamplingSpec& sampling = settings.output.*member;
    if (sampling.enabled) bytes += with_copies * (forecast(sampling, length).blocks + more) * block_bytes;
  }
  return bytes;
}

double probe_samples(const io::ProbeSpec& probe, const RunLength& length) {
  return sampled_steps(static_cast<double>(probe.every), probe.start, length);
}

double fields_files(const io::FieldsSpec& fields, const RunLength& length) {
  return event_steps({fields.every, fields.start}, length);
}

std::string sampling_advice(const std::string& name, const io::SamplingSpec& sampling, const RunLength& length,
                            double least_blocks) {
  if (!sampling.enabled) return {};
  const std::string key = "output." + name;
  const std::string end = fmt::format("the end of the run at time {:g}", length.time);
  if (sampling.start >= length.time)
    return fmt::format("{}.start {:g} is not before {}: no {} are taken; take an earlier start or a later end", key,
                       sampling.start, end, name);
  const SamplingForecast found = forecast(sampling, length);
  if (found.samples == 0)
    return fmt::format(
        "{} takes no sample between its start, {:g}, and {}: choose {}.every below {}, or a "
        "later end",
        key, sampling.start, end, key, sampling.every);
  const double sampled = length.time - sampling.start;
  if (found.samples < least_blocks)
    return fmt::format(
        "95 % intervals need at least {:g} blocks, but {} takes {:g} sample{}: take a smaller {}.every than "
        "{}, or a later end",
        least_blocks, key, found.samples, found.samples == 1 ? "" : "s", key, sampling.every);
  const double block = whole_block(sampled, sampling.block, least_blocks);
  if (found.blocks == 0)
    return fmt::format(
        "{} closes no block, and writes nothing: its block of {:g} is longer than the time from its start, "
        "{:g}, to {}; take a block of {:g}, or a later end",
        key, sampling.block, sampling.start, end, block);
  if (length.to_a_time && found.wasted_time > 0.01 * sampling.block && found.wasted_time > 0.01 * sampled)
    return fmt::format(
        "the last {:.3g} time units of {} are not a whole block, and are not written: take a block of "
        "{:g}, or another end",
        found.wasted_time, key, block);
  if (found.blocks < least_blocks)
    return fmt::format("95 % intervals need at least {:g} blocks: take an {}.block of {:g}", least_blocks, key, block);
  return {};
}

double expected_interval(const Grid& grid, const FlowParameters& flow, double averaging) {
  // Standard deviation of u_tau averaged over an area h^2 and a time h/u_tau; fitted to the runs of docs/validation.md
  // and docs/accuracy.md. The rolls of Couette flow are larger and live longer.
  const bool couette = flow.forcing.kind == ForcingKind::none;
  const double deviation = couette ? 0.2 : 0.065;
  return 2 * deviation / std::sqrt(grid.length_x() * grid.length_y() * averaging);
}

double usual_speed(const FlowParameters& flow, int ranks) {
  const bool implicit = flow.diffusion == Diffusion::implicit;
  const bool implicit_z = flow.diffusion == Diffusion::implicit_z;
  const double on_one_core = implicit ? 230 : implicit_z ? 120 : 90;
  const double on_one_gpu = implicit ? 0.7 : implicit_z ? 0.28 : 0.22;  // an H200: docs/figures.yml
  const double single = sizeof(real) == sizeof(float) ? 0.55 : 1;
  return single * (device::is_gpu() ? on_one_gpu : on_one_core) / ranks;
}

DiskNeed disk_need(const io::Case& settings, const Grid& grid, const RunLength& length) {
  constexpr double file_overhead = 16384;  // an HDF5 file without its data, which holds the case
  constexpr double bytes_per_row = 170;    // of the columns of timeseries.csv that all cases have
  constexpr double bytes_per_value = 20;   // of one that only some cases have
  const io::OutputSpec& output = settings.output;
  DiskNeed need{};
  need.kept = std::min(checkpoints_written(output, length), static_cast<double>(output.checkpoint_keep));
  need.checkpoints = need.kept * (checkpoint_bytes(grid, settings.flow) + file_overhead);
  for (const io::SliceSpec& slice : output.slices) {
    const double times = event_steps({slice.every}, length);
    const double values = slice_points(slice, settings.cells) * static_cast<double>(slice.fields.size());
    need.slice_times += times;
    need.slices += times * (values * sizeof(real) + sizeof(double) + sizeof(std::int64_t));
  }
  for (const io::FieldsSpec& fields : output.fields)
    need.fields += fields_files(fields, length) * fields_need(fields, grid, settings.flow, {}).size;
  for (const io::ProbeSpec& probe : output.probes)
    need.probes += probe_samples(probe, length) * probe_need(probe, grid, settings.flow, {}).size;
  for (const auto& [name, sampling, block_bytes] : sampling_needs(settings)) {
    if ((output.*sampling).enabled) need.samples += forecast(output.*sampling, length).blocks * block_bytes;
  }
  const auto further =
      static_cast<double>(further_forcing(settings.flow, {}).size() + further_diagnostics(settings.flow).size());
  need.time_series =
      (bytes_per_row + bytes_per_value * further) * length.steps / static_cast<double>(output.timeseries_every);
  return need;
}

namespace {

// On a local disk. Files are flushed to it; checkpoints and blocks are also hashed, read back and compared.
constexpr double seconds_per_file = 4e-3;
constexpr double seconds_per_byte = 1e-9;
constexpr double seconds_per_block = 1e-3;       // the journal, flushed
constexpr double seconds_per_block_byte = 8e-9;  // each time it is written

// Of a step, with order 4: docs/performance.md, Samples.
constexpr double row_of_time_series = 0.1;
double part_of_step(const io::OutputSpec& output, io::SamplingSpec io::OutputSpec::*sampling) {
  if (sampling == &io::OutputSpec::statistics) return output.statistics_budgets == io::Switch::on ? 0.4 : 0.11;
  return sampling == &io::OutputSpec::spectra ? 0.4 : 0.13;
}

}  // namespace

OutputTime expected_output(const io::Case& settings, const Grid& grid, const RunLength& length, double step) {
  const io::OutputSpec& output = settings.output;
  const auto rows = length.steps / static_cast<double>(output.timeseries_every);
  OutputTime time{.samples = rows * row_of_time_series * step};
  for (const auto& [name, sampling, block_bytes] : sampling_needs(settings)) {
    if (!(output.*sampling).enabled) continue;
    const SamplingForecast found = forecast(output.*sampling, length);
    time.samples += found.samples * part_of_step(output, sampling) * step;
    time.blocks += found.blocks * seconds_per_block +
                   io::StatisticsFile::written_blocks(found.blocks) * block_bytes * seconds_per_block_byte;
  }
  time.checkpoints = checkpoints_written(output, length) *
                     (seconds_per_file + checkpoint_bytes(grid, settings.flow) * seconds_per_byte);
  const DiskNeed need = disk_need(settings, grid, length);
  double files = need.slice_times;
  for (const io::FieldsSpec& fields : output.fields) files += fields_files(fields, length);
  time.others = files * seconds_per_file + (need.slices + need.fields + need.probes) * seconds_per_byte;
  return time;
}

}  // namespace sluice
