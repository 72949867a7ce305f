#pragma once
#include <cstddef>

namespace sluice::io {

enum class Precision { single_, double_ };

template <typename Real>
inline constexpr Precision precision_of = sizeof(Real) == 4 ? Precision::single_ : Precision::double_;

inline std::size_t bytes_of(Precision precision) {
  return precision == Precision::single_ ? 4 : 8;
}

}  // namespace sluice::io
