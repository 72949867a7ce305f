// Means over planes at centres and faces, the profiles that statistics consist of.
#include "solver/statistics/plane_means.hpp"

#include <numeric>

#include "core/support/collective.hpp"

namespace sluice {

namespace {

/// values[n] = sums[n] / columns; sets the sums to zero.
struct TakeMeans {
  ExactSum* sums;
  double* values;
  double columns;

  SLUICE_INLINE void operator()(int n, int /*unused*/, int /*unused*/) const {
    values[n] = sums[n].value() / columns;
    sums[n] = ExactSum();
  }
};

}  // namespace

ExactSum* PlaneMeans::add_sums(const Issued& more) {
  std::size_t used = 0;
  for (const Issued& issued : issued_) used += issued.size();
  issued_.push_back(more);
  if (used + more.size() > sums_.size()) {
    Buffer<ExactSum> larger(used + more.size());
    if (used > 0) device::copy(larger.data(), sums_.data(), used * sizeof(ExactSum));
    sums_ = std::move(larger);
  }
  return sums_.data() + used;
}

PlaneMeans::Profiles PlaneMeans::take() {
  std::size_t used = 0;
  for (const Issued& issued : issued_) used += issued.size();
  if (size_of(comm_) > 1) {
    std::vector<ExactSum> sums(used);
    device::copy(sums.data(), sums_.data(), used * sizeof(ExactSum));
    all_reduce(sums, comm_);
    device::copy(sums_.data(), sums.data(), used * sizeof(ExactSum));
  }
  values_.enlarge(used);
  parallel_for("plane means", box_of(static_cast<std::int64_t>(used), 1, 1),
               TakeMeans{sums_.data(), values_.data(), columns()});
  std::vector<double> values(used);
  device::copy(values.data(), values_.data(), used * sizeof(double));

  Profiles means;
  auto value = values.begin();
  for (const auto& [quantities, planes] : std::exchange(issued_, {})) {
    const std::size_t first = means.size();
    means.resize(first + quantities, std::vector<double>(planes));
    for (std::size_t k = 0; k < planes; ++k) {
      for (std::size_t n = 0; n < quantities; ++n) means[first + n][k] = *value++;
    }
  }
  return means;
}

}  // namespace sluice
