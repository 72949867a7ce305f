#pragma once
#include <cstdint>
#include <memory>

#include "core/decomp/field.hpp"
#include "core/stencil/order.hpp"
#include "poisson/divergence/divergence_rows.hpp"
#include "poisson/fft/fft.hpp"

namespace sluice {

/// write_divergence() and FourierX::forward in one pass over memory, which does not store the divergence. On a CPU each
/// row is formed just before FourierX transforms it, with the same bits; on a GPU by kernels that form their rows in
/// shared memory.
class DivergenceFourier {
 public:
  /// Whether this build can do it for rows of nx values: on CPUs always; on a GPU for the lengths of RowFourier, if it
  /// has the shared memory that the kernel needs.
  static bool supports(std::int64_t nx, Order order);

  /// For fields of `fourier_x` with rows of nx values, a length that supports() accepts. `fourier_x` must outlive this
  /// object.
  DivergenceFourier(FourierX& fourier_x, int nx);
  ~DivergenceFourier();
  DivergenceFourier(const DivergenceFourier&) = delete;
  DivergenceFourier& operator=(const DivergenceFourier&) = delete;

  /// Reads u*, v*, w* and writes the coefficients of the rank's own rows in some planes to `to`, whose halos are not
  /// changed. Called for all planes in ascending order, once on a GPU, where rows of u*, v*, w* must begin at even
  /// multiples of the size of a real number. The last call sets divergence.sum_of_u.
  void forward(VelocityDivergence& divergence, Field& to, const PlaneRange& planes);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice
