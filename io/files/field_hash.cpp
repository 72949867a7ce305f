#include "io/files/field_hash.hpp"

#include <algorithm>
#include <cstring>

#include "core/support/random.hpp"

namespace sluice::io {

namespace {

template <typename Bits>
std::uint64_t hash_of(const Box3& box, const Extents& global, const void* data) {
  const auto* bytes = static_cast<const std::byte*>(data);
  std::uint64_t sum = 0;
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      const auto row = static_cast<std::uint64_t>((k * global[1] + j) * global[2]);
      for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i, bytes += sizeof(Bits)) {
        Bits bits = 0;
        std::memcpy(&bits, bytes, sizeof(Bits));
        sum += mix64(mix64(row + static_cast<std::uint64_t>(i)) ^ bits);
      }
    }
  }
  return sum;
}

}  // namespace

std::uint64_t field_hash(const Box3& box, const Extents& global, std::size_t element_bytes, const void* data) {
  return element_bytes == 4 ? hash_of<std::uint32_t>(box, global, data) : hash_of<std::uint64_t>(box, global, data);
}

std::uint64_t byte_hash(std::uint64_t seed, const void* data, std::size_t bytes) {
  const auto* next = static_cast<const std::byte*>(data);
  std::uint64_t hash = mix64(seed ^ bytes);
  for (std::size_t left = bytes; left > 0;) {
    std::uint64_t word = 0;
    const std::size_t taken = std::min(left, sizeof(word));
    std::memcpy(&word, next, taken);
    hash = mix64(hash ^ word);
    next += taken;
    left -= taken;
  }
  return hash;
}

}  // namespace sluice::io
