// Batches of Fourier transforms by FFTW: all loops in one plan, except for columns, which are copied.
#include <array>
#include <optional>

#include "core/support/error.hpp"
#include "poisson/fft/batched_fft.hpp"
#include "poisson/fft/fft_columns.hpp"
#include "poisson/fft/fftw_plan.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

/// Replaces the arrays during planning: FFTW only checks alignment and whether the two are the same.
struct alignas(64) Placeholder {
  std::array<real, 16> values;
  real* as_real() { return values.data(); }
  FftwComplex* as_complex() { return reinterpret_cast<FftwComplex*>(values.data()); }
};

FftwPlan make_plan(FftKind kind, const FftBatch& batch, bool in_place) {
  const Fftw::Loop line{batch.length, batch.stride_in, batch.stride_out};
  std::array<Fftw::Loop, 2> loops;
  for (std::size_t n = 0; n < loops.size(); ++n)
    loops[n] = {batch.loops[n].count, batch.loops[n].distance_in, batch.loops[n].distance_out};
  Placeholder first, second;
  Placeholder& out = in_place ? first : second;
  switch (kind) {
    case FftKind::real_to_complex:
      return FftwPlan(Fftw::r2c(line, 2, loops.data(), first.as_real(), out.as_complex()));
    case FftKind::complex_to_real:
      return FftwPlan(Fftw::c2r(line, 2, loops.data(), first.as_complex(), out.as_real()));
    default:
      return FftwPlan(Fftw::c2c(line, 2, loops.data(), first.as_complex(), out.as_complex(),
                                kind == FftKind::forward ? FFTW_FORWARD : FFTW_BACKWARD));
  }
}

void require_aligned(const void* in, const void* out) {
  SLUICE_REQUIRE(reinterpret_cast<std::uintptr_t>(in) % 16 == 0 && reinterpret_cast<std::uintptr_t>(out) % 16 == 0,
                 "arrays of transforms must begin at multiples of 16 bytes");
}

}  // namespace

struct BatchedFft::Plans {
  Plans(FftKind kind_of_all, const FftBatch& batch) : kind(kind_of_all), columns(batch.make_columns(kind_of_all)) {
    if (columns) return;
    apart.emplace(make_plan(kind, batch, false));
    if (batch.in_place(kind)) same.emplace(make_plan(kind, batch, true));
  }

  template <class In, class Out>
  void run(In* in, Out* out) const {
    require_aligned(in, out);
    const bool in_place = static_cast<const void*>(in) == static_cast<const void*>(out);
    SLUICE_REQUIRE(!in_place || same.has_value(), "these transforms cannot run in place");
    Fftw::execute(in_place ? *same : *apart, in, out);
  }

  FftKind kind;
  std::unique_ptr<ColumnFourier> columns;
  std::optional<FftwPlan> apart;  ///< for two arrays
  std::optional<FftwPlan> same;   ///< for one array, if possible
};

BatchedFft::BatchedFft() = default;

BatchedFft::BatchedFft(FftKind kind, const FftBatch& batch) {
  if (!batch.empty()) plans_ = std::make_unique<Plans>(kind, batch.merged());
}

BatchedFft::BatchedFft(BatchedFft&&) noexcept = default;
BatchedFft& BatchedFft::operator=(BatchedFft&&) noexcept = default;
BatchedFft::~BatchedFft() = default;

void BatchedFft::run(const real* in, Complex* out) {
  if (!plans_) return;
  SLUICE_REQUIRE(plans_->kind == FftKind::real_to_complex, "the plan is not one from real values");
  plans_->run(const_cast<real*>(in), fftw(out));  // FFTW does not change it, unless in place
}

void BatchedFft::run(Complex* in, real* out) {
  if (!plans_) return;
  SLUICE_REQUIRE(plans_->kind == FftKind::complex_to_real, "the plan is not one to real values");
  plans_->run(fftw(in), out);
}

void BatchedFft::run(Complex* in, Complex* out) {
  if (!plans_) return;
  SLUICE_REQUIRE(plans_->kind == FftKind::forward || plans_->kind == FftKind::backward,
                 "the plan is not one between complex values");
  if (plans_->columns) {
    require_aligned(in, out);
    plans_->columns->run(in, out, plans_->kind == FftKind::forward);
    return;
  }
  plans_->run(fftw(in), fftw(out));
}

std::size_t BatchedFft::work_bytes() const {
  return 0;
}

}  // namespace sluice
