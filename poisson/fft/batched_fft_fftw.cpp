// Batches of Fourier transforms by FFTW: all loops in one plan.
#include <array>

#include "poisson/fft/batched_fft.hpp"
#include "poisson/fft/fftw_plan.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

/// Replaces the arrays during planning.
struct alignas(64) Placeholder {
  std::array<real, 16> values;
  real* as_real() { return values.data(); }
  Complex* as_complex() { return reinterpret_cast<Complex*>(values.data()); }
};

FftwPlan make_plan(FftKind kind, const FftBatch& batch, bool in_place) {
  const Fftw::Loop line{batch.length, batch.stride_in, batch.stride_out};
  std::array<Fftw::Loop, 3> loops;
  for (std::size_t n = 0; n < loops.size(); ++n)
    loops[n] = {batch.loops[n].count, batch.loops[n].distance_in, batch.loops[n].distance_out};
  Placeholder first, second;
  Placeholder& out = in_place ? first : second;
  switch (kind) {
    case FftKind::real_to_complex:
      return {line, loops, first.as_real(), out.as_complex()};
    case FftKind::complex_to_real:
      return {line, loops, first.as_complex(), out.as_real()};
    default:
      return {line, loops, first.as_complex(), out.as_complex(),
              kind == FftKind::forward ? FFTW_FORWARD : FFTW_BACKWARD};
  }
}

class FftwBatch : public FftPlan {
 public:
  FftwBatch(FftKind kind, const FftBatch& batch) : kind_(kind), apart_(make_plan(kind, batch, false)) {
    if (batch.in_place(kind)) same_ = make_plan(kind, batch, true);
  }

  void run(void* in, void* out) override {
    const FftwPlan& plan = in == out ? same_ : apart_;
    switch (kind_) {
      case FftKind::real_to_complex:
        return plan.run(static_cast<real*>(in), static_cast<Complex*>(out));
      case FftKind::complex_to_real:
        return plan.run(static_cast<Complex*>(in), static_cast<real*>(out));
      default:
        return plan.run(static_cast<Complex*>(in), static_cast<Complex*>(out));
    }
  }

 private:
  FftKind kind_;
  FftwPlan apart_, same_;  ///< for two arrays, and for one if the batch allows it
};

}  // namespace

std::unique_ptr<FftPlan> FftPlan::make(FftKind kind, const FftBatch& batch, const FftWork& /*work*/) {
  return std::make_unique<FftwBatch>(kind, batch);
}

}  // namespace sluice
