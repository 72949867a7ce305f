#include "src/commands/run_forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/device/memory.hpp"
#include "core/support/real.hpp"
#include "solver/diagnostics.hpp"
#include "solver/forcing.hpp"
#include "solver/statistics/densities.hpp"
#include "solver/statistics/spectra.hpp"
#include "solver/statistics/statistics.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/fields.hpp"
#include "src/outputs/probes.hpp"
#include "src/outputs/sampled_file.hpp"

namespace sluice {

namespace {

constexpr double round_off = 1e-9;

/// Multiples of `every` among the steps up to `steps` whose time is at least `start`.
double sampled_steps(double every, double start, const RunLength& length) {
  const double before = std::max(0.0, std::ceil(start / length.dt - round_off) - 1);
  return std::max(0.0, std::floor(length.steps / every) - std::floor(before / every));
}

double slice_points(const io::SliceSpec& slice, const std::array<std::int64_t, 3>& cells) {
  double points = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (slice.normal != static_cast<char>('x' + axis)) points *= static_cast<double>(cells[axis]);
  }
  return points;
}

}  // namespace

RunLength expected_length(const io::TimeSpec& time, double dt) {
  if (time.end) return {dt, std::ceil(*time.end / dt - round_off), *time.end, true};
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
  const double sampled = std::max(0.0, length.time - sampling.start);
  found.blocks = std::min(found.samples, std::floor(sampled / sampling.block + round_off));
  found.time = found.blocks * sampling.block;
  found.wasted_time = std::max(0.0, sampled - found.time);
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
  if (length.time < fields.start) return 0;
  const double at_start = fields.start > 0 ? 1 : 0;  // none of the initial field
  return std::min(length.steps, at_start + std::floor((length.time - fields.start) / fields.every + round_off));
}

std::string sampling_advice(const std::string& name, const io::SamplingSpec& sampling, const RunLength& length) {
  if (!sampling.enabled) return {};
  const std::string key = "output." + name;
  const std::string end = fmt::format("the end of the run at time {:g}", length.time);
  if (sampling.start >= length.time)
    return fmt::format("{}.start {:g} is not before {}: no {} are taken; take an earlier start or a later end", key,
                       sampling.start, end, name);
  const SamplingForecast found = forecast(sampling, length);
  if (found.samples == 0)
    return fmt::format(
        "{} takes no sample between its start, {:g}, and {}: take a smaller {}.every than {}, or a "
        "later end",
        key, sampling.start, end, key, sampling.every);
  const double sampled = length.time - sampling.start;
  if (found.blocks == 0)
    return fmt::format(
        "{} closes no block, and writes nothing: its block of {:g} is longer than the time from its start, "
        "{:g}, to {}; take a block of {:.2g} or less, or a later end",
        key, sampling.block, sampling.start, end, sampled);
  if (length.to_a_time && found.wasted_time > 0.01 * sampling.block && found.wasted_time > 0.01 * sampled)
    return fmt::format(
        "the last {:.3g} time units of {} are not a whole block, and are not written: take a block of "
        "{:g}, or another end",
        found.wasted_time, key, sampled / std::max(1.0, std::round(sampled / sampling.block)));
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
  const bool implicit = flow.diffusion == Diffusion::implicit_z;
  const double on_one_core = implicit ? 120 : 90;
  const double on_one_gpu = implicit ? 0.28 : 0.22;  // an H200: docs/figures.yml
  const double single = sizeof(real) == sizeof(float) ? 0.55 : 1;
  return single * (device::is_gpu() ? on_one_gpu : on_one_core) / ranks;
}

DiskNeed disk_need(const io::Case& settings, const Grid& grid, const RunLength& length) {
  constexpr double file_overhead = 16384;  // an HDF5 file without its data, which holds the case
  constexpr double bytes_per_row = 170;    // of the columns of timeseries.csv that all cases have
  constexpr double bytes_per_value = 20;   // of one that only some cases have
  const io::OutputSpec& output = settings.output;
  DiskNeed need{};
  const double written = 1 + (output.checkpoint_every ? std::floor(length.time / *output.checkpoint_every) : 0);
  need.kept = std::min(written, static_cast<double>(output.checkpoint_keep));
  need.checkpoints = need.kept * (checkpoint_bytes(grid, settings.flow) + file_overhead);
  for (const io::SliceSpec& slice : output.slices) {
    const double times = std::min(length.steps, std::floor(length.time / slice.every + round_off));
    const double values = slice_points(slice, settings.cells) * static_cast<double>(slice.fields.size());
    need.slice_times += times;
    need.slices += times * (values * sizeof(real) + sizeof(double) + sizeof(std::int64_t));
  }
  for (const io::FieldsSpec& fields : output.fields)
    need.fields += fields_files(fields, length) * fields_need(fields, grid, settings.flow, {}).file;
  for (const io::ProbeSpec& probe : output.probes)
    need.probes += probe_samples(probe, length) * probe_need(probe, grid, settings.flow, {}).sample;
  for (const auto& [name, sampling, block_bytes] : sampling_needs(settings)) {
    if ((output.*sampling).enabled) need.samples += forecast(output.*sampling, length).blocks * block_bytes;
  }
  const auto further =
      static_cast<double>(further_forcing(settings.flow, {}).size() + further_diagnostics(settings.flow).size());
  need.time_series =
      (bytes_per_row + bytes_per_value * further) * length.steps / static_cast<double>(output.timeseries_every);
  return need;
}

}  // namespace sluice
