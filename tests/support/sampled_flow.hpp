#pragma once
// For tests of samplers: a flow between moving walls on a stretched grid, and the sums of an open block by name.
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "solver/grid/stretching.hpp"
#include "solver/statistics/block_sums.hpp"
#include "tests/support/flow_case.hpp"

namespace sluice::test {

using Sums = std::map<std::string, std::vector<double>>;

inline Sums by_name(const BlockSums& sampler) {
  Sums sums;
  for (std::size_t n = 0; n < sampler.profiles().size(); ++n)
    sums[sampler.profiles()[n].name] = sampler.open_block().sums[n];
  return sums;
}

inline FlowCase sampled_case(std::array<std::int64_t, 3> cells, const Discretisation& form) {
  FlowCase settings;
  settings.flow.order = form.order;
  settings.flow.diffusion = form.diffusion;
  settings.cells = cells;
  settings.length_x = 4;
  settings.length_y = 2;
  settings.z_nodes = tanh_nodes(cells[2], 2, 2, true);
  settings.flow.viscosity = 0.01;
  settings.flow.bottom = {WallKind::no_slip, -0.5, 0.2};
  settings.flow.top = {WallKind::no_slip, 0.7, -0.3};
  settings.flow.forcing = {ForcingKind::bulk_velocity, 0.5};
  return settings;
}

}  // namespace sluice::test
