// Batches of Fourier transforms on a GPU: neighbouring columns by our own kernels, all others by cuFFT. A cuFFT plan
// has one loop over transforms; the other one is a loop of launches.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/support/error.hpp"
#include "poisson/fft/batched_fft.hpp"
#include "poisson/fft/cufft_plan.hpp"
#include "poisson/fft/fft_columns.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

cufftType type_of(FftKind kind) {
  if (kind == FftKind::real_to_complex) return Cufft::real_to_complex;
  if (kind == FftKind::complex_to_real) return Cufft::complex_to_real;
  return Cufft::complex_to_complex;
}

/// Whether `first` should be the loop within a launch: that over neighbours in memory, unless the other one is much
/// longer.
bool suits_launch(const FftLoop& first, const FftLoop& second) {
  constexpr std::int64_t much_longer = 4;
  if (first.count > much_longer * second.count) return true;
  if (second.count > much_longer * first.count) return false;
  return first.distance_in + first.distance_out <= second.distance_in + second.distance_out;
}

bool aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
}

}  // namespace

struct BatchedFft::Plans {
  Plans(FftKind kind_of_all, const FftBatch& all)
      : kind(kind_of_all),
        batch(all),
        type(type_of(kind)),
        together(all.loops[0].count),
        columns(all.make_columns(kind_of_all)) {
    if (columns) return;
    if (!suits_launch(batch.loops[0], batch.loops[1])) std::swap(batch.loops[0], batch.loops[1]);
    const FftLoop& launches = batch.loops[1];
    const bool even_in = kind != FftKind::real_to_complex || launches.distance_in % 2 == 0;
    const bool even_out = kind != FftKind::complex_to_real || launches.distance_out % 2 == 0;
    SLUICE_REQUIRE(launches.count == 1 || (even_in && even_out),
                   "transforms of real values in several launches must begin at even elements");
    together = batch.loops[0].count;
    while (together > 2 && CufftPlan::work_size(type, launch_of(together)) > cufft_work_limit)
      together = (together / 2 + 1) / 2 * 2;  // even, for the same reason
    whole = CufftPlan(type, launch_of(together));
    work = CufftPlan::work_size(type, launch_of(together));
    if (const std::int64_t rest_count = batch.loops[0].count % together; rest_count > 0) {
      rest = CufftPlan(type, launch_of(rest_count));
      work += CufftPlan::work_size(type, launch_of(rest_count));
    }
  }

  CufftBatch launch_of(std::int64_t count) const {
    return {batch.length,
            batch.stride_in,
            batch.stride_out,
            std::max<std::int64_t>(1, batch.loops[0].distance_in),
            std::max<std::int64_t>(1, batch.loops[0].distance_out),
            count};
  }

  template <class In, class Out>
  void require_arrays(In* in, Out* out) const {
    SLUICE_REQUIRE(aligned(in) && aligned(out), "arrays of transforms must begin at multiples of 16 bytes");
    SLUICE_REQUIRE(static_cast<const void*>(in) != static_cast<const void*>(out) || batch.in_place(kind),
                   "these transforms cannot run in place");
  }

  /// Calls execute(plan, in, out) for each launch.
  template <class In, class Out, class Execute>
  void run(In* in, Out* out, const Execute& execute) const {
    require_arrays(in, out);
    const auto& [within, launches] = batch.loops;
    for (std::int64_t n = 0; n < launches.count; ++n) {
      for (std::int64_t m = 0; m < within.count; m += together) {
        const CufftPlan& plan = within.count - m >= together ? whole : rest;
        check_cufft(execute(plan.handle(), in + n * launches.distance_in + m * within.distance_in,
                            out + n * launches.distance_out + m * within.distance_out),
                    "cuFFT");
      }
    }
  }

  FftKind kind;
  FftBatch batch;  ///< loops[0] within a launch
  cufftType type;
  std::int64_t together;  ///< transforms in one launch: as many as work memory allows
  std::unique_ptr<ColumnFourier> columns;
  CufftPlan whole, rest;
  std::size_t work = 0;
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
  // cuFFT does not change the input, unless the transform is in place.
  plans_->run(const_cast<real*>(in), out, [](cufftHandle plan, real* values, Complex* coefficients) {
    return Cufft::execute(plan, values, cufft(coefficients));
  });
}

void BatchedFft::run(Complex* in, real* out) {
  if (!plans_) return;
  SLUICE_REQUIRE(plans_->kind == FftKind::complex_to_real, "the plan is not one to real values");
  plans_->run(in, out, [](cufftHandle plan, Complex* coefficients, real* values) {
    return Cufft::execute(plan, cufft(coefficients), values);
  });
}

void BatchedFft::run(Complex* in, Complex* out) {
  if (!plans_) return;
  SLUICE_REQUIRE(plans_->kind == FftKind::forward || plans_->kind == FftKind::backward,
                 "the plan is not one between complex values");
  if (plans_->columns) {
    plans_->require_arrays(in, out);
    plans_->columns->run(in, out, plans_->kind == FftKind::forward);
    return;
  }
  const int direction = plans_->kind == FftKind::forward ? CUFFT_FORWARD : CUFFT_INVERSE;
  plans_->run(in, out, [direction](cufftHandle plan, Complex* from, Complex* to) {
    return Cufft::execute(plan, cufft(from), cufft(to), direction);
  });
}

std::size_t BatchedFft::work_bytes() const {
  return plans_ ? plans_->work : 0;
}

}  // namespace sluice
