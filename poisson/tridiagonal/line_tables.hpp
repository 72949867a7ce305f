#pragma once
// The coefficients of z lines in device memory, for the loops of tridiagonal_kernels.hpp.
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/device/buffer.hpp"
#include "core/support/box3.hpp"
#include "poisson/tridiagonal/line_plan.hpp"
#include "poisson/tridiagonal/lines.hpp"
#include "poisson/tridiagonal/tridiagonal_rows.hpp"

namespace sluice {

/// Matrix rows common to all lines of a grid, and its blocks.
class RowTables {
 public:
  /// Takes the ratios lower_k / upper_{k-1} from `symmetric_as`; all matrices given to set() must have the same.
  RowTables(const TridiagonalRows& symmetric_as, const ZBlocks& blocks);

  void set(const TridiagonalRows& rows);
  const LineRows& device_rows() const { return device_rows_; }
  /// The rows with host pointers.
  LineRows host_rows() const;

 private:
  std::vector<int> host_bounds_;
  std::vector<double> host_values_, host_symmetry_;
  Buffer<int> bounds_;
  Buffer<double> values_, symmetry_;  ///< values_: lower, diagonal, upper
  LineRows device_rows_;
};

/// Coefficients of the Poisson equation for every pair of wavenumbers.
class PoissonTables {
 public:
  /// z_nodes: nz + 1 faces; shift_x, shift_y: eigenvalues of the second differences along x and y, for all wavenumbers.
  /// Solutions are divided by `scale`.
  PoissonTables(const std::vector<double>& z_nodes, std::vector<double> shift_x, std::vector<double> shift_y,
                const LinePlan& plan, double scale);

  /// Coefficients for the lines of the rank's home box (x: wavenumbers). Contains those of reduced systems only if
  /// blocks are condensed. Call once.
  ShiftedLines at_home(const Box3& box);
  /// Coefficients for the rank's whole lines, with prepared reduced systems. Call once.
  ShiftedLines whole(const Box3& box);

  /// Device memory of the reduced systems of these boxes, without that of the matrix rows.
  static double bytes(const LinePlan& plan, const Box3& home, const Box3& whole);

 private:
  PoissonTables(const std::vector<double>& z_nodes, const TridiagonalRows& second_derivative,
                std::vector<double> shift_x, std::vector<double> shift_y, const LinePlan& plan, double scale);
  ShiftedLines lines(const Box3& box, const RowTables& rows) const;

  LinePlan plan_;
  RowTables rows_, reduced_rows_;  ///< of `solved` and `reduced` blocks
  Buffer<int> first_blocks_;
  Buffer<double> shift_x_, shift_y_, moment_, mean_weight_, home_reduced_, reduced_;
  double singular_flux_;
};

/// Coefficients of 1 - c Lz.
class HelmholtzTables {
 public:
  HelmholtzTables(TridiagonalRows second_derivative, const LinePlan& plan);

  void prepare(double c);
  TableLines at_home() const;
  TableLines whole() const;
  const TridiagonalRows& matrix() const { return matrix_; }

 private:
  /// Pivots of the rows [first, end).
  void eliminate(int first, int end);

  TridiagonalRows second_derivative_, matrix_;
  LinePlan plan_;
  RowTables rows_, reduced_rows_;  ///< of `solved` and `reduced` blocks
  std::vector<double> host_pivots_, host_home_reduced_, host_reduced_;
  Buffer<double> pivots_, home_reduced_, reduced_;  ///< pivots_: inverse, weight
};

}  // namespace sluice
