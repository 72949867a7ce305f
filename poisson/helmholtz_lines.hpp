#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/view3.hpp"
#include "core/stencil/tridiagonal_method.hpp"
#include "poisson/tridiagonal/line_solver.hpp"
#include "poisson/tridiagonal/line_tables.hpp"

namespace sluice {

/// The plan for real fields that are solved together, as far as the strategy can do that.
LinePlan plan_of_fields(const Decomposition& decomposition, int z_index, TridiagonalMethod method, int fields);

/// Solves (1 - c Lz) x = rhs for every line along z of real arrays in any pencils.
class HelmholtzLines {
 public:
  /// An array on this rank's home box and the number of its matrix Lz.
  struct Task {
    View3<real> array;
    std::size_t matrix;
  };

  /// `boxes`, `plan`: of the process column of `comm`. `comm` and `exchange` must outlive the solver. Collective.
  HelmholtzLines(const Communicator& comm, LineBoxes boxes, const LinePlan& plan,
                 std::vector<TridiagonalRows> second_derivatives, Exchange& exchange);

  /// Sets c >= 0. Every rank computes the global 1-D coefficients itself; no communication.
  void prepare(double c);
  /// In: the right-hand sides; out: the solutions, in place. As many arrays as the plan is for. Collective over the
  /// process column.
  void solve(const std::vector<Task>& tasks);

  /// 1 - c Lz for the first Lz.
  const TridiagonalRows& matrix() const { return tables_.front().matrix(); }

 private:
  LineBoxes boxes_;
  std::deque<HelmholtzTables> tables_;
  std::unique_ptr<LineSolver<TableLines>> lines_;
};

}  // namespace sluice
