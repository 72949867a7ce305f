#pragma once
// The coefficients of z lines in device memory.
#include <cstddef>
#include <optional>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/device/buffer.hpp"
#include "core/device/upload.hpp"
#include "core/support/box3.hpp"
#include "poisson/tridiagonal/end_reach.hpp"
#include "poisson/tridiagonal/line_plan.hpp"
#include "poisson/tridiagonal/reduced_system.hpp"
#include "poisson/tridiagonal/tridiagonal_rows.hpp"

namespace sluice {

/// Matrix rows common to all lines, with the blocks of a plan.
struct PlanRows {
  LineRows solved;                 ///< with the solved blocks of all ranks
  LineRows home;                   ///< with the solved blocks of this rank
  LineRows reduced;                ///< with the blocks of the reduced system
  const int* condensed = nullptr;  ///< as in ReducedSystem

  /// The reduced system of whole lines, and, if blocks are condensed, that of this rank's blocks.
  ReducedSystem whole_system() const { return {reduced, solved, condensed, false}; }
  ReducedSystem home_system() const { return {home, home, nullptr, true}; }
  /// That of this rank's blocks as if there were no other ranks.
  ReducedSystem isolated_system() const { return {home, home, nullptr, false}; }
};

/// These rows in host and device memory.
class RowTables {
 public:
  /// Takes the ratios lower_k / upper_{k-1} from `symmetric_as`; all matrices given to set() must have the same.
  RowTables(const TridiagonalRows& symmetric_as, const LinePlan& plan);
  RowTables() = default;

  /// Does not wait for the loops.
  void set(const TridiagonalRows& rows);
  const PlanRows& on_host() const { return on_host_; }
  const PlanRows& on_device() const { return on_device_; }

 private:
  std::vector<int> host_bounds_;     ///< of the solved blocks and of the reduced system's; condensed blocks
  std::vector<double> host_values_;  ///< lower, diagonal, upper; symmetry of the solved blocks, of the reduced system's
  Buffer<int> bounds_;
  Buffer<double> values_;
  Upload<double> upload_;
  PlanRows on_host_, on_device_;
};

/// Coefficients of tridiagonal systems whose matrices differ only by a shift of the diagonal: the sum of a number that
/// belongs to the wavenumber along x and one that belongs to the wavenumber along y.
class ShiftedTables {
 public:
  /// symmetric_as: as for RowTables.
  ShiftedTables(const TridiagonalRows& symmetric_as, const LinePlan& plan);

  /// The matrix, and the shifts for all wavenumbers, all of the sign of the diagonal or 0. Does not wait for the loops.
  void set(const TridiagonalRows& rows, const std::vector<double>& shift_x, const std::vector<double>& shift_y);

  /// Prepares coefficients for the lines of the rank's home box (x: wavenumbers), which are valid until the next call.
  /// They contain those of reduced systems only if blocks are condensed; with split tiles, of the rank alone, and its
  /// end equations (end_changes.hpp).
  ShiftedLines at_home(const Box3& box);
  /// Prepares coefficients for the rank's whole lines, with their reduced systems; valid until the next call.
  ShiftedLines whole(const Box3& box);

  /// Device memory of the reduced systems of these boxes, without that of the matrix rows.
  static double bytes(const LinePlan& plan, const Box3& home, const Box3& whole);

 protected:
  /// The line whose shift is 0, if its matrix is singular.
  struct SingularLine {
    double flux;  ///< added to the last diagonal
    Buffer<double> moment, mean_weight;
  };
  std::optional<SingularLine> singular_;

 private:
  ShiftedLines lines(const Box3& box, const LineRows& rows) const;
  /// With the prepared `system` in `reduced`.
  ShiftedLines prepared_lines(const Box3& box, const ReducedSystem& system, bool with_ends,
                              Buffer<double>& reduced) const;

  LineStrategy strategy_;
  RowTables rows_;
  int first_row_, rows_here_;  ///< of this rank
  Buffer<double> shift_x_, shift_y_, home_reduced_, reduced_;
  Buffer<double> reach_;  ///< of the ends, of split tiles
  Upload<double> upload_x_, upload_y_, upload_reach_;
};

/// Coefficients of the Poisson equation for every pair of wavenumbers.
class PoissonTables : public ShiftedTables {
 public:
  /// z_nodes: nz + 1 faces; shift_x, shift_y: eigenvalues of the second differences along x and y, for all wavenumbers.
  /// Solutions are divided by `scale`.
  PoissonTables(const std::vector<double>& z_nodes, std::vector<double> shift_x, std::vector<double> shift_y,
                const LinePlan& plan, double scale);
};

/// Coefficients of 1 - c Lz.
class HelmholtzTables {
 public:
  HelmholtzTables(TridiagonalRows second_derivative, const LinePlan& plan);

  /// Does not wait for the loops.
  void prepare(double c);
  TableLines at_home() const { return lines(rows_.on_device().home, home_reduced_); }
  TableLines whole() const { return lines(rows_.on_device().reduced, reduced_); }
  const TridiagonalRows& matrix() const { return matrix_; }

 private:
  TableLines lines(const LineRows& rows, std::size_t reduced) const;
  /// What split tiles need beside isolated systems.
  void prepare_ends();
  /// Pivots of the rows [first, end).
  void eliminate(int first, int end);

  TridiagonalRows second_derivative_, matrix_;
  LineStrategy strategy_;
  RowTables rows_;
  int first_row_, rows_here_;                   ///< of this rank
  std::size_t reduced_, home_reduced_, reach_;  ///< where these coefficients begin
  /// 1 / pivot, weight and from_first of all rows, reduced systems of whole lines and at home, reach of the ends.
  std::vector<double> host_values_;
  Buffer<double> values_;
  Upload<double> upload_;
};

}  // namespace sluice
