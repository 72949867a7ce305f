#pragma once
// Batches of one-dimensional Fourier transforms with any strides. One file for each library behind this header.
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/support/real.hpp"
#include "poisson/fft/common.hpp"
#include "poisson/fft/rows_elsewhere.hpp"

namespace sluice {

class SplitColumnFourier;

/// Coefficient k of n values: sum of v_j exp(-2 pi i j k / n) from real values (k = 0 ... n / 2) or `forward`; with
/// exp(+2 pi i j k / n) `backward`, and to real values from k = 0 ... n / 2, whose conjugates are the rest:
/// coefficients 0 and, of an even n, n / 2 are real. Unscaled.
enum class FftKind { real_to_complex, complex_to_real, forward, backward };

/// A loop over transforms: how many, and how far apart they begin.
struct FftLoop {
  std::int64_t count = 1;
  std::int64_t distance_in = 0;
  std::int64_t distance_out = 0;
};

/// Where the values of the transforms are: value m of transform (a, b, c) at m * stride + a * loops[0] + b * loops[1] +
/// c * loops[2]. Strides and distances are in elements of the array, real or complex.
struct FftBatch {
  std::int64_t length = 0;  ///< of a transform, in values in space, not coefficients
  std::int64_t stride_in = 1;
  std::int64_t stride_out = 1;
  std::array<FftLoop, 3> loops;

  bool empty() const;
  /// Whether the transforms may run in place: values and coefficients occupy the same memory.
  bool in_place(FftKind kind) const;
  /// The same transforms in as few loops as their distances allow; those that remain come first, the others have
  /// count 1.
  FftBatch merged() const;
};

/// A plan of the library, FFTW or cuFFT, for a batch that is not empty.
class FftPlan {
 public:
  /// Throws Error(resources) if the library runs out of GPU memory.
  static std::unique_ptr<FftPlan> make(FftKind kind, const FftBatch& batch, const FftWork& work);
  virtual ~FftPlan() = default;

  /// `in` and `out`: arrays of the kind's type; the same one only if FftBatch::in_place allows it. May destroy `in` if
  /// `out` is real.
  virtual void run(void* in, void* out) = 0;
  /// What this plan needs of the work area, in bytes.
  virtual std::size_t work_bytes() const { return 0; }
};

/// Transforms such a batch: columns that are neighbours in memory by SplitColumnFourier, all others by a plan of the
/// library. Arrays are in device memory and begin at multiples of 16 bytes. On a GPU, only one of the merged loops is
/// within a launch, so transforms of real values must begin at even elements in all others.
class BatchedFft {
 public:
  BatchedFft();  ///< transforms nothing
  /// `work`: shared with transforms that never run at the same time. Throws Error(resources) if the library runs out of
  /// GPU memory.
  BatchedFft(FftKind kind, const FftBatch& batch, const FftWork& work = {});
  BatchedFft(BatchedFft&&) noexcept;
  BatchedFft& operator=(BatchedFft&&) noexcept;
  ~BatchedFft();

  /// Issues the transforms. `in` and `out` must not overlap, or be the same if FftBatch::in_place allows it.
  void run(const real* in, std::complex<real>* out);  ///< real_to_complex
  void run(std::complex<real>* in, real* out);        ///< complex_to_real; destroys `in`
  void run(const std::complex<real>* in, std::complex<real>* out, const RowsElsewhere& elsewhere = {});

  /// Whether run() takes rows elsewhere, as SplitColumnFourier does: for transforms along y of an array with its planes
  /// in z.
  bool takes_rows_elsewhere() const { return columns_ != nullptr; }
  /// What these transforms need of the work area, in bytes.
  std::size_t work_bytes() const { return plan_ ? plan_->work_bytes() : 0; }

 private:
  /// Whether there is anything to transform. Throws if the plan is not for arrays of this kind at these places.
  bool ready(bool right_kind, const void* in, const void* out) const;

  FftKind kind_ = FftKind::forward;
  FftBatch batch_;
  std::unique_ptr<SplitColumnFourier> columns_;
  std::unique_ptr<FftPlan> plan_;  ///< null for columns and for an empty batch
};

}  // namespace sluice
