#pragma once
#include <cstddef>

namespace sluice {

/// Issues a loop that copies a whole number of `real`s in device memory, which may be another rank's, as packing does.
void copy_block(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace sluice
