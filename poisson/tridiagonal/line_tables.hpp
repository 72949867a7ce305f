#pragma once
// The coefficients of z lines in device memory, as the loops of tridiagonal_kernels.hpp read them.
#include <optional>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/device/buffer.hpp"
#include "core/support/box3.hpp"
#include "poisson/tridiagonal/tridiagonal_method.hpp"
#include "poisson/tridiagonal/tridiagonal_rows.hpp"
#include "poisson/tridiagonal/tridiagonal_sweeps.hpp"

namespace sluice {

/// How a GPU build splits z over ranks: each joins its blocks to one, so that two values a line travel from each rank,
/// however many blocks it has. Which blocks those are concerns that rank alone: as few as threads can solve, since the
/// values at their ends are read and written too. The arithmetic then depends on the process grid, as that of FFTs on
/// GPUs does.
struct JoinedBlocks {
  /// Rank n of a column has the planes [bounds[n], bounds[n + 1]); this one is rank `z_index`.
  JoinedBlocks(std::vector<std::int64_t> bounds, int z_index);

  /// What the planes of a rank are cut into.
  static int count(std::int64_t planes);

  ZBlocks of_ranks;               ///< one for each rank of a column
  ZBlocks of_threads;             ///< those of all ranks; of one rank, their lengths differ by one row at most
  std::vector<int> first_blocks;  ///< of_threads' of each rank, and the number of all
  int rank;                       ///< this one

  int first_block() const { return first_blocks[static_cast<std::size_t>(rank)]; }
  int blocks_here() const { return first_blocks[static_cast<std::size_t>(rank) + 1] - first_block(); }
  std::int64_t longest_here() const;
};

/// Whether lines are solved by tiles that hold them whole: on GPUs, where z is not split.
bool solves_in_tiles(const Decomposition& decomposition, TridiagonalMethod method);

/// Whether blocks are joined: on GPUs, where z is split and the systems of a rank's blocks and of all ranks fit shared
/// memory.
bool joins_blocks(const Decomposition& decomposition, TridiagonalMethod method);

/// The joined blocks of this rank; none where they are not joined.
std::optional<JoinedBlocks> joined_blocks(const Communicator& comm, const Decomposition& decomposition,
                                          TridiagonalMethod method);

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
  /// wavenumbers. `blocks`: of the grid, where none are joined. Solutions come out divided by `scale`.
  PoissonTables(const std::vector<double>& z_nodes, std::vector<double> shift_x, std::vector<double> shift_y,
                const ZBlocks& blocks, std::optional<JoinedBlocks> joined, double scale);

  /// Coefficients for the lines of the rank's home box (x: wavenumbers). Those of reduced systems are there only where
  /// blocks are joined. Once.
  ShiftedLines at_home(const Box3& box);
  /// Coefficients for the rank's whole lines, reduced systems prepared. Once.
  ShiftedLines whole(const Box3& box);

 private:
  ShiftedLines lines(const Box3& box, const RowTables& rows) const;

  RowTables rows_;
  std::optional<JoinedBlocks> joined_;
  std::optional<RowTables> joined_rows_;
  Buffer<int> first_blocks_;
  Buffer<double> shift_x_, shift_y_, moment_, mean_weight_, home_reduced_, reduced_;
  double leak_;
};

/// Coefficients of 1 - c Lz.
class HelmholtzTables {
 public:
  HelmholtzTables(TridiagonalRows second_derivative, const ZBlocks& blocks, std::optional<JoinedBlocks> joined,
                  TridiagonalMethod method);

  void prepare(double c);
  TableLines at_home() const;
  TableLines whole() const;
  const TridiagonalRows& matrix() const { return matrix_; }

 private:
  /// Pivots of the rows [first, end).
  void eliminate(int first, int end);

  TridiagonalRows second_derivative_, matrix_;
  TridiagonalMethod method_;
  RowTables rows_;
  std::optional<JoinedBlocks> joined_;
  std::optional<RowTables> joined_rows_;
  std::vector<double> host_pivots_, host_home_reduced_, host_reduced_;
  Buffer<double> pivots_, home_reduced_, reduced_;  ///< pivots_: inverse, weight
};

}  // namespace sluice
