#pragma once
// Many one-dimensional Fourier transforms at once, wherever their values lie. One file for each library behind this
// header.
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

/// Where the values of the transforms lie: value m of transform (a, b) at m * stride + a * loops[0] + b * loops[1].
/// Strides and distances in elements of the array: real numbers in a real one, complex ones in a complex one.
struct FftBatch {
  std::int64_t length = 0;  ///< of a transform: values in space, not coefficients
  std::int64_t stride_in = 1;
  std::int64_t stride_out = 1;
  std::array<FftLoop, 2> loops;

  bool empty() const { return length == 0 || loops[0].count == 0 || loops[1].count == 0; }
  /// Whether the transforms may run in place: all values of a transform are where its coefficients are.
  bool in_place(FftKind kind) const;
  /// Transforms of columns that are neighbours in memory and lie alike on both sides, for those that are; else null.
  std::unique_ptr<ColumnFourier> make_columns(FftKind kind) const;
  /// The same transforms as one loop if their distances allow it: the other loop then has count 1.
  FftBatch merged() const;
};

/// A plan for such a batch. Arrays are in device memory and begin at multiples of 16 bytes. On a GPU, where a loop that
/// does not merge may become one of launches, transforms of real values begin at even elements in both loops.
class BatchedFft {
 public:
  BatchedFft();  ///< transforms nothing
  /// Throws Error(resources) when GPU memory does not suffice for the library.
  BatchedFft(FftKind kind, const FftBatch& batch);
  BatchedFft(BatchedFft&&) noexcept;
  BatchedFft& operator=(BatchedFft&&) noexcept;
  ~BatchedFft();

  /// Issues the transforms. `in` and `out` do not overlap, or are the same where FftBatch::in_place allows it.
  void run(const real* in, std::complex<real>* out);  ///< real_to_complex
  void run(std::complex<real>* in, real* out);        ///< complex_to_real; destroys what is in `in`
  void run(std::complex<real>* in, std::complex<real>* out);

  /// Memory that the library holds for this plan on the device, in bytes, as far as it tells.
  std::size_t work_bytes() const;

 private:
  struct Plans;
  std::unique_ptr<Plans> plans_;  ///< none for an empty batch
};

}  // namespace sluice
