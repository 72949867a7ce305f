#pragma once
#include <cstddef>
#include <memory>

#include "core/device/buffer.hpp"

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

}  // namespace sluice
