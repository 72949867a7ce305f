#pragma once
// Chooses between the double and the single version of a library's types and functions.
#include <type_traits>

#include "core/support/real.hpp"

namespace sluice {

template <class Double, class Single>
using InPrecision = std::conditional_t<std::is_same_v<real, double>, Double, Single>;

template <auto of_double, auto of_single>
constexpr auto in_precision() {
  if constexpr (std::is_same_v<real, double>) {
    return of_double;
  } else {
    return of_single;
  }
}

}  // namespace sluice
