// statistics.h5: profiles across the channel. With time.until, whether they are accurate enough.
#include "solver/statistics/statistics.hpp"

#include <fmt/format.h>

#include "model/accuracy.hpp"
#include "model/key_figures.hpp"
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

}  // namespace

std::unique_ptr<Observer> make_statistics(const RunContext& run) {
  return make_sampler<StatisticsObserver>(run, statistics_output);
}

}  // namespace sluice
