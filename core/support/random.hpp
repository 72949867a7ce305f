#pragma once
// Random numbers that are a pure function of a seed and a counter, the same on every process grid.
#include <cstdint>

#include "core/support/real.hpp"

namespace sluice {

/// A well-mixed 64-bit function of its argument (the finaliser of splitmix64; Steele, Lea & Flood 2014).
SLUICE_HD inline std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Uniform in [0, 1), from a seed and a counter.
SLUICE_HD inline double uniform01(std::uint64_t seed, std::uint64_t counter) {
  return static_cast<double>(mix64(mix64(seed) ^ counter) >> 11) * 0x1p-53;
}

}  // namespace sluice
