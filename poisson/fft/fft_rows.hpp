#pragma once
// Transforms along x by our own kernels, in place, in one pass over memory. For GPU builds.
#include <cstdint>
#include <memory>

#include "core/device/buffer.hpp"
#include "poisson/fft/row_stages.hpp"

namespace sluice {

class RowFourier {
 public:
  /// Whether there is a kernel for rows of nx cells, and the GPU has the shared memory that it needs. Kernels exist for
  /// multiples of 32 up to 4096 without prime factors above 7, except 4000, and for 5120, 6144, 7168 and 8192.
  static bool has_kernel(std::int64_t nx);
  /// For `rows` rows of nx real values or nx / 2 + 1 complex coefficients, `row_length` real values apart: an even
  /// number, nx + 2 or more. Null unless has_kernel(nx).
  static std::unique_ptr<RowFourier> make(int nx, std::int64_t rows, std::int64_t row_length);

  /// Unscaled transforms of the rows at `data`, device memory aligned to a complex number. backward() ignores the
  /// imaginary parts of a row's first and last coefficient.
  void forward(real* data) { run(data, true); }
  void backward(real* data) { run(data, false); }

 private:
  RowFourier() = default;
  void run(real* data, bool forward);

  int nx_ = 0;
  std::int64_t rows_ = 0, row_length_ = 0;
  RowStages stages_ = {};
  Buffer<ComplexPair> twiddles_;  ///< exp(-2 pi i n / nx)
};

}  // namespace sluice
