#pragma once
// What tests of the distributed transform share.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/support/collective.hpp"
#include "poisson/fft/distributed_fft.hpp"

namespace sluice::test {

using Cells = std::array<std::int64_t, 3>;

struct FftVariant {
  std::string name;
  FftDecomposition decomposition;
  FftLayout layout;
  ProcessGrid processes;
};

/// Every way for the ranks of this test, pencils on every process grid.
inline std::vector<FftVariant> fft_variants() {
  const int ranks = size_of(MPI_COMM_WORLD);
  std::vector<FftVariant> list;
  for (const FftLayout layout : {FftLayout::contiguous, FftLayout::realigned}) {
    const std::string suffix = layout == FftLayout::contiguous ? ", contiguous" : ", realigned";
    list.push_back({"slabs 2D-1D" + suffix, FftDecomposition::slab_2d_1d, layout, {}});
    list.push_back({"slabs 1D-2D" + suffix, FftDecomposition::slab_1d_2d, layout, {}});
    for (int py = 1; py <= ranks; ++py) {
      if (ranks % py != 0) continue;
      const ProcessGrid grid{py, ranks / py};
      list.push_back({"pencils " + std::to_string(grid.py) + " x " + std::to_string(grid.pz) + suffix,
                      FftDecomposition::pencil, layout, grid});
    }
  }
  return list;
}

inline std::unique_ptr<DistributedFft> make_fft(const FftVariant& variant, const Cells& cells,
                                                const ExchangeSet& exchanges, const FftFields& fields = {}) {
  return std::make_unique<DistributedFft>(MPI_COMM_WORLD, cells, variant.decomposition, variant.layout,
                                          variant.processes, exchanges, fields);
}

/// Calls action(i, j, k, n) for each global index of the box, x fastest; n counts them.
template <class Action>
void for_each_index(const Box3& box, const Action& action) {
  std::size_t n = 0;
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) action(i, j, k, n++);
    }
  }
}

}  // namespace sluice::test
