#pragma once
#include <string>

namespace sluice {

/// A number of the time series that not every case has.
struct NamedValue {
  std::string name;  ///< of its column
  double value = 0;
};

}  // namespace sluice
