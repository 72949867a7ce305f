// A CPU build has no such transform.
#include "poisson/fft/power_sums.hpp"

namespace sluice {

std::unique_ptr<PowerTransform> PowerTransform::make(const Box3& /*box*/, std::int64_t /*cells_x*/) {
  return nullptr;
}

}  // namespace sluice
