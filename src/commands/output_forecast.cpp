#include "src/commands/output_forecast.hpp"

#include <algorithm>
#include <cmath>

#include "io/files/statistics_file.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/fields.hpp"
#include "src/outputs/probes.hpp"

namespace sluice {

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
