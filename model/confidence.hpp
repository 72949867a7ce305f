#pragma once
#include <cstddef>
#include <span>

namespace sluice {

/// Number of cosines that a series of so many blocks has amplitudes for: at most 6, 0 for a single block.
std::size_t degrees_of_freedom(std::size_t blocks);

/// Half width of the two-sided 95 % interval in standard errors, for 1 to 6 degrees of freedom; NaN for 0.
double student_t95(std::size_t degrees);

/// Half width of the 95 % interval of a mean of correlated blocks. `contributions`: weight times deviation from the
/// mean, of each block; `samples`: its weight and its duration. NaN for a single block. The method is that of
/// sluice_post, which postprocess/README.md describes: the blocks' amplitudes in cosines of 1/2, 1, ..., 3 periods over
/// the run act as independent repetitions of the run. Lazarus, Lewis, Stock & Watson, J. Bus. Econ. Stat. 36, 541
/// (2018), sec. 3.
double half_width95(std::span<const double> contributions, std::span<const double> samples);

}  // namespace sluice
