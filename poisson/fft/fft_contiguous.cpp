// Distributed transforms with x the fastest axis throughout. All steps use the caller's complex array, here a, and the
// buffers of the exchange.
#include "core/support/collective.hpp"
#include "poisson/fft/fft_pipeline.hpp"

namespace sluice {

namespace {

using namespace fft_steps;

/// Egger (2021), sec. 4.4, Default; on 1 x P ranks sec. 4.2, Default: then the first redistribution does nothing.
class ContiguousPencils : public FftPipeline {
 public:
  explicit ContiguousPencils(const FftPlace& place)
      : FftPipeline(place, {rows, columns, lines}),
        to_columns_(place.within_planes(rows, columns, x_fastest, Loops::both)),
        to_lines_(place.across_planes(columns, lines, x_fastest, Loops::pack)),
        from_lines_(place.across_planes(lines, columns, x_fastest, Loops::unpack)),
        from_columns_(place.within_planes(columns, rows, x_fastest, Loops::both)) {
    run_collectively(place.comm.world(), [&] {
      x_ = AxisFft::along_x(values(), x_fastest, place.timers);
      y_ = AxisFft::along(1, place.own(columns), x_fastest, x_fastest, place.timers);
      z_ = AxisFft::along(2, place.own(lines), x_fastest, x_fastest, place.timers);
    });
  }

  void forward(const real* in, Complex* a) override {
    x_.forward(in, a);
    to_columns_.run(a, a);
    y_.forward(a, a);
    Complex* const arrived = to_lines_.run(a, a);
    z_.forward(arrived, a);
  }

  void backward(Complex* a, real* out) override {
    Complex* const blocks = from_lines_.open(a, a);
    z_.backward(a, blocks);
    from_lines_.run(blocks, a);
    y_.backward(a, a);
    from_columns_.run(a, a);
    x_.backward(a, out);
  }

 private:
  std::vector<const Redistribution*> redistributions() const override {
    return {&to_columns_, &to_lines_, &from_lines_, &from_columns_};
  }

  Redistribution to_columns_, to_lines_, from_lines_, from_columns_;
};

/// Egger (2021), sec. 4.3, Default.
class ContiguousSlab1d2d : public FftPipeline {
 public:
  explicit ContiguousSlab1d2d(const FftPlace& place)
      : FftPipeline(place, {rows, sheets}),
        to_sheets_(place.across_planes(rows, sheets, x_fastest, Loops::pack)),
        from_sheets_(place.across_planes(sheets, rows, x_fastest, Loops::unpack)) {
    run_collectively(place.comm.world(), [&] {
      x_ = AxisFft::along_x(values(), x_fastest, place.timers);
      y_ = AxisFft::along(1, place.own(sheets), x_fastest, x_fastest, place.timers);
      z_ = AxisFft::along(2, place.own(sheets), x_fastest, x_fastest, place.timers);
    });
  }

  void forward(const real* in, Complex* a) override {
    x_.forward(in, a);
    Complex* const arrived = to_sheets_.run(a, a);
    y_.forward(arrived, a);
    z_.forward(a, a);
  }

  void backward(Complex* a, real* out) override {
    z_.backward(a, a);
    Complex* const blocks = from_sheets_.open(a, a);
    y_.backward(a, blocks);
    from_sheets_.run(blocks, a);
    x_.backward(a, out);
  }

 private:
  std::vector<const Redistribution*> redistributions() const override { return {&to_sheets_, &from_sheets_}; }

  Redistribution to_sheets_, from_sheets_;
};

}  // namespace

std::unique_ptr<FftPipeline> make_contiguous(FftDecomposition decomposition, const FftPlace& place) {
  if (decomposition == FftDecomposition::slab_1d_2d) return std::make_unique<ContiguousSlab1d2d>(place);
  return std::make_unique<ContiguousPencils>(place);
}

}  // namespace sluice
