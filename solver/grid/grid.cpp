// Points, spacings and metrics of the staggered grid; the device copies of the metrics.
#include "solver/grid/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/support/error.hpp"

namespace sluice {

Grid::Grid(std::array<std::int64_t, 3> cells, double length_x, double length_y, std::vector<double> z_nodes,
           double velocity)
    : cells_(cells), length_x_(length_x), length_y_(length_y), z_nodes_(std::move(z_nodes)), velocity_(velocity) {
  SLUICE_REQUIRE(z_nodes_.size() == static_cast<std::size_t>(cells[2]) + 1, "a grid needs nz + 1 faces in z");
  for (std::size_t k = 0; k + 1 < z_nodes_.size(); ++k) {
    if (!(z_nodes_[k + 1] > z_nodes_[k])) {
      throw Error(ExitCode::usage,
                  fmt::format("grid: the faces in z must increase, but face {} is at {} and face {} at {}", k,
                              z_nodes_[k], k + 1, z_nodes_[k + 1]));
    }
  }
  if (z_nodes_.front() != 0)
    throw Error(ExitCode::usage, fmt::format("grid: the first face in z must be at 0, not at {}", z_nodes_.front()));
}

double Grid::z_center(std::int64_t k) const {
  const auto n = static_cast<std::size_t>(k);
  return (z_nodes_[n] + z_nodes_[n + 1]) / 2;
}

double Grid::dz(std::int64_t k) const {
  const std::int64_t nz = cells_[2];
  const std::int64_t mirrored = k < 0 ? -1 - k : (k >= nz ? 2 * nz - 1 - k : k);
  const auto n = static_cast<std::size_t>(mirrored);
  return z_nodes_[n + 1] - z_nodes_[n];
}

double Grid::dz_min() const {
  double smallest = dz(0);
  for (std::int64_t k = 1; k < cells_[2]; ++k) smallest = std::min(smallest, dz(k));
  return smallest;
}

namespace {

constexpr int planes_before = 2;

Buffer<real> per_plane(const Box3& box, auto&& value) {
  std::vector<real> values;
  for (std::int64_t k = box.lo[2] - planes_before; k <= box.hi[2]; ++k)
    values.push_back(static_cast<real>(value(std::max<std::int64_t>(k, -1))));  // below the bottom wall -2 is not used
  return Buffer<real>(values);
}

}  // namespace

DeviceMetrics::DeviceMetrics(const Grid& grid, const Box3& box)
    : inv_dx_(static_cast<real>(1 / grid.dx())),
      inv_dy_(static_cast<real>(1 / grid.dy())),
      velocity_(static_cast<real>(grid.velocity())),
      dz_(per_plane(box, [&](std::int64_t k) { return grid.dz(k); })),
      inv_dz_(per_plane(box, [&](std::int64_t k) { return 1 / grid.dz(k); })),
      inv_dz_center_(
          per_plane(box, [&](std::int64_t k) { return 1 / grid.dz_center(std::min(k, grid.cells()[2] - 1)); })) {}

Metrics DeviceMetrics::view() const {
  return {inv_dx_,
          inv_dy_,
          velocity_,
          dz_.data() + planes_before,
          inv_dz_.data() + planes_before,
          inv_dz_center_.data() + planes_before};
}

}  // namespace sluice
