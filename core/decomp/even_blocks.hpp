#pragma once
#include "core/decomp/decomposition.hpp"

namespace sluice {

/// z blocks with which pz ranks own equally many blocks and, up to one, equally many planes: as many blocks as the next
/// multiple of pz, or the one before where these would have less than 2 planes. For GPUs that split z, which divide a
/// rank's planes into blocks of their own; CPUs need the same blocks on every process grid. `count` blocks, as
/// everywhere, if there are fewer than ranks or z is not split. Throws Error(usage) if they do not fit nz planes.
ZBlocks even_blocks(std::int64_t nz, int count, int pz);

}  // namespace sluice
