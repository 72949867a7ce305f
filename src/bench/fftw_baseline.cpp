// FFTW's transform of real numbers in three dimensions, on one rank.
#include <complex>

#include "core/device/buffer.hpp"
#include "core/device/flat_loops.hpp"
#include "poisson/fft/fftw_plan.hpp"
#include "src/bench/round_trip.hpp"

namespace sluice {

namespace {

class FftwBaseline : public RoundTrip {
 public:
  explicit FftwBaseline(const Cells& cells)
      : cells_(cells),
        values_(cells[0] * cells[1] * cells[2]),
        coefficients_(modes() * cells[1] * cells[2]),
        forward_(axes(cells[0], modes()), values_.data(), coefficients_.data()),
        backward_(axes(modes(), cells[0]), coefficients_.data(), values_.data()) {}

  void prepare() override { fill_with_noise(values_.data(), values_.size()); }
  Check check(std::uint64_t seed) override {
    return check_transform(*this, values_.data(), box_of(cells_[0], cells_[1], cells_[2]), cells_, seed);
  }
  void forward() override { forward_.run(values_.data(), coefficients_.data()); }
  void backward() override { backward_.run(coefficients_.data(), values_.data()); }
  double bytes_sent() const override { return 0; }
  double operations() const override { return transform_operations(cells_); }

 private:
  std::int64_t modes() const { return cells_[0] / 2 + 1; }
  /// z, y and x of arrays with rows of these lengths.
  std::array<Fftw::Loop, 3> axes(std::int64_t row_in, std::int64_t row_out) const {
    const auto& [nx, ny, nz] = cells_;
    return {{{nz, ny * row_in, ny * row_out}, {ny, row_in, row_out}, {nx, 1, 1}}};
  }

  Cells cells_;
  Buffer<real> values_;
  Buffer<std::complex<real>> coefficients_;
  FftwPlan forward_, backward_;
};

}  // namespace

const char* const baseline_kind = "fftw";

std::string baseline_layout(int ranks) {
  return ranks == 1 ? "contiguous" : "";
}

std::unique_ptr<RoundTrip> make_baseline(const Cells& cells) {
  return std::make_unique<FftwBaseline>(cells);
}

}  // namespace sluice
