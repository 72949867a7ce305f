#pragma once
// Transforms of columns that are neighbours in memory, each read once and written once: along y or z of an array in
// which x is the fastest axis. A GPU build uses its own kernels (fft_columns_cuda.cpp), a CPU build vector instructions
// for a few columns at a time (fft_columns_lanes.cpp), or FFTW on copies of them for lengths with larger prime factors
// than 7 or more than three radices, and where vectors are short (fft_columns_fftw.cpp).
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/support/real.hpp"
#include "poisson/fft/rows_elsewhere.hpp"

namespace sluice {

enum class FourierMethod;
class FftWork;

class ColumnFourier {
 public:
  /// For nx x ny x nz coefficients, rows stride_y and planes stride_z elements apart; in place only. On a GPU, VkFFT or
  /// cuFFT transform where SplitColumnFourier has no kernel.
  static std::unique_ptr<ColumnFourier> of_any_length(int nx, int ny, int nz, std::int64_t stride_y,
                                                      std::int64_t stride_z, FourierMethod method, const FftWork& work);
  virtual ~ColumnFourier() = default;

  /// Work memory of the fastest one, in bytes: 0 unless cuFFT or hipFFT transforms.
  static std::size_t work_bytes(int nx, int ny, std::int64_t stride_y);

  /// Unscaled transforms of the array at `from`, device memory, into an array of the same layout, or in place. With a
  /// kernel or on a CPU, the bits of a column's result depend on that column alone.
  virtual void run(const std::complex<real>* from, std::complex<real>* to, bool forward) = 0;
};

/// Columns of which some rows may be elsewhere.
class SplitColumnFourier : public ColumnFourier {
 public:
  /// Whether there is a kernel for columns of ny values, and the GPU has the shared memory that it needs. Kernels exist
  /// for multiples of 16 up to 2048 without prime factors above 7, except 2000, and on GPUs with clusters of thread
  /// blocks for 2560, 3072, 3456, 3584, 4096, 5120, 6144, 7168 and 8192; a CPU build has every length.
  static bool has_kernel(int ny);
  /// For nx x ny x nz coefficients, rows stride_y and planes stride_z elements apart. Null unless has_kernel(ny).
  static std::unique_ptr<SplitColumnFourier> make(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z);

  /// Forward writes the rows of `elsewhere` there instead of to `to`; backward reads them from there instead of from
  /// `from`.
  virtual void transform(const std::complex<real>* from, std::complex<real>* to, bool forward,
                         const RowsElsewhere& elsewhere) = 0;
  void run(const std::complex<real>* from, std::complex<real>* to, bool forward) final {
    transform(from, to, forward, {});
  }
};

/// Columns of any length, by FFTW. In CPU builds.
std::unique_ptr<SplitColumnFourier> fftw_columns(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z);

}  // namespace sluice
