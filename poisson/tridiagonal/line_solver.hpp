#pragma once
#include <memory>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/transpose.hpp"
#include "core/device/buffer.hpp"
#include "poisson/tridiagonal/block_solver.hpp"
#include "poisson/tridiagonal/tile_solver.hpp"
#include "poisson/tridiagonal/tridiagonal_kernels.hpp"
#include "poisson/tridiagonal/tridiagonal_method.hpp"

namespace sluice {

/// How the z lines of one process column lie on its ranks: at home, z is split by whole blocks; for whole
/// lines, x or y is split.
struct LineBoxes {
  std::vector<Box3> home, whole;  ///< for each rank of the column, in lines (a complex number is one)
  int rank = 0;                   ///< this rank in the column

  const Box3& my_home() const { return home[static_cast<std::size_t>(rank)]; }
  const Box3& my_whole() const { return whole[static_cast<std::size_t>(rank)]; }
};

/// Boxes of the Fourier coefficients (y pencils) or of real fields (x pencils).
LineBoxes spectral_lines(const Communicator& comm, const Decomposition& decomposition);
LineBoxes field_lines(const Communicator& comm, const Decomposition& decomposition);

/// Tridiagonal systems along z, one for each line of a process column, by either method. Knows where lines
/// lie and what travels; the coefficients come with each call.
template <class Lines>
class LineSolver {
 public:
  /// Collective; allocates all that solve() needs. `comm` and `exchange` must outlive this object.
  /// `block_method` is for tests.
  LineSolver(const Communicator& comm, const Decomposition& decomposition, LineBoxes boxes, TridiagonalMethod method,
             Exchange& exchange, BlockMethod block_method = BlockMethod::tiles);

  /// Solves in place. `at_home` are the coefficients of the lines of the rank's home box, `whole` those of
  /// its box of whole lines; `x` is the home box. Collective over the process column.
  void solve(const Lines& at_home, const Lines& whole, const LineArray& x);

 private:
  void allocate_scratch(const ZBlocks& blocks);
  void form_boundary(const Lines& at_home, const LineArray& x);
  void solve_reduced(const Lines& whole);
  void solve_interior(const Lines& at_home, const LineArray& x);
  void solve_by_blocks(const Lines& at_home, const Lines& whole, const LineArray& x);
  void solve_transposed(const Lines& whole, const LineArray& x);
  Scratch scratch();

  TridiagonalMethod method_;
  BlockMethod block_method_;  ///< of a GPU build: one that serves the grid
  LineBoxes boxes_;
  int first_block_ = 0;
  int blocks_here_ = 0;
  std::int64_t longest_block_ = 0;
  bool joined_ = false;   ///< JoinedBlocks
  Buffer<real> at_home_;  ///< boundary values of the local blocks
  Buffer<real> ends_;     ///< of the local blocks joined to one
  LineArray home_array_, ends_array_;
  LineArray whole_array_;  ///< boundary values, or all values, of whole lines: held by the transpose
  Buffer<double> pivots_, rows_;
  Buffer<real> boundary_;
  std::ptrdiff_t pivots_pitch_ = 0;
  std::unique_ptr<Transpose<real>> transpose_;  ///< none where z is not split
};

}  // namespace sluice
