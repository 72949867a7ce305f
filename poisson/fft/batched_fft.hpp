#pragma once
// Batches of one-dimensional Fourier transforms with any strides. One file for each library behind this header.
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/support/real.hpp"

namespace sluice {

class ColumnFourier;

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

/// Where the values of the transforms are: value m of transform (a, b) at m * stride + a * loops[0] + b * loops[1].
/// Strides and distances are in elements of the array, real or complex.
struct FftBatch {
  std::int64_t length = 0;  ///< of a transform, in values in space, not coefficients
  std::int64_t stride_in = 1;
  std::int64_t stride_out = 1;
  std::array<FftLoop, 2> loops;

  bool empty() const { return length == 0 || loops[0].count == 0 || loops[1].count == 0; }
  /// Whether the transforms may run in place: values and coefficients occupy the same memory.
  bool in_place(FftKind kind) const;
  /// Column transforms, if the transforms are columns that are neighbours in memory with the same layout on both sides;
  /// else null.
  std::unique_ptr<ColumnFourier> make_columns(FftKind kind) const;
  /// The same transforms as one loop, if their distances allow it; the other loop then has count 1.
  FftBatch merged() const;
};

/// A plan for such a batch. Arrays are in device memory and begin at multiples of 16 bytes. On a GPU, a loop that does
/// not merge may become a loop of launches, so transforms of real values must begin at even elements in both loops.
class BatchedFft {
 public:
  BatchedFft();  ///< transforms nothing
  /// Throws Error(resources) if the library runs out of GPU memory.
  BatchedFft(FftKind kind, const FftBatch& batch);
  BatchedFft(BatchedFft&&) noexcept;
  BatchedFft& operator=(BatchedFft&&) noexcept;
  ~BatchedFft();

  /// Issues the transforms. `in` and `out` must not overlap, or be the same if FftBatch::in_place allows it.
  void run(const real* in, std::complex<real>* out);  ///< real_to_complex
  void run(std::complex<real>* in, real* out);        ///< complex_to_real; destroys `in`
  void run(std::complex<real>* in, std::complex<real>* out);

  /// Device memory that the library holds for this plan, in bytes, as far as it reports it.
  std::size_t work_bytes() const;

 private:
  struct Plans;
  std::unique_ptr<Plans> plans_;  ///< null for an empty batch
};

}  // namespace sluice
