#pragma once
#include <cstdint>

namespace sluice {

/// The number of z blocks in place of `count` with which all of pz ranks own equally many: the next multiple of pz, or
/// the one before if blocks would have less than 2 of the nz planes. GPUs that split z divide a rank's planes into
/// blocks of their own, so only there does the number not change the results. pz >= 1, count >= pz.
constexpr int even_blocks(std::int64_t nz, int count, int pz) {
  const int more = (count + pz - 1) / pz * pz;
  return nz / more >= 2 ? more : count / pz * pz;
}

}  // namespace sluice
