#include "core/support/exact_sum.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "core/support/collective.hpp"

namespace sluice {

void ExactSum::add(double term) {
  const ExactTerm parts = decompose(term);
  if (!parts.representable) ++word_[digits];
  for (int n = 0; n < 3; ++n)
    word_[static_cast<std::size_t>(parts.digit) + static_cast<std::size_t>(n)] += parts.part[n];
}

ExactSum& ExactSum::operator+=(const ExactSum& other) {
  for (int n = 0; n < words; ++n) word_[static_cast<std::size_t>(n)] += other.word_[static_cast<std::size_t>(n)];
  return *this;
}

double ExactSum::value() const {
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

void all_reduce(std::span<ExactSum> sums, MPI_Comm comm) {
  static_assert(sizeof(ExactSum) == sizeof(std::int64_t) * ExactSum::words);
  if (sums.empty()) return;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums.data()->data(), static_cast<int>(sums.size()) * ExactSum::words,
                          MPI_INT64_T, MPI_SUM, comm),
            "MPI_Allreduce of exact sums");
}

double total(ExactSum sum, MPI_Comm comm) {
  all_reduce(std::span(&sum, 1), comm);
  return sum.value();
}

}  // namespace sluice
