#pragma once
// Sums of doubles that do not depend on the order of the terms, nor on the process grid.
#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
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

  SLUICE_HD void add(double term) {
    const ExactTerm parts = decompose(term);
    if (!parts.representable) ++word_[digits];
    for (int n = 0; n < 3; ++n)
      word_[static_cast<std::size_t>(parts.digit) + static_cast<std::size_t>(n)] += parts.part[n];
  }

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
  SLUICE_HD double value() const;

  std::int64_t* data() { return word_.data(); }
  const std::int64_t* data() const { return word_.data(); }

 private:
  static constexpr int digit_bits = 32;
  static constexpr int lowest_exponent = -320;  ///< digit n has weight 2^(lowest_exponent + 32 n)

  std::array<std::int64_t, words> word_{};
};

SLUICE_HD inline double ExactSum::value() const {
  if (word_[digits] != 0) return std::numeric_limits<double>::quiet_NaN();
  // Carry to digits in [0, 2^32) below a signed top digit; a negative sum is negated first, so that nothing
  // cancels.
  const auto carried = [](std::array<std::int64_t, words> word) {
    std::int64_t carry = 0;
    for (int n = 0; n < digits; ++n) {
      auto& digit = word[static_cast<std::size_t>(n)];
      digit += carry;
      carry = digit >> digit_bits;
      if (n + 1 < digits) digit -= carry * (std::int64_t{1} << digit_bits);
    }
    return word;
  };
  auto word = carried(word_);
  const bool negative = word[digits - 1] < 0;
  if (negative) {
    for (auto& digit : word) digit = -digit;
    word = carried(word);
  }
  // The three leading digits hold at least 65 bits; of the digits below, only whether all are zero affects the
  // rounding.
  std::size_t leading = digits - 1;
  while (leading > 2 && word[leading] == 0) --leading;
  const std::size_t lowest = leading - 2;
  unsigned __int128 mantissa = 0;
  for (std::size_t n = leading + 1; n-- > lowest;)
    mantissa = (mantissa << digit_bits) + static_cast<std::uint64_t>(word[n]);
  for (std::size_t n = 0; n < lowest; ++n) {
    if (word[n] != 0) mantissa |= 1U;
  }
  const double sum = std::ldexp(static_cast<double>(mantissa), lowest_exponent + digit_bits * static_cast<int>(lowest));
  return negative ? -sum : sum;
}

/// Replaces each sum by its total over the ranks of `comm`. Collective.
void all_reduce(std::span<ExactSum> sums, MPI_Comm comm);

/// The total over the ranks of `comm`, as a double. Collective.
double total(ExactSum sum, MPI_Comm comm);

}  // namespace sluice
