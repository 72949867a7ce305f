#pragma once
// Transforms along y by kernels of our own: strided, in one pass over memory. For GPU builds.
#include <cstdint>
#include <memory>

#include "core/device/buffer.hpp"
#include "poisson/fft/column_stages.hpp"

namespace sluice {

class ColumnFourier {
 public:
  /// For nx x ny x nz coefficients, rows stride_y and planes stride_z elements apart. Null where no kernel has this
  /// length (multiples of 16 up to 2048 without prime factors above 7 do, but 2000), or needs more shared memory than
  /// the GPU has.
  static std::unique_ptr<ColumnFourier> make(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z);

  /// Unscaled transforms of the array at `from`, device memory, into an array laid out alike, or in place.
  void run(const void* from, void* to, bool forward);

 private:
  ColumnFourier() = default;

  int nx_ = 0, ny_ = 0, nz_ = 0;
  ColumnStages stages_ = {};
  std::size_t shared_ = 0;  ///< bytes of shared memory that a block of threads asks for
  std::int64_t stride_y_ = 0, stride_z_ = 0;
  Buffer<ComplexPair> roots_;  ///< exp(-2 pi i n / ny)
};

}  // namespace sluice
