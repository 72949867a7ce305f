#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/support/box3.hpp"
#include "core/support/real.hpp"

namespace sluice {

/// The staggered grid of the whole domain: uniform in x and y, any faces in z, moving along x at a constant velocity.
/// Immutable; knows no MPI. Lengths in h. Face k lies between centres k and k + 1; z_nodes() also holds the bottom
/// wall.
class Grid {
 public:
  /// z_nodes: nz + 1 increasing face coordinates, from 0 to Lz. Throws Error(usage) if they are not.
  Grid(std::array<std::int64_t, 3> cells, double length_x, double length_y, std::vector<double> z_nodes,
       double velocity = 0);

  const std::array<std::int64_t, 3>& cells() const { return cells_; }
  std::int64_t points() const { return cells_[0] * cells_[1] * cells_[2]; }
  double length_x() const { return length_x_; }
  double length_y() const { return length_y_; }
  double length_z() const { return z_nodes_.back(); }
  double dx() const { return length_x_ / static_cast<double>(cells_[0]); }
  double dy() const { return length_y_ / static_cast<double>(cells_[1]); }
  const std::vector<double>& z_nodes() const { return z_nodes_; }  ///< nz + 1 faces, walls included
  double z_center(std::int64_t k) const;                           ///< midpoint of the cell's faces
  double dz(std::int64_t k) const;  ///< height of cell k; beyond a wall, that of the mirrored cell
  double dz_center(std::int64_t k) const {
    return (dz(k) + dz(k + 1)) / 2;
  }  ///< between centres k and k + 1, -1 <= k < nz
  double dz_min() const;
  double velocity() const { return velocity_; }  ///< of every grid point, along x

 private:
  std::array<std::int64_t, 3> cells_;
  double length_x_, length_y_;
  std::vector<double> z_nodes_;
  double velocity_;
};

/// The grid for kernels, by local index: dz(k) and its inverse for -1 <= k <= nz, dz_center(k) for -1 <= k < nz; next
/// to other ranks, dz_center(k) for -2 <= k <= nz.
struct Metrics {
  real inv_dx, inv_dy;
  real velocity;  ///< of the grid, along x
  const real* dz;
  const real* inv_dz;
  const real* inv_dz_center;

  /// The same metrics with plane k as plane 0.
  SLUICE_INLINE Metrics seen_from(int k) const {
    return {inv_dx, inv_dy, velocity, dz + k, inv_dz + k, inv_dz_center + k};
  }
};

/// Owns the device arrays behind Metrics, for the planes of one rank.
class DeviceMetrics {
 public:
  DeviceMetrics(const Grid& grid, const Box3& box);
  Metrics view() const;

 private:
  real inv_dx_, inv_dy_, velocity_;
  Buffer<real> dz_, inv_dz_, inv_dz_center_;
};

}  // namespace sluice
