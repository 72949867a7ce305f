#include "poisson/divergence/divergence_rows.hpp"

#include "core/device/parallel_for.hpp"

namespace sluice {

void write_divergence(VelocityDivergence& divergence, Field& to) {
  const View3<real> view = to.view();
  op::with_order(divergence.rows.order, [&](auto order) {
    const WriteDivergence<order> kernel{divergence.rows, view.origin, view.stride_y, view.stride_z};
    reduce_sum("divergence", to.local_box(), kernel, divergence.sum_of_u);
  });
  if (divergence.when_summed) divergence.when_summed();
}

}  // namespace sluice
