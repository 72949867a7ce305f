#pragma once
// What several transforms share.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "core/device/buffer.hpp"
#include "core/support/real.hpp"

namespace sluice {

/// Work memory for plans of cuFFT that never run at the same time, as Verma et al. (2022) recommend: copies of this
/// object share one area, as large as the largest need. FFTW's plans need none.
class FftWork {
 public:
  /// Makes the area at least this large, when a plan is made. Throws Error(resources).
  void reserve(std::size_t bytes) { area_->enlarge(bytes); }
  void* data() const { return area_->data(); }
  std::size_t bytes() const { return area_->bytes(); }

 private:
  std::shared_ptr<Buffer<std::byte>> area_ = std::make_shared<Buffer<std::byte>>();
};

/// Consecutive planes of an array, [first, last).
struct PlaneRange {
  std::int64_t first, last;

  std::int64_t count() const { return last - first; }
  friend bool operator==(const PlaneRange&, const PlaneRange&) = default;
};

/// Of a library's types and functions, the version in double or in single precision.
template <class Double, class Single>
using InPrecision = std::conditional_t<std::is_same_v<real, double>, Double, Single>;

template <auto of_double, auto of_single>
constexpr auto in_precision() {
  if constexpr (std::is_same_v<real, double>) {
    return of_double;
  } else {
    return of_single;
  }
}

}  // namespace sluice
