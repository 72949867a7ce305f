#include "poisson/fft/divergence_rows.hpp"

#include "core/device/parallel_for.hpp"

namespace sluice {

void write_divergence(const DivergenceRows& rows, Field& rhs, Deferred<ExactSum>& sum) {
  const View3<real> to = rhs.view();
  op::with_order(rows.order, [&](auto order) {
    const WriteDivergence<order> kernel{rows, to.origin, to.stride_y, to.stride_z};
    reduce_sum("divergence", rhs.local_box(), kernel, sum);
  });
}

}  // namespace sluice
