#pragma once
#include <cstdint>
#include <vector>

#include "solver/grid/grid.hpp"
#include "solver/initial.hpp"
#include "solver/state/state.hpp"

namespace sluice {

/// One wave of the turbulent start between the heights `bottom` and `top`. With the phase angle
/// theta = 2 pi (kx x/Lx + ky y/Ly + phase), the horizontal wave vector k, and s = (z - bottom)/(top - bottom):
///
///     w                  =  roll sin^2(pi s) cos(theta)
///     velocity along k   = -roll pi/(|k| (top - bottom)) sin(2 pi s) sin(theta), so that div u = 0
///     velocity across k  =  streak sin(pi s) cos(theta), along x where k is along y
struct EddyWave {
  int kx = 0, ky = 0;  ///< waves along the domain, not both 0
  double phase = 0;
  double bottom = 0, top = 0;
  double roll = 0, streak = 0;
};

/// The waves of the turbulent start, as in docs/equations.md. The seed chooses phases and wavelengths; amplitudes do
/// not depend on it. Empty without a friction velocity, and on grids of fewer than 4 cells along x and y.
std::vector<EddyWave> eddy_waves(const Grid& grid, const FlowParameters& flow, const TurbulentProfile& mean,
                                 std::uint64_t seed);

/// Adds the waves at the points of each component: over each plane, their mean is 0. They are divergence-free in the
/// continuous limit only. Halos are stale on return.
void add_waves(VectorField& velocity, const Grid& grid, const std::vector<EddyWave>& waves);

}  // namespace sluice
