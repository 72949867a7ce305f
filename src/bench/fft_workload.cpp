// Benchmark of the distributed Fourier transform: random numbers, forward and inverse.
#include "core/device/buffer.hpp"
#include "core/device/flat_loops.hpp"
#include "core/support/collective.hpp"
#include "poisson/fft/distributed_fft.hpp"
#include "src/bench/round_trip.hpp"

namespace sluice {

namespace {

template <class Value>
using Named = std::pair<std::string, Value>;

const std::array<Named<FftDecomposition>, 3> decompositions{{{"slab_2d_1d", FftDecomposition::slab_2d_1d},
                                                             {"slab_1d_2d", FftDecomposition::slab_1d_2d},
                                                             {"pencil", FftDecomposition::pencil}}};
const std::array<Named<FftLayout>, 2> layouts{
    {{"contiguous", FftLayout::contiguous}, {"realigned", FftLayout::realigned}}};

template <class Value, std::size_t size>
Value named(const std::array<Named<Value>, size>& list, const std::string& name) {
  return std::ranges::find(list, name, &Named<Value>::first)->second;
}

class FftWorkload : public RoundTrip {
 public:
  FftWorkload(const RoundTripSetup& setup, const ExchangeSet& exchanges)
      : cells_(setup.cells),
        exchanges_(exchanges),
        fft_(MPI_COMM_WORLD, cells_, named(decompositions, setup.kind), named(layouts, setup.layout), setup.processes,
             exchanges) {
    run_collectively(MPI_COMM_WORLD, [&] {
      values_ = Buffer<real>(fft_.real_box().volume());
      coefficients_ = Buffer<std::complex<real>>(fft_.complex_elements());
    });
    // One exchange, or x to y pencils followed by y to z pencils.
    Box3 before = fft_.real_box();
    before.lo[0] = 0;
    before.hi[0] = cells_[0] / 2 + 1;
    const Box3& after = fft_.complex_box();
    Box3 between = before;
    if (setup.kind == "pencil") {
      between.lo[0] = after.lo[0];
      between.hi[0] = after.hi[0];
      between.lo[1] = 0;
      between.hi[1] = cells_[1];
    }
    bytes_ = bytes_between(before, between, sizeof(std::complex<real>)) +
             bytes_between(between, after, sizeof(std::complex<real>));
  }

  void prepare() override { fill_with_noise(values_.data(), values_.size()); }  // a round trip scales them by N
  Check check(std::uint64_t seed) override {
    return check_transform(*this, values_.data(), fft_.real_box(), cells_, seed);
  }
  void forward() override { fft_.forward(values_.data(), coefficients_.data()); }
  void backward() override { fft_.backward(coefficients_.data(), values_.data()); }
  double bytes_sent() const override { return bytes_; }
  double bytes_held() const override { return static_cast<double>(fft_.bytes()); }
  double operations() const override { return transform_operations(cells_); }
  PhaseTimers* timers() override { return &fft_.timers(); }
  std::vector<PieceTuning> piece_tuning() const override { return exchanges_.piece_tuning(); }

 private:
  Cells cells_;
  ExchangeSet exchanges_;
  DistributedFft fft_;
  Buffer<real> values_;
  Buffer<std::complex<real>> coefficients_;
  double bytes_ = 0;
};

}  // namespace

std::vector<RoundTripSetup> fft_setups(const BenchOptions& options, const Cells& cells, int ranks) {
  std::vector<RoundTripSetup> setups;
  const auto add = [&](const std::string& kind, const ProcessGrid& processes) {
    if (!options.kind.empty() && kind != options.kind) return;
    const bool in_rows = processes.py > 1;
    const bool in_columns = processes.pz > 1;
    for (const auto& [layout, value] : layouts) {
      if (options.layout.empty() || layout == options.layout)
        setups.push_back({cells, kind, layout, processes, in_rows, in_columns, {}});
    }
  };
  for (const auto& [name, decomposition] : decompositions) {
    if (decomposition != FftDecomposition::pencil) {
      add(name, {1, ranks});
      continue;
    }
    for (int py = 1; py <= ranks; ++py) {
      const bool wanted = options.process_grid.empty() ? py > 1 && py < ranks  // otherwise it is a slab
                                                       : options.process_grid[0] == py;
      if (ranks % py == 0 && wanted) add(name, {py, ranks / py});
    }
  }
  const bool asked_for = options.kind == baseline_kind || (options.kind.empty() && options.all);
  if (const std::string layout = baseline_layout(ranks); asked_for && !layout.empty())
    setups.push_back({cells, baseline_kind, layout, {1, ranks}, false, false, {}});
  return setups;
}

std::unique_ptr<RoundTrip> make_fft(const RoundTripSetup& setup, const ExchangeSet& exchanges) {
  if (setup.kind == baseline_kind) return make_baseline(setup.cells);
  return std::make_unique<FftWorkload>(setup, exchanges);
}

}  // namespace sluice
