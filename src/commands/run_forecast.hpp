#pragma once
// What a run will take and give, before it starts: samples, blocks, accuracy, wall time, disk space.
#include <array>
#include <cstdint>
#include <string>

#include "io/case/case.hpp"
#include "model/parameters.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// A run from time 0 with a constant step.
struct RunLength {
  double dt, steps, time;
  bool to_a_time;  ///< `time` is the case's, and the last step may end later; else it is as uncertain as dt

  double last_time() const { return steps * dt; }
};
RunLength expected_length(const io::TimeSpec& time, double dt);

/// The number of checkpoints that a run writes: those that are due before its end, and one at the end.
double checkpoints_written(const io::OutputSpec& output, const RunLength& length);

/// Each kind of samples that a run can take: its name in `output`, and the bytes of a block in its file.
struct SamplingNeed {
  const char* name;
  io::SamplingSpec io::OutputSpec::*sampling;
  double block_bytes;
};
std::array<SamplingNeed, 3> sampling_needs(const io::Case& settings);

/// What a run samples for statistics, spectra or densities.
struct SamplingForecast {
  double samples = 0;
  double blocks = 0;       ///< closed before the end; the others are not written
  double time = 0;         ///< simulation time of these blocks
  double wasted_time = 0;  ///< from the last of these blocks to the end
};
SamplingForecast forecast(const io::SamplingSpec& sampling, const RunLength& length);

/// Host memory of rank 0 in bytes, at the end of a run and in a restart: it holds all blocks.
double blocks_memory(const io::Case& settings, const RunLength& length);

double probe_samples(const io::ProbeSpec& probe, const RunLength& length);
double fields_files(const io::FieldsSpec& fields, const RunLength& length);

/// Minimum number of blocks for 95 % intervals.
inline constexpr double min_blocks_of_interval = 8;

/// What is wrong with samples that are never written, or with fewer than `least_blocks` blocks, and what to change;
/// empty if nothing is. Following the advice removes it. `name`: of the section in `output`.
std::string sampling_advice(const std::string& name, const io::SamplingSpec& sampling, const RunLength& length,
                            double least_blocks);

/// Half width of the 95 % interval of Re_tau, as a fraction of Re_tau, after averaging over a time of `averaging`
/// h/u_tau; see docs/check.md. Rough: within a factor of 2 of the intervals of runs near
/// Re_tau = 180.
double expected_interval(const Grid& grid, const FlowParameters& flow, double averaging);

/// ns per point and step on so many ranks: those of docs/check.md.
double usual_speed(const FlowParameters& flow, int ranks);

/// Files at the end of a run, in bytes.
struct DiskNeed {
  double checkpoints, kept;  ///< `kept`: number of checkpoints
  double slices, slice_times;
  double fields;
  double probes;
  double samples;  ///< statistics, spectra and densities
  double time_series;

  double total() const { return checkpoints + slices + fields + probes + samples + time_series; }
};
DiskNeed disk_need(const io::Case& settings, const Grid& grid, const RunLength& length);

struct OutputTime {
  double samples = 0;      ///< seconds of sampling and of the time series
  double blocks = 0;       ///< of writing blocks of statistics, spectra and densities
  double checkpoints = 0;  ///< of writing them
  double others = 0;       ///< of writing slices, fields, probes and time series

  double total() const { return samples + blocks + checkpoints + others; }
};

/// `step`: seconds of a step. Rough: samples as measured in docs/performance.md, files on a local disk.
OutputTime expected_output(const io::Case& settings, const Grid& grid, const RunLength& length, double step);

}  // namespace sluice
