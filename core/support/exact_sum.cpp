#include "core/support/exact_sum.hpp"

#include "core/support/collective.hpp"

namespace sluice {

ExactSum& ExactSum::operator+=(const ExactSum& other) {
  for (int n = 0; n < words; ++n) word_[static_cast<std::size_t>(n)] += other.word_[static_cast<std::size_t>(n)];
  return *this;
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
