// A CPU build has no such transform.
#include "solver/statistics/spectra_rows.hpp"

namespace sluice::spectra {

std::unique_ptr<ValueTransform> ValueTransform::make(std::int64_t /*nx*/) {
  return nullptr;
}

}  // namespace sluice::spectra
