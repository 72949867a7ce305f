// densities.h5: histograms and quadrants.
#include "solver/statistics/densities.hpp"

#include "src/outputs/block_observer.hpp"

namespace sluice {

namespace {

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

std::unique_ptr<Observer> make_densities(const RunContext& run) {
  return make_sampler<DensitiesObserver>(run, densities_output);
}

}  // namespace sluice
