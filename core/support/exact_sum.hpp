#pragma once
// Sums of doubles that do not depend on the order of the terms, and so not on the process grid.
#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>

namespace sluice {

/// A sum held as a wide fixed-point number, in 32-bit digits that live in 64-bit integers so that carries can
/// wait: integer addition is associative, so any order and any splitting over ranks gives the same bits.
/// Holds 2^31 terms between 2^-320 and 2^300 in magnitude; smaller parts are cut off, terms that are larger
/// or not finite make the sum NaN.
class ExactSum {
 public:
  static constexpr int digits = 20;
  static constexpr int words = digits + 1;  ///< the digits, and a count of terms that are not representable

  ExactSum() = default;

  void add(double term);
  ExactSum& operator+=(const ExactSum& other);

  /// The sum, rounded once. NaN if any term was not finite.
  double value() const;

  std::int64_t* data() { return word_.data(); }
  const std::int64_t* data() const { return word_.data(); }

 private:
  static constexpr int digit_bits = 32;
  static constexpr int lowest_exponent = -320;  ///< digit n has weight 2^(lowest_exponent + 32 n)

  std::array<std::int64_t, words> word_{};
};

/// Replaces each sum by its total over the ranks of `comm`. Collective.
void all_reduce(std::span<ExactSum> sums, MPI_Comm comm);

/// The total over the ranks of `comm`, as a double. Collective.
double total(ExactSum sum, MPI_Comm comm);

}  // namespace sluice
