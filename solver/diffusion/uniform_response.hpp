#pragma once
#include <vector>

#include "core/device/buffer.hpp"
#include "core/device/upload.hpp"
#include "core/support/box3.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// g: the change of u* or c* by a uniform force or source, for each unit of gamma dt; a profile along z. With explicit
/// diffusion it is 1, with z-implicit diffusion (1 - c Lz)^-1 1.
class UniformResponse {
 public:
  /// 1 everywhere. box: the rank's cells.
  explicit UniformResponse(const Box3& box);

  /// Sets it to the global profile, with nz values that are equal on all ranks. Local.
  void set(const std::vector<double>& profile, const Grid& grid);

  /// By how much a unit force or source changes the volume mean: gamma_dt <g>.
  double gain(double gamma_dt) const { return gamma_dt * mean_; }
  /// By the rank's local index, from the plane below its cells to the one above; in device memory.
  const real* values() const { return values_.data() + 1; }

 private:
  Box3 box_;
  double mean_ = 1;
  Buffer<real> values_;
  Upload<real> upload_;
};

}  // namespace sluice
