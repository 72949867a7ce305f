#pragma once
#include <memory>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/memory_need.hpp"
#include "poisson/tridiagonal/line_plan.hpp"
#include "poisson/tridiagonal/lines.hpp"

namespace sluice {

/// How the z lines of one process column are distributed: at home, z is split by whole blocks; for whole lines, x or y
/// is split.
struct LineBoxes {
  std::vector<Box3> home, whole;  ///< for each rank of the column, in lines (one per complex number)
  int rank = 0;                   ///< this rank in the column

  const Box3& my_home() const { return home[static_cast<std::size_t>(rank)]; }
  const Box3& my_whole() const { return whole[static_cast<std::size_t>(rank)]; }
};

/// Boxes of the Fourier coefficients (y pencils) or of real fields (x pencils), for the column of `rank`.
LineBoxes spectral_lines(const Decomposition& decomposition, int rank);
LineBoxes field_lines(const Decomposition& decomposition, int rank);

/// One system for each line: the coefficients of the rank's home box and its blocks, those of its box of whole lines,
/// and the right-hand sides on the home box, which the solution replaces.
template <class Lines>
struct LineSystems {
  Lines at_home, whole;
  LineArray x;
};

/// Tridiagonal systems along z, one for each line of a process column. Each strategy is a class, which knows where
/// lines are and what is exchanged. The coefficients are passed in each call.
template <class Lines>
class LineSolver {
 public:
  LineSolver() = default;
  LineSolver(const LineSolver&) = delete;
  LineSolver& operator=(const LineSolver&) = delete;
  virtual ~LineSolver() = default;

  /// Solves all systems, in place. Their number must be LinePlan::systems, if that is not 1. Collective over the
  /// process column.
  virtual void solve(const std::vector<LineSystems<Lines>>& all) = 0;
};

/// The solver of a plan; allocates everything that solve() needs. Collective. `comm` and `exchange` must outlive it.
template <class Lines>
std::unique_ptr<LineSolver<Lines>> make_line_solver(const Communicator& comm, const LineBoxes& boxes,
                                                    const LinePlan& plan, Exchange& exchange);

/// Memory of such a solver on one rank. `components`: of Lines. Local.
MemoryNeed line_solver_need(const LineBoxes& boxes, const LinePlan& plan, int components);

}  // namespace sluice
