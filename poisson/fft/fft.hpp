#pragma once
// Fourier transforms of the fields, in place. One file for each library behind this header.
#include <complex>
#include <cstdint>
#include <memory>
#include <string>

#include "core/decomp/field.hpp"
#include "poisson/fft/divergence_rows.hpp"
#include "poisson/fft/fft_work.hpp"

namespace sluice {

class ColumnFourier;

/// Name and version of the library: "FFTW 3.3.10".
std::string fft_library();

/// Implementation: the fastest in this build, or the plain one against which it is tested. A CPU build has only one.
enum class FourierMethod { fastest, plain };

/// Transforms along x between nx real values and nx / 2 + 1 complex coefficients in each row of a field. Unscaled:
/// backward(forward(f)) = nx f. With FFTW, the bits of a row's result depend on that row alone.
class FourierX {
 public:
  /// For fields over `box`, x whole, with rows of `row_length` elements, PoissonSolver::row_length, and a halo of
  /// `halo_y` rows. `work`: shared with transforms that never run at the same time.
  FourierX(const Box3& box, std::int64_t row_length, FourierMethod method = FourierMethod::fastest,
           const FftWork& work = {}, int halo_y = 1);
  ~FourierX();
  FourierX(const FourierX&) = delete;
  FourierX& operator=(const FourierX&) = delete;

  void forward(Field& field);
  void backward(Field& field);

  /// Whether this build forms a divergence as it transforms rows of nx values: on CPUs always, on a GPU where our own
  /// kernels support the length.
  static bool takes_divergence(std::int64_t nx, Order order);
  /// write_divergence() and forward() in one pass, which does not store the divergence: reads u*, v*, w* and writes the
  /// coefficients of the rank's own rows. The halos of `to` are not changed. With FFTW, the same bits. Needs
  /// takes_divergence(); rows of u*, v*, w* must begin at even multiples of the size of a real number.
  void forward(const DivergenceRows& rows, Field& to, Deferred<ExactSum>& sum);

 private:
  struct Plans;
  std::unique_ptr<Plans> plans_;
};

/// Transforms along y of complex coefficients. Unscaled: backward(forward(f)) = ny f. On a CPU, the bits of a column's
/// result depend on that column alone.
class FourierY {
 public:
  /// For views of nx x ny x nz coefficients, rows `stride_y` and planes `stride_z` elements apart, y whole. `work`: as
  /// of FourierX.
  FourierY(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z,
           FourierMethod method = FourierMethod::fastest, const FftWork& work = {});
  ~FourierY();
  FourierY(const FourierY&) = delete;
  FourierY& operator=(const FourierY&) = delete;

  void forward(View3<std::complex<real>> coefficients) { run(coefficients, true); }
  void backward(View3<std::complex<real>> coefficients) { run(coefficients, false); }

 private:
  void run(View3<std::complex<real>> coefficients, bool forward);

  std::int64_t stride_y_, stride_z_;
  std::unique_ptr<ColumnFourier> columns_;  ///< null if there are no coefficients
};

}  // namespace sluice
