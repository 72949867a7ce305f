#pragma once
// Fourier transforms of the fields, in place. One file for each library behind this header.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/decomp/field.hpp"
#include "poisson/fft/common.hpp"

namespace sluice {

class ColumnFourier;

/// Name and version of the library: "FFTW 3.3.10".
std::string fft_library();

/// Implementation: the fastest in this build, or the plain one against which it is tested. A CPU build has only one.
enum class FourierMethod { fastest, plain };

/// Forms the rows of a field one after another, each just before it is transformed, while it is in the cache.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Writes the nx values of row (j, k), local indices. Called once for each row, j fastest. The row's transform
  /// follows, in which time memory can deliver what the next row needs.
  virtual void form(int j, int k, real* row) = 0;
};

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

  /// Of some planes; a GPU transforms all of them at once.
  void forward(Field& field, const PlaneRange& planes);
  void backward(Field& field, const PlaneRange& planes);
  void forward(Field& field) { forward(field, all_planes(field)); }
  void backward(Field& field) { backward(field, all_planes(field)); }

  /// forward() of the rows that `source` forms. Writes the coefficients to `to`, of which it reads nothing; its halos
  /// are not changed. The same bits as forward() of the stored rows. In CPU builds only: a GPU has no row in its cache.
  void forward(RowSource& source, Field& to, const PlaneRange& planes);

  /// Work memory of the fastest implementation in bytes, for arguments of the constructor: 0 unless cuFFT or hipFFT
  /// transforms.
  static std::size_t work_bytes(const Box3& box, std::int64_t row_length, int halo_y);

  /// Whether rows of nx cells with gaps between them are transformed as fast as without: not by cuFFT.
  static bool allows_gaps(std::int64_t nx);

  static PlaneRange all_planes(const Field& field) { return {0, field.box().nz()}; }

 private:
  struct Plans;
  std::unique_ptr<Plans> plans_;
};

/// Transforms along y of complex coefficients. Unscaled: backward(forward(f)) = ny f. On a CPU, the bits of a column's
/// result depend on that column alone.
class FourierY {
 public:
  /// For nz planes at a time of nx x ny coefficients, rows `stride_y` and planes `stride_z` elements apart, y whole.
  /// `work`: as of FourierX.
  FourierY(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z,
           FourierMethod method = FourierMethod::fastest, const FftWork& work = {});
  ~FourierY();
  FourierY(const FourierY&) = delete;
  FourierY& operator=(const FourierY&) = delete;

  /// As FourierX::work_bytes.
  static std::size_t work_bytes(int nx, int ny, std::int64_t stride_y);

  /// Of nz planes from `first` on.
  void forward(View3<std::complex<real>> coefficients, std::int64_t first = 0) { run(coefficients, first, true); }
  void backward(View3<std::complex<real>> coefficients, std::int64_t first = 0) { run(coefficients, first, false); }

 private:
  void run(View3<std::complex<real>> coefficients, std::int64_t first, bool forward);

  std::int64_t stride_y_, stride_z_;
  std::unique_ptr<ColumnFourier> columns_;  ///< null if there are no coefficients
};

}  // namespace sluice
