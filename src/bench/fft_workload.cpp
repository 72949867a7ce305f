// Benchmark of the distributed Fourier transform: random numbers, forward and inverse.
#include <optional>

#include "core/device/buffer.hpp"
#include "core/device/flat_loops.hpp"
#include "core/support/collective.hpp"
#include "poisson/fft/distributed_fft.hpp"
#include "src/bench/known_spectrum.hpp"
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

/// `Value`: real or complex, in space.
template <class Value>
class FftWorkload : public RoundTrip {
 public:
  FftWorkload(const RoundTripSetup& setup, const ExchangeSet& exchanges)
      : cells_(setup.cells),
        fields_(setup.fields),
        exchanges_(exchanges),
        fft_(MPI_COMM_WORLD, cells_, named(decompositions, setup.kind), named(layouts, setup.layout), setup.processes,
             exchanges, fields_) {
    run_collectively(MPI_COMM_WORLD, [&] {
      values_ = Buffer<Value>(fft_.real_elements());
      coefficients_ = Buffer<std::complex<real>>(fft_.complex_elements());
    });
    // One exchange, or x to y pencils followed by y to z pencils.
    Box3 before = fft_.real_box();
    before.lo[0] = 0;
    before.hi[0] = fields_.type == FftType::real_to_complex ? cells_[0] / 2 + 1 : cells_[0];
    const Box3& after = fft_.complex_box();
    Box3 between = before;
    if (setup.kind == "pencil") {
      between.lo[0] = after.lo[0];
      between.hi[0] = after.hi[0];
      between.lo[1] = 0;
      between.hi[1] = cells_[1];
    }
    bytes_ = fields_.count * (bytes_between(before, between, sizeof(std::complex<real>)) +
                              bytes_between(between, after, sizeof(std::complex<real>)));
  }

  void prepare() override {  // a round trip scales them by N
    fill_with_noise(reinterpret_cast<real*>(values_.data()), values_.bytes() / sizeof(real));
  }
  Check check(std::uint64_t seed) override {
    const auto known = [&](int field) { return KnownField(seed_of(seed, field), cells_); };
    for (int field = 0; field < fields_.count; ++field) known(field).write(values_of(field), fft_.real_box());
    run();
    return worst_of_fields([&](int field) {
      return check_of_error(known(field).deviation(values_of(field), fft_.real_box(), points_of(cells_)), cells_);
    });
  }
  std::optional<Check> check_coefficients(std::uint64_t seed) override {
    std::optional<KnownSpectrum> known;
    run_collectively(MPI_COMM_WORLD, [&] { known.emplace(seed, cells_, fields_.type); });
    const auto factor = [](int field) { return 1.0 / (1 + field); };
    for (int field = 0; field < fields_.count; ++field) known->write(values_of(field), fft_.real_box(), factor(field));
    forward();
    return worst_of_fields([&](int field) {
      return check_of_coefficients(known->deviation(coefficients_of(field), fft_.complex_box(), factor(field)), cells_);
    });
  }
  void forward() override { fft_.forward(values_.data(), coefficients_.data()); }
  void backward() override { fft_.backward(coefficients_.data(), values_.data()); }
  double bytes_sent() const override { return bytes_; }
  double bytes_held() const override { return static_cast<double>(fft_.bytes()); }
  double operations() const override { return fields_.count * transform_operations(cells_); }
  void restart_timers() override {
    fft_.enable_timers();
    fft_.reset_timers();
  }
  std::vector<DistributedFft::Part> parts() override { return fft_.parts(); }
  std::vector<PieceTuning> piece_tuning() const override { return exchanges_.piece_tuning(); }

 private:
  /// Different in each field of a check, and in each check.
  std::uint64_t seed_of(std::uint64_t seed, int field) const {
    return seed * static_cast<std::uint64_t>(fields_.count) + static_cast<std::uint64_t>(field);
  }
  template <class OfField>
  Check worst_of_fields(const OfField& check_of) const {
    Check worst;
    for (int field = 0; field < fields_.count; ++field) {
      Check check = check_of(field);
      if (!check.fault.empty() && fields_.count > 1)
        check.fault = "field " + std::to_string(field + 1) + ": " + check.fault;
      if (check.error > worst.error) worst = check;
    }
    return worst;
  }
  View3<Value> values_of(int field) {
    const Box3& box = fft_.real_box();
    const std::size_t first = static_cast<std::size_t>(field) * fft_.real_distance();
    return contiguous_view(values_.data() + first, box.nx(), box.ny(), box.nz());
  }
  View3<const std::complex<real>> coefficients_of(int field) const {
    const Box3& box = fft_.complex_box();
    return contiguous_view(coefficients_.data() + field * box.volume(), box.nx(), box.ny(), box.nz());
  }

  Cells cells_;
  FftFields fields_;
  ExchangeSet exchanges_;
  DistributedFft fft_;
  Buffer<Value> values_;
  Buffer<std::complex<real>> coefficients_;
  double bytes_ = 0;
};

}  // namespace

std::vector<RoundTripSetup> fft_setups(const BenchOptions& options, const Cells& cells, int ranks) {
  std::vector<RoundTripSetup> setups;
  const FftFields fields{options.values == "real" ? FftType::real_to_complex : FftType::complex_to_complex,
                         options.fields};
  const auto add = [&](const std::string& kind, const ProcessGrid& processes) {
    if (!options.kind.empty() && kind != options.kind) return;
    const bool in_rows = processes.py > 1;
    const bool in_columns = processes.pz > 1;
    for (const auto& [layout, value] : layouts) {
      if (options.layout.empty() || layout == options.layout)
        setups.push_back({cells, kind, layout, processes, in_rows, in_columns, {}, fields});
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
  const bool transforms_them = fields.type == FftType::real_to_complex && fields.count == 1;
  if (const std::string layout = baseline_layout(ranks); asked_for && transforms_them && !layout.empty())
    setups.push_back({cells, baseline_kind, layout, {1, ranks}, false, false});
  return setups;
}

std::unique_ptr<RoundTrip> make_fft(const RoundTripSetup& setup, const ExchangeSet& exchanges) {
  if (setup.kind == baseline_kind) return make_baseline(setup.cells);
  if (setup.fields.type == FftType::complex_to_complex)
    return std::make_unique<FftWorkload<std::complex<real>>>(setup, exchanges);
  return std::make_unique<FftWorkload<real>>(setup, exchanges);
}

}  // namespace sluice
