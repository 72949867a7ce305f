#include "model/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

PhaseBins::Place PhaseBins::at(double time) const {
  const auto bins = static_cast<double>(count);
  const double periods = time / period;
  const double place = (periods - std::floor(periods)) * bins;
  // Samples in regular intervals may fall on the border of two bins: rounding errors must not choose the bin.
  const Schedule borders{period / bins, -period / (2 * bins)};
  const double bin = borders.index(time) - std::floor(periods) * bins;
  return {static_cast<std::size_t>(bin) % static_cast<std::size_t>(count), (place - bin) / bins};
}

std::vector<double> PhaseBins::middles() const {
  std::vector<double> phases;
  for (std::int64_t n = 0; n < count; ++n) phases.push_back(static_cast<double>(n) / static_cast<double>(count));
  return phases;
}

std::int64_t PhaseBins::missed(double interval) const {
  if (interval <= period / static_cast<double>(count)) return 0;
  constexpr int samples = 100000;
  std::vector<bool> has_some(count, false);
  for (int n = 0; n < samples; ++n) has_some[at(n * interval).bin] = true;
  return std::ranges::count(has_some, false);
}

}  // namespace sluice
