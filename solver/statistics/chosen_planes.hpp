#pragma once
#include <cstdint>
#include <vector>

#include "core/support/nearest.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// The planes nearest to chosen heights, one for each height: numbers of cells, and of faces from the bottom wall.
struct ChosenPlanes {
  std::vector<std::int64_t> centers, faces;
};

/// `heights`: z, in increasing order.
inline ChosenPlanes planes_nearest_to(const std::vector<double>& heights, const Grid& grid) {
  std::vector<double> z_centers;
  for (std::int64_t k = 0; k < grid.cells()[2]; ++k) z_centers.push_back(grid.z_center(k));
  ChosenPlanes planes;
  for (const double z : heights) {
    planes.centers.push_back(nearest_index(z_centers, z));
    planes.faces.push_back(nearest_index(grid.z_nodes(), z));
  }
  return planes;
}

}  // namespace sluice
