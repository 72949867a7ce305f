#pragma once
// Transforms of columns that are neighbours in memory, each read once and written once: along y or z of an array in
// which x is the fastest axis. In a GPU build by kernels of our own (fft_columns_cuda.cpp), else by FFTW on copies of a
// few columns at a time (fft_columns_fftw.cpp).
#include <complex>
#include <cstdint>
#include <memory>

#include "core/support/real.hpp"

namespace sluice {

class ColumnFourier {
 public:
  /// For nx x ny x nz coefficients, rows stride_y and planes stride_z elements apart. Null where no kernel has this
  /// length (multiples of 16 up to 2048 without prime factors above 7 do, but 2000), or needs more shared memory than
  /// the GPU has; a CPU build has every length.
  static std::unique_ptr<ColumnFourier> make(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z);
  virtual ~ColumnFourier() = default;

  /// Unscaled transforms of the array at `from`, device memory, into an array laid out alike, or in place. What a
  /// column becomes depends on that column alone, to the bit.
  virtual void run(const std::complex<real>* from, std::complex<real>* to, bool forward) = 0;
};

}  // namespace sluice
