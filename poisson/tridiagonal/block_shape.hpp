#pragma once
// What GPU kernels that treat a z block in loops of constant length have in common.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/support/error.hpp"
#include "core/support/real.hpp"
#include "poisson/tridiagonal/line_plan.hpp"

namespace sluice {

/// Neighbouring real numbers along x that move in one access; their address must be a multiple of their size.
template <int Lanes>
struct alignas(static_cast<std::size_t>(Lanes) * sizeof(real)) LanePack {
  real lane[Lanes];
};

template <int Lanes>
SLUICE_INLINE LanePack<Lanes>& pack_at(real* address) {
  return *reinterpret_cast<LanePack<Lanes>*>(address);
}

template <int Lanes>
SLUICE_INLINE const LanePack<Lanes>& pack_at(const real* address) {
  return *reinterpret_cast<const LanePack<Lanes>*>(address);
}

/// The shape of a block that fits `Rows` rows, of which it has at least `Surely`: the rows in between are asked for
/// one by one.
template <int Rows, int Surely>
struct BlockShape {
  static_assert(Surely >= 2 && Rows >= Surely && Rows > 2);
  static constexpr int inside = Rows - 2;  ///< room for rows between first and last

  int first = 0;  ///< row of the grid
  int rows = 0;

  SLUICE_INLINE int last() const { return first + rows - 1; }
  /// Whether the block has the m-th row between its first and last.
  SLUICE_INLINE bool has(int m) const { return m + 2 < Surely || m + 2 < rows; }
};

/// What was written to memory before is read from there after: else the compiler keeps it in registers too, where those
/// are scarce.
SLUICE_INLINE void forget_registers() {
#ifdef __CUDA_ARCH__
  asm volatile("" ::: "memory");
#endif
}

/// 1 / x. In a build of single precision to 1.5e-14, one Newton step from a division in single: a division in double
/// would take as long as all else that is done to a row. x: within the range of float.
SLUICE_INLINE double reciprocal(double x) {
  if constexpr (sizeof(real) == sizeof(double)) {
    return 1 / x;
  } else {
    const double approximate = 1.0F / static_cast<float>(x);
    return approximate * fma(-x, approximate, 2.0);
  }
}

/// Calls action with the smallest shape that fits blocks of which the longest has so many rows. They differ by one row
/// at most, so that all surely have as many rows as the next smaller shape has room for.
template <class Action>
void with_shape(std::int64_t longest, const Action& action) {
  if (longest <= 8) {
    action(BlockShape<8, 2>());
  } else if (longest <= 12) {
    action(BlockShape<12, 8>());
  } else if (longest <= 16) {
    action(BlockShape<16, 12>());
  } else if (longest <= 17) {
    action(BlockShape<17, 16>());
  } else if (longest <= 20) {
    action(BlockShape<20, 17>());
  } else if (longest <= 24) {
    action(BlockShape<24, 20>());
  } else if (longest <= 28) {
    action(BlockShape<28, 24>());
  } else {
    SLUICE_REQUIRE(longest <= max_rows_of_thread, "a block that is too long for a thread");
    action(BlockShape<32, 28>());
  }
}

}  // namespace sluice
