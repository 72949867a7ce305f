#pragma once
#include <array>
#include <string>

#include "model/formula.hpp"

namespace sluice {

/// What is wrong with a formula where the domain ends along an axis and repeats: a jump of the value or of the slope.
/// Empty if the formula is periodic, or constant near there, like the formula of a slot. From samples at times from
/// `begin` to `end`. `lengths`: of the domain.
std::string seam_fault(const Formula& formula, char axis, const std::array<double, 3>& lengths, double begin,
                       double end);

}  // namespace sluice
