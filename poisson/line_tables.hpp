#pragma once
// The coefficients of z lines in device memory, as the loops of tridiagonal_kernels.hpp read them.
#include <vector>

#include "core/decomp/box3.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/device/buffer.hpp"
#include "poisson/tridiagonal_method.hpp"
#include "poisson/tridiagonal_rows.hpp"
#include "poisson/tridiagonal_sweeps.hpp"

namespace sluice {

/// Rows common to all lines of a grid, and its blocks.
class RowTables {
 public:
  /// `symmetric_as`: a matrix with the same ratios of lower_k to upper_{k-1}, from which they are taken.
  RowTables(const TridiagonalRows& symmetric_as, const ZBlocks& blocks);

  void set(const TridiagonalRows& rows);
  const LineRows& device_rows() const { return device_rows_; }
  /// The same with host pointers.
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
  /// z_nodes: nz + 1 faces; shift_x, shift_y: eigenvalues of the second differences along x and y, for all
  /// wavenumbers. Solutions come out divided by `scale`.
  PoissonTables(const std::vector<double>& z_nodes, std::vector<double> shift_x, std::vector<double> shift_y,
                const ZBlocks& blocks, double scale);

  /// Coefficients for the lines of a box (x: wavenumbers), without those of the reduced systems.
  ShiftedLines lines(const Box3& box) const;
  /// The same, and prepares the reduced systems; for one box only.
  ShiftedLines lines_with_reduced(const Box3& box);

 private:
  RowTables rows_;
  Buffer<double> shift_x_, shift_y_, moment_, mean_weight_, reduced_;
  double leak_;
};

/// Coefficients of 1 - c Lz.
class HelmholtzTables {
 public:
  HelmholtzTables(TridiagonalRows second_derivative, const ZBlocks& blocks, TridiagonalMethod method);

  void prepare(double c);
  TableLines lines() const;
  const TridiagonalRows& matrix() const { return matrix_; }

 private:
  /// Pivots of the rows [first, end).
  void eliminate(int first, int end);

  TridiagonalRows second_derivative_, matrix_;
  TridiagonalMethod method_;
  RowTables rows_;
  std::vector<double> host_pivots_, host_reduced_;
  Buffer<double> pivots_, reduced_;  ///< pivots_: inverse, weight
};

}  // namespace sluice
