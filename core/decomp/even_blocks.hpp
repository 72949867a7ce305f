#pragma once
#include "core/decomp/decomposition.hpp"

namespace sluice {

/// z blocks for GPUs that split z over pz ranks. Each rank owns the same number of blocks, and the numbers of planes
/// that ranks own differ by one at most. `count` is rounded up to a multiple of pz, or down if blocks would then have
/// less than 2 planes. If z is not split, or `count` is less than pz, the result is ZBlocks(nz, count). CPUs need the
/// same blocks on every process grid and do not use this. Throws Error(usage) if `count` blocks do not fit nz planes.
ZBlocks even_blocks(std::int64_t nz, int count, int pz);

}  // namespace sluice
