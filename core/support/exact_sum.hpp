#pragma once
// Sums of doubles that do not depend on the order of the terms, nor on the process grid.
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/support/real.hpp"

namespace sluice {

/// A double as a term of an ExactSum: it adds part[n] to digit + n, or counts as not representable.
struct ExactTerm {
  int digit = 0;
  std::int64_t part[3] = {0, 0, 0};
  bool representable = true;
};

/// A sum as a wide fixed-point number: 32-bit digits in 64-bit integers, so that carries can be deferred. Integer
/// addition is associative, so any order and any splitting over ranks gives the same bits. Holds 2^31 terms between
/// 2^-320 and 2^300 in magnitude. Smaller parts are truncated; larger or non-finite terms make the sum NaN.
class ExactSum {
 public:
  static constexpr int digits = 20;
  static constexpr int words = digits + 1;  ///< the digits and a count of non-representable terms

  ExactSum() = default;

  void add(double term);

  /// The contributions of `term` to the digits. On a GPU, threads add these to a shared sum in any order.
  SLUICE_HD static ExactTerm decompose(double term) {
    std::uint64_t bits = 0;
    memcpy(&bits, &term, sizeof(bits));
    const auto exponent = static_cast<int>((bits >> 52) & 0x7ff);  // of a normal number: biased by 1023
    ExactTerm result;
    result.representable = exponent < 1023 + 300;
    int position = exponent - 1023 - 52 - lowest_exponent;  // of the mantissa's lowest bit
    if (!result.representable || position <= -53) return result;
    std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1} << 52);
    if (position < 0) {
      mantissa >>= -position;
      position = 0;
    }
    const int shift = position % digit_bits;
    const std::int64_t sign = (bits >> 63) != 0 ? -1 : 1;
    result.digit = position / digit_bits;
    result.part[0] = sign * static_cast<std::int64_t>((mantissa << shift) & 0xffffffffU);
    result.part[1] = sign * static_cast<std::int64_t>((mantissa >> (digit_bits - shift)) & 0xffffffffU);
    result.part[2] = shift == 0 ? 0 : sign * static_cast<std::int64_t>(mantissa >> (2 * digit_bits - shift));
    return result;
  }

  ExactSum& operator+=(const ExactSum& other);

  /// The sum, rounded once. NaN if any term was not representable.
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
