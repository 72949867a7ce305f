#pragma once
// Transforms along x by kernels of our own: in place, in one pass over memory. For GPU builds.
#include <cstdint>
#include <memory>

#include "core/device/buffer.hpp"
#include "poisson/fft/row_stages.hpp"

namespace sluice {

class RowFourier {
 public:
  /// For `rows` rows of nx real values or nx / 2 + 1 complex coefficients, `row_length` real values apart: an even
  /// number, nx + 2 or more. Null where no kernel has this length (multiples of 32 up to 4096 without prime factors
  /// above 7 do, but 4000), or needs more shared memory than the GPU has.
  static std::unique_ptr<RowFourier> make(int nx, std::int64_t rows, std::int64_t row_length);

  /// Unscaled transforms of the rows at `data`, device memory aligned to a complex number. Backward, the imaginary
  /// parts of the first and last coefficient of a row count for nothing.
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
