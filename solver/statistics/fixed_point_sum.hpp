#pragma once
#include <cstdint>

#include "core/support/real.hpp"

namespace sluice {

/// A sum of fewer than 2^23 numbers between 0 and 1 that does not depend on their order: a fixed-point number, with
/// what is smaller than 2^-120 cut off. An ExactSum takes any number, but this one stays in registers, and a loop that
/// adds to it vectorises.
struct FixedPointSum {
  static constexpr int digits = 3;
  std::int64_t digit[digits] = {0, 0, 0};  ///< with the weights 2^-40, 2^-80 and 2^-120

  SLUICE_INLINE void add(double term) {
    SLUICE_UNROLL
    for (int n = 0; n < digits; ++n) {
      term *= base;
      const auto whole = static_cast<std::int64_t>(term);
      digit[n] += whole;
      term -= static_cast<double>(whole);
    }
  }
  SLUICE_INLINE void add(const FixedPointSum& other) {
    SLUICE_UNROLL
    for (int n = 0; n < digits; ++n) digit[n] += other.digit[n];
  }
  SLUICE_INLINE double value() const {
    double sum = 0;
    for (int n = digits; n-- > 0;) sum = (sum + static_cast<double>(digit[n])) / base;
    return sum;
  }

 private:
  static constexpr double base = 0x1p40;
};

}  // namespace sluice
