#pragma once
// Loops over a contiguous array in device memory.
#include <cstddef>

#include "core/support/real.hpp"

namespace sluice {

/// Issues a loop that writes numbers between -0.5 and 0.5, the same every time.
void fill_with_noise(real* values, std::size_t size);

/// Issues a copy loop like that of packing. Either array may be another rank's.
void copy_values(real* to, const real* from, std::size_t size);

}  // namespace sluice
