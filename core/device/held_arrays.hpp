#pragma once

namespace sluice::device {

/// Whether an array that its owner releases is held (hold(), memory.hpp): its last holder then releases it.
bool left_to_holders(void* pointer) noexcept;

}  // namespace sluice::device
