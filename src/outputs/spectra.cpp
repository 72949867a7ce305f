// spectra.h5: spectra along x and y.
#include "solver/statistics/spectra.hpp"

#include "src/outputs/block_observer.hpp"

namespace sluice {

namespace {

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

}  // namespace

std::unique_ptr<Observer> make_spectra(const RunContext& run) {
  return make_sampler<SpectraObserver>(run, spectra_output);
}

}  // namespace sluice
