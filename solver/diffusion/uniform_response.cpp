// The response to a uniform force or source: used where a substep holds a mean, after the implicit diffusion.
#include "solver/diffusion/uniform_response.hpp"

#include <algorithm>

#include "solver/state/volume_mean.hpp"

namespace sluice {

UniformResponse::UniformResponse(const Box3& box)
    : box_(box), values_(std::vector<real>(static_cast<std::size_t>(box.extent(2) + 2), 1)), upload_(values_.size()) {}

void UniformResponse::set(const std::vector<double>& profile, const Grid& grid) {
  mean_ = volume_mean(profile, grid);
  std::vector<real> with_halo;  // beyond a wall it is not used
  for (std::int64_t k = box_.lo[2] - 1; k <= box_.hi[2]; ++k) {
    const auto inside = std::clamp<std::int64_t>(k, 0, std::ssize(profile) - 1);
    with_halo.push_back(static_cast<real>(profile[static_cast<std::size_t>(inside)]));
  }
  upload_(with_halo, values_);
}

}  // namespace sluice
