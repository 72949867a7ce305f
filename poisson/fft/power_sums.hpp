#pragma once
// Power of coefficients along x and y, summed inside the transform along y, which then writes no coefficients: one pass
// over memory instead of four. On a GPU; CPU builds, and lengths without a kernel, transform first and sum afterwards.
#include <complex>
#include <cstdint>
#include <memory>

#include "core/decomp/view3.hpp"
#include "core/support/box3.hpp"
#include "core/support/real.hpp"

namespace sluice {

/// Where the sums go. The power of (kx, ky) is |c(kx, ky)|^2 / (nx ny)^2 and, unless kx = 0 or nx / 2, that of (-kx,
/// -ky), which is not stored and equal. `m`: |ky| = 0 ... ny / 2, whose power is that of ky and of -ky together; z:
/// planes of this rank.
struct PowerSums {
  double* along_x;    ///< [z][kx]: the sum over ky
  double* along_y;    ///< [z][m]: the sum over this rank's kx
  double* of_planes;  ///< [n][m][kx], on some planes
  const int* planes;  ///< z of plane n; several n may have the same
  int planes_count;
};

class PowerTransform {
 public:
  /// For coefficients over `box`, y whole, of fields with `cells_x` points in a row. Null if there is no kernel, or if
  /// it needs more shared memory than the GPU has: kernels exist for the lengths of SplitColumnFourier. Local.
  static std::unique_ptr<PowerTransform> make(const Box3& box, std::int64_t cells_x);
  virtual ~PowerTransform() = default;

  /// Of the coefficients along x, in device memory, which are overwritten. Writes all that `sums` points to. The same
  /// bits each time. Local.
  virtual void run(View3<std::complex<real>> along_x, const PowerSums& sums) = 0;
};

}  // namespace sluice
