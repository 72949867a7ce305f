#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "io/files/local_block.hpp"

namespace sluice::io {

/// A box's part of a field's 64-bit hash: the sum mod 2^64 over its elements of a mix of global index and bits.
/// The hash of the field is the sum of the parts, so it does not depend on how the field is split. Local.
std::uint64_t field_hash(const Box3& box, const Extents& global, std::size_t element_bytes, const void* data);

/// A hash of any bytes, chained onto `seed`.
std::uint64_t byte_hash(std::uint64_t seed, const void* data, std::size_t bytes);

}  // namespace sluice::io
