#pragma once
// The transform along x of div u* / (gamma dt) by our own kernels, which do not store the divergence. For GPU builds.
#include <cstdint>
#include <memory>

#include "core/decomp/field.hpp"
#include "core/device/buffer.hpp"
#include "poisson/fft/divergence_rows.hpp"
#include "poisson/fft/row_stages.hpp"

namespace sluice {

class DivergenceFourier {
 public:
  /// Whether there is a kernel, and the GPU has the shared memory that it needs: for the lengths of RowFourier.
  static bool supports(std::int64_t nx, Order order);

  /// For rows of nx values, which it supports.
  explicit DivergenceFourier(int nx);

  /// FourierX::forward
  void forward(const DivergenceRows& rows, Field& to, Deferred<ExactSum>& sum) const;

 private:
  int nx_;
  RowStages stages_;
  Buffer<ComplexPair> twiddles_;  ///< exp(-2 pi i n / nx)
};

}  // namespace sluice
