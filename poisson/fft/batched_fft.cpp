#include "poisson/fft/batched_fft.hpp"

#include <algorithm>

#include "core/support/error.hpp"
#include "poisson/fft/fft_columns.hpp"

namespace sluice {

namespace {

/// For transforms of columns that are neighbours in memory with the same layout on both sides, if there is a kernel for
/// their length; else null.
std::unique_ptr<SplitColumnFourier> make_columns(FftKind kind, const FftBatch& batch) {
  constexpr std::int64_t fewest = 8;  // columns that fill one memory access
  constexpr std::int64_t max_length = std::int64_t{1} << 30;
  const bool from_complex = kind == FftKind::forward || kind == FftKind::backward;
  if (batch.loops[2].count > 1) return nullptr;
  const bool neighbours_first = batch.loops[0].distance_in == 1;
  const FftLoop& within = batch.loops[neighbours_first ? 0 : 1];
  const FftLoop& planes = batch.loops[neighbours_first ? 1 : 0];
  if (!from_complex || !batch.in_place(kind) || within.distance_in != 1 || within.count < fewest) return nullptr;
  if (batch.length > max_length || within.count * planes.count > max_length) return nullptr;
  return SplitColumnFourier::make(static_cast<int>(within.count), static_cast<int>(batch.length),
                                  static_cast<int>(planes.count), batch.stride_in, planes.distance_in);
}

}  // namespace

bool FftBatch::empty() const {
  return length == 0 || std::ranges::any_of(loops, [](const FftLoop& loop) { return loop.count == 0; });
}

bool FftBatch::in_place(FftKind kind) const {
  // Counts in real numbers: rows of real values must have room for their complex coefficients.
  const int in = kind == FftKind::complex_to_real ? 2 : 1;
  const int out = kind == FftKind::real_to_complex ? 2 : 1;
  const bool complex = in == out;
  return (complex ? stride_in == stride_out : stride_in == 1 && stride_out == 1) &&
         std::ranges::all_of(loops, [&](const FftLoop& loop) {
           return loop.count == 1 || in * loop.distance_in == out * loop.distance_out;
         });
}

FftBatch FftBatch::merged() const {
  FftBatch batch = *this;
  const auto continues = [](const FftLoop& outer, const FftLoop& inner) {
    return &outer != &inner && outer.count > 1 && inner.count > 1 &&
           outer.distance_in == inner.count * inner.distance_in &&
           outer.distance_out == inner.count * inner.distance_out;
  };
  for (std::size_t merges = 1; merges < batch.loops.size(); ++merges) {
    for (FftLoop& inner : batch.loops) {
      for (FftLoop& outer : batch.loops) {
        if (!continues(outer, inner)) continue;
        inner.count *= outer.count;
        outer = FftLoop{};
      }
    }
  }
  std::ranges::stable_partition(batch.loops, [](const FftLoop& loop) { return loop.count != 1; });
  return batch;
}

BatchedFft::BatchedFft() = default;

BatchedFft::BatchedFft(FftKind kind, const FftBatch& batch, const FftWork& work) : kind_(kind), batch_(batch.merged()) {
  if (batch.empty()) return;
  columns_ = make_columns(kind, batch_);
  if (!columns_) plan_ = FftPlan::make(kind, batch_, work);
}

BatchedFft::BatchedFft(BatchedFft&&) noexcept = default;
BatchedFft& BatchedFft::operator=(BatchedFft&&) noexcept = default;
BatchedFft::~BatchedFft() = default;

bool BatchedFft::ready(bool right_kind, const void* in, const void* out) const {
  if (!columns_ && !plan_) return false;
  const auto aligned = [](const void* address) { return reinterpret_cast<std::uintptr_t>(address) % 16 == 0; };
  SLUICE_REQUIRE(right_kind, "the plan is for transforms of another kind");
  SLUICE_REQUIRE(aligned(in) && aligned(out), "arrays of transforms must begin at multiples of 16 bytes");
  SLUICE_REQUIRE(in != out || batch_.in_place(kind_), "these transforms cannot run in place");
  return true;
}

void BatchedFft::run(const real* in, std::complex<real>* out) {
  if (!ready(kind_ == FftKind::real_to_complex, in, out)) return;
  plan_->run(const_cast<real*>(in), out);  // the libraries change `in` only if `out` is real, or in place
}

void BatchedFft::run(std::complex<real>* in, real* out) {
  if (ready(kind_ == FftKind::complex_to_real, in, out)) plan_->run(in, out);
}

void BatchedFft::run(const std::complex<real>* in, std::complex<real>* out, const RowsElsewhere& elsewhere) {
  if (!ready(kind_ == FftKind::forward || kind_ == FftKind::backward, in, out)) return;
  SLUICE_REQUIRE(columns_ || elsewhere.data == nullptr, "these transforms have no rows elsewhere");
  if (columns_) {
    columns_->transform(in, out, kind_ == FftKind::forward, elsewhere);
  } else {
    plan_->run(const_cast<std::complex<real>*>(in), out);
  }
}

}  // namespace sluice
