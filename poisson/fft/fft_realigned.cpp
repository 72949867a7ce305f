// Distributed transforms that change the memory order, so that blocks need no packing forward and no unpacking
// backward. Steps alternate between the caller's complex array, here a, and a work array, w; a transform that changes
// the order of memory cannot work in place.
#include "core/support/collective.hpp"
#include "poisson/fft/fft_pipeline.hpp"

namespace sluice {

namespace {

using namespace fft_steps;

/// Egger (2021), sec. 4.2, Realigned: z fastest between the transforms along y and z.
class RealignedSlab2d1d : public FftPipeline {
 public:
  explicit RealignedSlab2d1d(const FftPlace& place)
      : FftPipeline(place, {columns, lines}),
        to_lines_(place.across_planes(columns, lines, z_fastest, Loops::unpack)),
        from_lines_(place.across_planes(lines, columns, z_fastest, Loops::pack)) {
    run_collectively(place.comm.world(), [&] {
      x_ = AxisFft::along_x(values(), x_fastest, place.timers);
      y_ = AxisFft::along(1, place.own(columns), x_fastest, z_fastest, place.timers);
      z_ = AxisFft::along(2, place.own(lines), z_fastest, x_fastest, place.timers);
      work_ = Buffer<Complex>(room());
    });
  }

  void forward(const real* in, Complex* a) override {
    Complex* const w = work_.data();
    x_.forward(in, a);
    Complex* const blocks = to_lines_.open(w, w);
    y_.forward(a, blocks);
    to_lines_.run(blocks, w);
    z_.forward(w, a);
  }

  void backward(Complex* a, real* out) override {
    Complex* const w = work_.data();
    z_.backward(a, w);
    Complex* const arrived = from_lines_.run(w, w);
    y_.backward(arrived, a);
    x_.backward(a, out);
  }

 private:
  std::vector<const Redistribution*> redistributions() const override { return {&to_lines_, &from_lines_}; }

  Redistribution to_lines_, from_lines_;
};

/// Egger (2021), sec. 4.3, Realigned: y fastest between the transforms along x and y.
class RealignedSlab1d2d : public FftPipeline {
 public:
  explicit RealignedSlab1d2d(const FftPlace& place)
      : FftPipeline(place, {rows, sheets}),
        to_sheets_(place.across_planes(rows, sheets, y_fastest, Loops::unpack)),
        from_sheets_(place.across_planes(sheets, rows, y_fastest, Loops::pack)) {
    run_collectively(place.comm.world(), [&] {
      x_ = AxisFft::along_x(values(), y_fastest, place.timers);
      y_ = AxisFft::along(1, place.own(sheets), y_fastest, x_fastest, place.timers);
      z_ = AxisFft::along(2, place.own(sheets), x_fastest, x_fastest, place.timers);
      work_ = Buffer<Complex>(room());
    });
  }

  void forward(const real* in, Complex* a) override {
    Complex* const w = work_.data();
    Complex* const blocks = to_sheets_.open(w, w);
    x_.forward(in, blocks);
    to_sheets_.run(blocks, w);
    y_.forward(w, a);
    z_.forward(a, a);
  }

  void backward(Complex* a, real* out) override {
    Complex* const w = work_.data();
    z_.backward(a, a);
    y_.backward(a, w);
    Complex* const arrived = from_sheets_.run(w, w);
    x_.backward(arrived, out);
  }

 private:
  std::vector<const Redistribution*> redistributions() const override { return {&to_sheets_, &from_sheets_}; }

  Redistribution to_sheets_, from_sheets_;
};

/// Egger (2021), sec. 4.4, Realigned: y fastest between the transforms along x and y, z fastest between those along y
/// and z.
class RealignedPencils : public FftPipeline {
 public:
  explicit RealignedPencils(const FftPlace& place)
      : FftPipeline(place, {rows, columns, lines}),
        to_columns_(place.within_planes(rows, columns, y_fastest, Loops::unpack)),
        to_lines_(place.across_planes(columns, lines, z_fastest, Loops::unpack)),
        from_lines_(place.across_planes(lines, columns, z_fastest, Loops::pack)),
        from_columns_(place.within_planes(columns, rows, y_fastest, Loops::pack)) {
    run_collectively(place.comm.world(), [&] {
      x_ = AxisFft::along_x(values(), y_fastest, place.timers);
      y_ = AxisFft::along(1, place.own(columns), y_fastest, z_fastest, place.timers);
      z_ = AxisFft::along(2, place.own(lines), z_fastest, x_fastest, place.timers);
      work_ = Buffer<Complex>(room());
    });
  }

  void forward(const real* in, Complex* a) override {
    Complex* const w = work_.data();
    Complex* const blocks_of_rows = to_columns_.open(a, w);
    x_.forward(in, blocks_of_rows);
    to_columns_.run(blocks_of_rows, a);
    Complex* const blocks_of_columns = to_lines_.open(w, w);
    y_.forward(a, blocks_of_columns);
    to_lines_.run(blocks_of_columns, w);
    z_.forward(w, a);
  }

  void backward(Complex* a, real* out) override {
    Complex* const w = work_.data();
    z_.backward(a, w);
    Complex* const columns_arrived = from_lines_.run(w, w);
    y_.backward(columns_arrived, a);
    Complex* const rows_arrived = from_columns_.run(a, a);
    x_.backward(rows_arrived, out);
  }

 private:
  std::vector<const Redistribution*> redistributions() const override {
    return {&to_columns_, &to_lines_, &from_lines_, &from_columns_};
  }

  Redistribution to_columns_, to_lines_, from_lines_, from_columns_;
};

}  // namespace

std::unique_ptr<FftPipeline> make_realigned(FftDecomposition decomposition, const FftPlace& place) {
  switch (decomposition) {
    case FftDecomposition::slab_2d_1d:
      return std::make_unique<RealignedSlab2d1d>(place);
    case FftDecomposition::slab_1d_2d:
      return std::make_unique<RealignedSlab1d2d>(place);
    default:
      return std::make_unique<RealignedPencils>(place);
  }
}

}  // namespace sluice
