#include "core/device/parallel_for.hpp"
#include "solver/momentum/momentum_sweep.hpp"

namespace sluice {

void sweep_momentum(const MomentumArrays& arrays, const Box3& box, bool first, bool implicit_z) {
  with_constants(first, implicit_z, [&](auto is_first, auto is_implicit_z) {
    parallel_for("momentum", box, UpdateVelocity<is_first, is_implicit_z>{arrays});
  });
}

}  // namespace sluice
