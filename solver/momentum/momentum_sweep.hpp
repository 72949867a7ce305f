#pragma once
#include "solver/momentum/momentum_terms.hpp"

namespace sluice {

/// R and u* of all three components in one sweep over `box`, the rank's x pencil in local indices. `order`: along x
/// and y; `first`: the old tendency is not read; `implicit_z`: z-implicit diffusion. A CPU build loops over rows; a GPU
/// build marches in z and prefetches planes, or runs one thread for each cell where sizes or alignment do not suit
/// that. A pending correction needs takes_pending().
void sweep_momentum(const MomentumArrays& arrays, const Box3& box, Order order, bool first, bool implicit_z);

/// Whether a sweep of these arrays can form u from a u* whose correction, by the field `phi`, is pending.
bool takes_pending(const MomentumArrays& arrays, const View3<const real>& phi, const Box3& box, Order order,
                   bool implicit_z);

}  // namespace sluice
