#pragma once
// Fields whose Fourier coefficients are known everywhere, to check transforms in one direction alone.
#include <array>
#include <complex>
#include <cstdint>

#include "core/decomp/view3.hpp"
#include "core/device/buffer.hpp"
#include "core/support/box3.hpp"
#include "core/support/real.hpp"
#include "poisson/fft/distributed_fft.hpp"
#include "src/bench/known_field.hpp"

namespace sluice {

/// The product of a random sequence along each axis. Its coefficients are products of the sequences' coefficients,
/// which are computed by the sums that define them. No two of its values or coefficients agree, also after the
/// transform along one or two axes, so that every value that is wrong or in the wrong place shows.
class KnownSpectrum {
 public:
  /// Different seeds give different fields.
  KnownSpectrum(std::uint64_t seed, const std::array<std::int64_t, 3>& cells, FftType type);

  /// Issues a loop that writes the field, times `factor`, to an array on `box`, a box of global indices.
  void write(View3<real> array, const Box3& box, double factor = 1) const;
  void write(View3<std::complex<real>> array, const Box3& box, double factor = 1) const;

  /// Compares coefficients, as of DistributedFft, with those of the field times `factor`: the largest error of a real
  /// or imaginary part, relative to the largest coefficient; `where` is its kx, ky, kz. Collective over MPI_COMM_WORLD.
  Deviation deviation(View3<const std::complex<real>> coefficients, const Box3& box, double factor = 1) const;

  /// The values or the coefficients of a sequence along each axis: real and imaginary parts in turn.
  using Sequences = std::array<const double*, 3>;

 private:
  Buffer<double> numbers_;
  Sequences values_{}, coefficients_{};
  double largest_ = 1;  ///< product of the largest coefficients
};

}  // namespace sluice
