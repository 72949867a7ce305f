#pragma once
#include <complex>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/host_access.hpp"
#include "core/decomp/view3.hpp"
#include "core/device/buffer.hpp"
#include "core/device/upload.hpp"

namespace sluice {

/// Makes solutions of the Poisson or Helmholtz equation between walls, with no flux through these, those of a box that
/// is periodic in z. Only the equations of the first and the last plane differ, by the flux through the face that they
/// share. So the periodic solution is that between walls plus, for each pair of wavenumbers, a multiple of one solution
/// of the homogeneous equations: on a uniform grid r^k - r^(nz-1-k) with r + 1/r = 2 - shift dz^2, and (nz-1)/2 - k
/// where the shift is 0. The multiple follows from the first and the last value of the line.
class PeriodicLines {
 public:
  /// z_nodes: must be uniform. `comm` must outlive it. Collective.
  PeriodicLines(const Communicator& comm, const Decomposition& decomposition, const std::vector<double>& z_nodes);

  /// The equations are those of the second difference along z plus shift_x and shift_y, for all wavenumbers, or a
  /// multiple of them. Does not wait for the loops. Local.
  void set(const std::vector<double>& shift_x, const std::vector<double>& shift_y);

  /// Bytes of its arrays on one rank.
  static double memory(const Decomposition& decomposition, int rank);

  /// In place, on the rank's y pencil. Collective over the process column. The same bits on every process grid.
  void correct(View3<std::complex<real>> lines);

 private:
  const Communicator* comm_;
  Box3 box_;
  int nz_;
  double dz_;
  std::vector<int> host_bounds_;
  Buffer<double> shifts_;  ///< those along x, then those along y
  Upload<double> upload_;
  Buffer<double> rate_;              ///< of each line: -log r
  Buffer<std::complex<real>> ends_;  ///< of each line: the first value, then the last
  Buffer<int> bounds_;               ///< of the rank's z blocks
  HostImage image_;
};

}  // namespace sluice
