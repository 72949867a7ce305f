#pragma once
// Linear stability of a parallel flow U(z), as Sluice's own staggered differences see it.
#include <complex>
#include <vector>

#include "core/stencil/order.hpp"
#include "solver/grid/grid.hpp"

namespace sluice::test {

/// One eigenmode exp(i a x + rate t) of the linearised discrete equations in (x, z), a = 2 pi / length_x: u
/// at x faces and centres in z, w at centres in x and z faces (upper face of cell k), divergence-free on the
/// grid. The largest |u| is 1.
struct EigenMode {
  std::complex<double> rate;
  std::vector<std::complex<double>> u, w;
};

/// The mode whose rate is nearest to `guess`. `base`: U at the centres. Between resting no-slip walls.
EigenMode nearest_mode(const Grid& grid, const std::vector<double>& base, double viscosity, std::complex<double> guess,
                       Order order = Order::second);

}  // namespace sluice::test
