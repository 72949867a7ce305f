// Samples summed in blocks of time: statistics.h5 with profiles across the channel, which also tell whether they are
// accurate enough for time.until; spectra.h5 along x and y; densities.h5 with histograms and quadrants.
#include <fmt/format.h>

#include "model/accuracy.hpp"
#include "model/key_figures.hpp"
#include "solver/statistics/densities.hpp"
#include "solver/statistics/spectra.hpp"
#include "solver/statistics/statistics.hpp"
#include "src/outputs/block_observer.hpp"
#include "src/outputs/sampled_file.hpp"

namespace sluice {

namespace {

class StatisticsObserver : public BlockObserver {
 public:
  explicit StatisticsObserver(const RunContext& run)
      : BlockObserver(run, statistics_output, profiles_),
        profiles_(run.simulation.grid, run.simulation.stepper.metrics(), run.simulation.flow,
                  run.simulation.stepper.walls(), run.simulation.box(),
                  statistics_content(run.simulation.settings.output), run.simulation.comm.world()),
        figures_(statistics_flow(run.simulation.settings, run.simulation.grid.z_nodes()), profiles_.profiles()) {}

 private:
  void sample() override { profiles_.sample(run().flow.state(), run().simulation.forcing.x); }

  void judge(std::span<const StatisticsBlock> blocks) override {
    const io::TimeSpec& time = run().simulation.settings.time;
    if (blocks.empty() || time.until == AccuracyLimits{}) return;
    run().accuracy = assess(figures_, time.until, blocks);
    const bool too_late = time.end && !run().accuracy->reached && run().accuracy->expected_time > *time.end;
    run().log.line(summary(*run().accuracy) + (too_late ? fmt::format(", after time.end {:g}", *time.end) : ""));
  }

  Statistics profiles_;
  KeyFigures figures_;
};

class SpectraObserver : public BlockObserver {
 public:
  explicit SpectraObserver(const RunContext& run)
      : BlockObserver(run, spectra_output, spectra_),
        spectra_(run.simulation.flow, run.simulation.comm, run.simulation.decomposition,
                 planes_nearest_to(run.simulation.settings.output.spectra.heights, run.simulation.grid)) {}

 private:
  void sample() override { run().flow.sample(spectra_); }

  Spectra spectra_;
};

class DensitiesObserver : public BlockObserver {
 public:
  explicit DensitiesObserver(const RunContext& run)
      : BlockObserver(run, densities_output, densities_),
        densities_(run.simulation.grid, run.simulation.stepper.metrics(), run.simulation.flow,
                   run.simulation.stepper.walls(), run.simulation.box(),
                   planes_nearest_to(run.simulation.settings.output.densities.heights, run.simulation.grid).faces,
                   run.simulation.comm.world()) {}

 private:
  void sample() override { densities_.sample(run().flow.state(), run().simulation.forcing.x); }

  Densities densities_;
};

}  // namespace

std::unique_ptr<Observer> make_statistics(const RunContext& run) {
  return make_sampler<StatisticsObserver>(run, statistics_output);
}

std::unique_ptr<Observer> make_spectra(const RunContext& run) {
  return make_sampler<SpectraObserver>(run, spectra_output);
}

std::unique_ptr<Observer> make_densities(const RunContext& run) {
  return make_sampler<DensitiesObserver>(run, densities_output);
}

}  // namespace sluice
