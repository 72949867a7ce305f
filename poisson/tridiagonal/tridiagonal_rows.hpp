#pragma once
// The second derivative along z as a tridiagonal matrix, at cell centres and at faces.
#include <complex>
#include <limits>
#include <vector>

namespace sluice {

/// A global one-dimensional tridiagonal matrix of nz rows; lower[0] = upper[nz - 1] = 0.
struct TridiagonalRows {
  std::vector<double> lower, diagonal, upper;
};

/// Homogeneous wall rows: at the wall, the mean of the first centre and its image, the value is slip_length times the
/// gradient towards the fluid, so that this gradient is 2 u_0 / (dz_0 + 2 slip_length). dirichlet: 0 at the wall
/// (no-slip). neumann: no flux through the wall (free-slip; the pressure).
struct WallRow {
  double slip_length = 0;

  static const WallRow dirichlet, neumann;
  bool operator==(const WallRow&) const = default;
};
inline constexpr WallRow WallRow::dirichlet{0};
inline constexpr WallRow WallRow::neumann{std::numeric_limits<double>::infinity()};

/// At cell centres (u, v, p): ((u_{k+1} - u_k) / dzc_k - (u_k - u_{k-1}) / dzc_{k-1}) / dz_k, dzc_k = (dz_k +
/// dz_{k+1}) / 2. z_nodes: the nz + 1 face coordinates, walls included.
TridiagonalRows second_derivative_centers(const std::vector<double>& z_nodes, WallRow bottom, WallRow top);

/// At the upper faces of the cells (w): ((w_{k+1} - w_k) / dz_{k+1} - (w_k - w_{k-1}) / dz_k) / dzc_k, with w = 0 on
/// both walls. Row nz - 1 is on the top wall and zero, so that 1 - c Lz is the identity there; row nz - 2 is not
/// coupled to it.
TridiagonalRows second_derivative_faces(const std::vector<double>& z_nodes);

/// Solves one system on the host (Thomas algorithm without pivoting).
std::vector<double> solve(const TridiagonalRows& rows, std::vector<double> rhs);
/// Likewise for the matrix with `shift` added to its diagonal.
std::vector<std::complex<double>> solve(const TridiagonalRows& rows, std::complex<double> shift,
                                        std::vector<std::complex<double>> rhs);

}  // namespace sluice
