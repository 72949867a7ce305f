#include "poisson/tridiagonal/line_tables.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

/// For each block, the product of lower_k / upper_{k-1} over its rows but the first; a pair of uncoupled rows counts as
/// 1.
std::vector<double> symmetry_factors(const TridiagonalRows& rows, const ZBlocks& blocks) {
  std::vector<double> factors;
  for (std::size_t block = 0; block + 1 < blocks.bounds().size(); ++block) {
    double factor = 1;
    for (auto k = static_cast<std::size_t>(blocks.bounds()[block]) + 1;
         k < static_cast<std::size_t>(blocks.bounds()[block + 1]); ++k) {
      SLUICE_REQUIRE((rows.lower[k] == 0) == (rows.upper[k - 1] == 0),
                     "neighbouring rows must refer to each other, or neither to the other");
      if (rows.lower[k] != 0) factor *= rows.lower[k] / rows.upper[k - 1];
    }
    factors.push_back(factor);
  }
  return factors;
}

TridiagonalRows transposed(const TridiagonalRows& rows) {
  TridiagonalRows result{std::vector<double>(rows.diagonal.size()), rows.diagonal,
                         std::vector<double>(rows.diagonal.size())};
  for (std::size_t k = 1; k < rows.diagonal.size(); ++k) {
    result.lower[k] = rows.upper[k - 1];
    result.upper[k - 1] = rows.lower[k];
  }
  return result;
}

PlanRows rows_in(const double* values, const int* bounds, const LinePlan& plan) {
  const std::int64_t nz = plan.solved.planes();
  PlanRows rows;
  LineRows& all = rows.solved;
  all.lower = values;
  all.diagonal = values + nz;
  all.upper = values + 2 * nz;
  all.symmetry = values + 3 * nz;
  all.blocks = {bounds, plan.solved.count()};
  all.nz = static_cast<int>(nz);
  all.row_count = all.nz;
  rows.home = rows.solved.with_blocks(plan.first_block(), plan.blocks_here());
  rows.home.first_row = plan.first_row();
  rows.home.row_count = plan.rows();
  rows.reduced = rows.solved;
  rows.reduced.symmetry += plan.solved.count();
  rows.reduced.blocks = {bounds + plan.solved.count() + 1, plan.reduced.count()};
  if (plan.is_condensed()) rows.condensed = rows.reduced.blocks.bounds + plan.reduced.count() + 1;
  return rows;
}

/// EndReach::smallest_shift for the first end of a rank's rows, followed by that for the last end.
std::vector<double> reach_of_ends(const LineRows& rows, int first, int count, const ShiftRange& shifts) {
  std::vector<double> values = smallest_shifts({rows, first, 1}, count - 2, shifts);
  std::ranges::copy(smallest_shifts({rows, first + count - 1, -1}, count - 2, shifts), std::back_inserter(values));
  return values;
}

/// The coefficients of a rank's ends, behind those of its blocks; see end_changes.hpp.
SLUICE_INLINE void store_end_equations(const LineRows& rows, double shift, double singular_flux, double* reduced,
                                       std::ptrdiff_t stride) {
  BoundaryEquations equations = eliminate_blocks(rows, shift);
  if (rows.blocks.bounds[rows.blocks.count] == rows.nz) equations.last += singular_flux;
  double* const at = reduced + static_cast<std::ptrdiff_t>(reduced_coefficients) * rows.blocks.count * stride;
  at[inverse_of_first * stride] = equations.first;
  at[inverse_of_last * stride] = equations.last;
  at[coupling * stride] = equations.coupling;
}

/// Prepares the reduced system of each line of a box.
struct PrepareReduced {
  ShiftedLines lines;
  ReducedSystem system;
  bool with_ends;
  double* reduced;

  SLUICE_INLINE void operator()(int i, int j, int /*k*/) const {
    const double shift = lines.shift(i, j);
    const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(j) * lines.lines_in_row + i;
    const double flux = shift == 0 ? lines.singular_flux : 0;
    system.prepare(shift, flux, reduced + line, lines.lines);
    if (with_ends) store_end_equations(system.solved, shift, flux, reduced + line, lines.lines);
  }
};

}  // namespace

RowTables::RowTables(const TridiagonalRows& symmetric_as, const LinePlan& plan) {
  const std::size_t nz = symmetric_as.diagonal.size();
  SLUICE_REQUIRE(plan.solved.planes() == static_cast<std::int64_t>(nz) && symmetric_as.lower.size() == nz &&
                     symmetric_as.upper.size() == nz,
                 "a tridiagonal matrix has one row for each plane of the grid");
  host_values_.resize(3 * nz);
  for (const ZBlocks* blocks : {&plan.solved, &plan.reduced}) {
    host_bounds_.insert(host_bounds_.end(), blocks->bounds().begin(), blocks->bounds().end());
    std::ranges::copy(symmetry_factors(symmetric_as, *blocks), std::back_inserter(host_values_));
  }
  host_bounds_.insert(host_bounds_.end(), plan.first_blocks.begin(), plan.first_blocks.end());
  bounds_ = Buffer<int>(host_bounds_);
  values_ = Buffer<double>(host_values_);
  upload_ = Upload<double>(host_values_.size());
  on_host_ = rows_in(host_values_.data(), host_bounds_.data(), plan);
  on_device_ = rows_in(values_.data(), bounds_.data(), plan);
}

void RowTables::set(const TridiagonalRows& rows) {
  auto to = host_values_.begin();
  for (const auto* values : {&rows.lower, &rows.diagonal, &rows.upper}) to = std::ranges::copy(*values, to).out;
  upload_(host_values_, values_);
}

ShiftedTables::ShiftedTables(const TridiagonalRows& symmetric_as, const LinePlan& plan)
    : strategy_(plan.strategy), rows_(symmetric_as, plan), first_row_(plan.first_row()), rows_here_(plan.rows()) {}

void ShiftedTables::set(const TridiagonalRows& rows, const std::vector<double>& shift_x,
                        const std::vector<double>& shift_y) {
  rows_.set(rows);
  const auto upload = [](const std::vector<double>& values, Upload<double>& by, Buffer<double>& to) {
    if (to.size() != values.size()) {
      to = Buffer<double>(values.size());
      by = Upload<double>(values.size());
    }
    by(values, to);
  };
  upload(shift_x, upload_x_, shift_x_);
  upload(shift_y, upload_y_, shift_y_);
  if (strategy_ != LineStrategy::split_tiles) return;
  const auto by_size = [](double a, double b) { return std::abs(a) < std::abs(b); };
  const auto [smallest_x, largest_x] = std::ranges::minmax(shift_x, by_size);
  const auto [smallest_y, largest_y] = std::ranges::minmax(shift_y, by_size);
  upload(
      reach_of_ends(rows_.on_host().solved, first_row_, rows_here_, {smallest_x + smallest_y, largest_x + largest_y}),
      upload_reach_, reach_);
}

PoissonTables::PoissonTables(const std::vector<double>& z_nodes, std::vector<double> shift_x,
                             std::vector<double> shift_y, const LinePlan& plan, double scale)
    : ShiftedTables(second_derivative_centers(z_nodes, WallRow::neumann, WallRow::neumann), plan) {
  TridiagonalRows rows = second_derivative_centers(z_nodes, WallRow::neumann, WallRow::neumann);
  // To divide solutions by `scale`, multiply the matrix by it once.
  for (auto* values : {&rows.lower, &rows.diagonal, &rows.upper, &shift_x, &shift_y}) {
    for (double& value : *values) value *= scale;
  }
  set(rows, shift_x, shift_y);

  // The singular system (constant mode, no flux through either wall) gets a flux through the top wall, as if the value
  // at that wall were 0. The dz-weighted sum of its rows shows that this flux balances the right-hand side. The
  // divergence of a velocity that does not cross the walls has mean 0, so the flux is 0 to round-off and the solution
  // is one of the original system.
  const std::size_t nz = z_nodes.size() - 1;
  const double top = z_nodes[nz] - z_nodes[nz - 1];
  const double flux = -2 / (top * top) * scale;

  // The mean of the solution, w^T x with A x = d, is (A^-T w)^T d.
  rows.diagonal.back() += flux;
  std::vector<double> weight(nz);
  for (std::size_t k = 0; k < nz; ++k) weight[k] = (z_nodes[k + 1] - z_nodes[k]) / (z_nodes.back() - z_nodes.front());
  singular_ = SingularLine{flux, Buffer<double>(solve(transposed(rows), weight)), Buffer<double>(weight)};
}

ShiftedLines ShiftedTables::lines(const Box3& box, const LineRows& rows) const {
  ShiftedLines lines{rows};
  lines.shift_x = shift_x_.data() + box.lo[0];
  lines.shift_y = shift_y_.data() + box.lo[1];
  lines.lines = box.extent(0) * box.extent(1);
  lines.lines_in_row = box.nx();
  if (!singular_) return lines;
  lines.singular_flux = singular_->flux;
  lines.moment = singular_->moment.data();
  lines.mean_weight = singular_->mean_weight.data();
  lines.holds_singular_line = box.lo[0] == 0 && box.lo[1] == 0;
  return lines;
}

ShiftedLines ShiftedTables::prepared_lines(const Box3& box, const ReducedSystem& system, bool with_ends,
                                           Buffer<double>& reduced) const {
  ShiftedLines prepared = lines(box, system.rows);
  const int blocks = prepared.blocks.count + (with_ends ? 1 : 0);
  const auto size = static_cast<std::size_t>(reduced_coefficients * blocks * prepared.lines);
  if (reduced.size() != size) reduced = Buffer<double>(size);
  prepared.reduced = reduced.data();
  parallel_for("prepare reduced systems", box_of(box.nx(), box.ny(), 1),
               PrepareReduced{prepared, system, with_ends, reduced.data()});
  return prepared;
}

ShiftedLines ShiftedTables::at_home(const Box3& box) {
  const PlanRows& rows = rows_.on_device();
  if (strategy_ == LineStrategy::condensed) return prepared_lines(box, rows.home_system(), false, home_reduced_);
  if (strategy_ != LineStrategy::split_tiles) return lines(box, rows.home);
  ShiftedLines prepared = prepared_lines(box, rows.isolated_system(), true, home_reduced_);
  prepared.reach = reach_.data();
  return prepared;
}

ShiftedLines ShiftedTables::whole(const Box3& box) {
  const PlanRows& rows = rows_.on_device();
  return strategy_ == LineStrategy::transposed ? lines(box, rows.reduced)
                                               : prepared_lines(box, rows.whole_system(), false, reduced_);
}

double ShiftedTables::bytes(const LinePlan& plan, const Box3& home, const Box3& whole) {
  if (plan.strategy == LineStrategy::transposed) return 0;
  const auto of_lines = [](const Box3& box, int blocks) {
    return static_cast<double>(box.extent(0) * box.extent(1) * reduced_coefficients * blocks) * sizeof(double);
  };
  double bytes = of_lines(whole, plan.reduced.count());
  if (plan.strategy == LineStrategy::condensed) bytes += of_lines(home, plan.blocks_here());
  if (plan.strategy == LineStrategy::split_tiles) bytes += of_lines(home, plan.blocks_here() + 1);
  return bytes;
}

HelmholtzTables::HelmholtzTables(TridiagonalRows second_derivative, const LinePlan& plan)
    : second_derivative_(std::move(second_derivative)),
      matrix_(second_derivative_),
      strategy_(plan.strategy),
      rows_(second_derivative_, plan),
      first_row_(plan.first_row()),
      rows_here_(plan.rows()),
      reduced_(3 * second_derivative_.diagonal.size()),
      home_reduced_(reduced_ + static_cast<std::size_t>(reduced_coefficients * plan.reduced.count())),
      reach_(home_reduced_ + static_cast<std::size_t>(reduced_coefficients * (plan.blocks_here() + 1))),
      host_values_(reach_ + static_cast<std::size_t>(2 * EndReach::groups_of(rows_here_))),
      values_(host_values_),
      upload_(host_values_.size()) {
  prepare(0);
}

void HelmholtzTables::eliminate(int first, int end) {
  const LineRows& rows = rows_.on_host().solved;
  if (first == end) return;
  ChainElimination chain(rows.lower[first], rows.diagonal[first], rows.upper[first]);
  double* const inverse = host_values_.data();
  double* const weight = inverse + rows.nz;
  double* const from_first = weight + rows.nz;
  for (int k = first; k < end; ++k) {
    if (k > first) chain.advance(rows.lower[k], rows.diagonal[k], rows.upper[k]);
    inverse[k] = chain.inverse;
    weight[k] = chain.weight;
    from_first[k] = chain.from_first;
  }
}

void HelmholtzTables::prepare(double c) {
  const std::size_t nz = matrix_.diagonal.size();
  for (std::size_t k = 0; k < nz; ++k) {
    matrix_.lower[k] = -c * second_derivative_.lower[k];
    matrix_.diagonal[k] = 1 - c * second_derivative_.diagonal[k];
    matrix_.upper[k] = -c * second_derivative_.upper[k];
  }
  rows_.set(matrix_);
  const PlanRows& rows = rows_.on_host();
  if (strategy_ == LineStrategy::transposed) {
    eliminate(0, rows.home.nz);
  } else {
    const BlockBounds& blocks = rows.home.blocks;
    for (int block = 0; block < blocks.count; ++block)
      eliminate(blocks.bounds[block] + 1, blocks.bounds[block + 1] - 1);
    rows.whole_system().prepare(0, 0, host_values_.data() + reduced_, 1);
    if (strategy_ == LineStrategy::condensed) rows.home_system().prepare(0, 0, host_values_.data() + home_reduced_, 1);
    if (strategy_ == LineStrategy::split_tiles) prepare_ends();
  }
  upload_(host_values_, values_);
}

void HelmholtzTables::prepare_ends() {
  const PlanRows& rows = rows_.on_host();
  double* const reduced = host_values_.data() + home_reduced_;
  rows.isolated_system().prepare(0, 0, reduced, 1);
  store_end_equations(rows.home, 0, 0, reduced, 1);
  std::ranges::copy(reach_of_ends(rows.solved, first_row_, rows_here_, {}), host_values_.data() + reach_);
}

TableLines HelmholtzTables::lines(const LineRows& rows, std::size_t reduced) const {
  TableLines lines{rows};
  lines.inverse = values_.data();
  lines.weight = values_.data() + lines.nz;
  lines.from_first = values_.data() + 2 * lines.nz;
  lines.reduced = values_.data() + reduced;
  if (strategy_ == LineStrategy::split_tiles) lines.reach = values_.data() + reach_;
  return lines;
}

}  // namespace sluice
