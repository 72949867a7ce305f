#pragma once
// Fields that are known everywhere, to check what a benchmark times.
#include <array>
#include <complex>
#include <cstdint>

#include "core/decomp/view3.hpp"
#include "core/support/box3.hpp"
#include "core/support/real.hpp"

namespace sluice {

/// The largest error of an array.
struct Deviation {
  double error = 0;                     ///< absolute; infinite if a value is not finite
  std::array<std::int64_t, 3> where{};  ///< a global index that has it, if it is not 0
};

/// The largest of those of all ranks. Collective over MPI_COMM_WORLD.
Deviation largest_of_ranks(Deviation deviation);

/// A random number between -0.5 and 0.5 for each global index of a grid, the same on every process grid: it shows
/// whether a value is where it belongs. In single precision two numbers agree with probability 2^-24.
class KnownField {
 public:
  /// Different seeds give different fields.
  KnownField(std::uint64_t seed, const std::array<std::int64_t, 3>& cells) : seed_(seed), cells_(cells) {}

  /// Issues a loop that writes the field to an array on `box`, a box of global indices.
  void write(View3<real> array, const Box3& box) const;
  void write(View3<std::complex<real>> array, const Box3& box) const;

  /// Compares array / scale with the field on this rank alone.
  Deviation local_deviation(View3<const real> array, const Box3& box, double scale = 1) const;

  /// The same over all ranks. Collective over MPI_COMM_WORLD.
  Deviation deviation(View3<const real> array, const Box3& box, double scale = 1) const;
  Deviation deviation(View3<const std::complex<real>> array, const Box3& box, double scale = 1) const;

 private:
  std::uint64_t seed_;
  std::array<std::int64_t, 3> cells_;
};

}  // namespace sluice
