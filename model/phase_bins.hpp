#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

/// Bins of the phase t/period - floor(t/period) of a flow that is driven periodically. Bin n has the phases within half
/// a bin of n/count.
struct PhaseBins {
  std::int64_t count = 0;  ///< 0: no phases are told apart
  double period = 0;

  struct Place {
    std::size_t bin;
    double offset;  ///< of the phase from n/count, in periods
  };
  Place at(double time) const;

  /// The phases in the middle of the bins.
  std::vector<double> middles() const;

  /// The number of bins into which samples in these intervals of time never fall.
  std::int64_t missed(double interval) const;

  bool operator==(const PhaseBins&) const = default;
};

}  // namespace sluice
