#include "poisson/tridiagonal/line_tables.hpp"

#include <algorithm>
#include <utility>

#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"
#include "poisson/tridiagonal/tridiagonal_kernels.hpp"

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

TridiagonalRows scaled(TridiagonalRows rows, double scale) {
  for (auto* values : {&rows.lower, &rows.diagonal, &rows.upper}) {
    for (double& value : *values) value *= scale;
  }
  return rows;
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

std::size_t reduced_size(const ShiftedLines& lines) {
  return static_cast<std::size_t>(lines.lines) * static_cast<std::size_t>(reduced_coefficients * lines.blocks.count);
}

}  // namespace

RowTables::RowTables(const TridiagonalRows& symmetric_as, const ZBlocks& blocks)
    : host_bounds_(blocks.bounds().begin(), blocks.bounds().end()),
      host_values_(3 * symmetric_as.diagonal.size()),
      host_symmetry_(symmetry_factors(symmetric_as, blocks)),
      bounds_(host_bounds_),
      values_(host_values_),
      symmetry_(host_symmetry_) {
  const std::size_t nz = symmetric_as.diagonal.size();
  SLUICE_REQUIRE(blocks.planes() == static_cast<std::int64_t>(nz) && symmetric_as.lower.size() == nz &&
                     symmetric_as.upper.size() == nz,
                 "a tridiagonal matrix has one row for each plane of the grid");
  device_rows_ = {values_.data(),
                  values_.data() + nz,
                  values_.data() + 2 * nz,
                  symmetry_.data(),
                  {bounds_.data(), blocks.count()},
                  static_cast<int>(nz)};
}

void RowTables::set(const TridiagonalRows& rows) {
  auto to = std::copy(rows.lower.begin(), rows.lower.end(), host_values_.begin());
  to = std::copy(rows.diagonal.begin(), rows.diagonal.end(), to);
  std::copy(rows.upper.begin(), rows.upper.end(), to);
  values_.upload(host_values_);
}

LineRows RowTables::host_rows() const {
  LineRows rows = device_rows_;
  const auto nz = static_cast<std::size_t>(rows.nz);
  rows.lower = host_values_.data();
  rows.diagonal = host_values_.data() + nz;
  rows.upper = host_values_.data() + 2 * nz;
  rows.symmetry = host_symmetry_.data();
  rows.blocks.bounds = host_bounds_.data();
  return rows;
}

PoissonTables::PoissonTables(const std::vector<double>& z_nodes, std::vector<double> shift_x,
                             std::vector<double> shift_y, const LinePlan& plan, double scale)
    : PoissonTables(z_nodes, second_derivative_centers(z_nodes, WallRow::neumann, WallRow::neumann), std::move(shift_x),
                    std::move(shift_y), plan, scale) {}

PoissonTables::PoissonTables(const std::vector<double>& z_nodes, const TridiagonalRows& second_derivative,
                             std::vector<double> shift_x, std::vector<double> shift_y, const LinePlan& plan,
                             double scale)
    : plan_(plan),
      rows_(second_derivative, plan.solved),
      reduced_rows_(second_derivative, plan.reduced),
      first_blocks_(plan.first_blocks) {
  // To divide solutions by `scale`, multiply the matrix by it once.
  TridiagonalRows rows = scaled(second_derivative, scale);
  rows_.set(rows);
  reduced_rows_.set(rows);
  for (double& shift : shift_x) shift *= scale;
  for (double& shift : shift_y) shift *= scale;
  shift_x_ = Buffer<double>(shift_x);
  shift_y_ = Buffer<double>(shift_y);

  // The singular system (constant mode, no flux through either wall) gets a flux through the top wall, as if the value
  // at that wall were 0. The dz-weighted sum of its rows shows that this flux balances the right-hand side. The
  // divergence of a velocity that does not cross the walls has mean 0, so the flux is 0 to round-off and the solution
  // is one of the original system.
  const std::size_t nz = z_nodes.size() - 1;
  const double top = z_nodes[nz] - z_nodes[nz - 1];
  singular_flux_ = -2 / (top * top) * scale;

  // The mean of the solution, w^T x with A x = d, is (A^-T w)^T d.
  rows.diagonal.back() += singular_flux_;
  std::vector<double> weight(nz);
  for (std::size_t k = 0; k < nz; ++k) weight[k] = (z_nodes[k + 1] - z_nodes[k]) / (z_nodes.back() - z_nodes.front());
  mean_weight_ = Buffer<double>(weight);
  moment_ = Buffer<double>(solve(transposed(rows), weight));
}

ShiftedLines PoissonTables::lines(const Box3& box, const RowTables& rows) const {
  ShiftedLines lines;
  static_cast<LineRows&>(lines) = rows.device_rows();
  lines.shift_x = shift_x_.data() + box.lo[0];
  lines.shift_y = shift_y_.data() + box.lo[1];
  lines.lines = box.extent(0) * box.extent(1);
  lines.lines_in_row = box.nx();
  lines.singular_flux = singular_flux_;
  lines.moment = moment_.data();
  lines.mean_weight = mean_weight_.data();
  lines.holds_singular_line = box.lo[0] == 0 && box.lo[1] == 0;
  return lines;
}

ShiftedLines PoissonTables::at_home(const Box3& box) {
  ShiftedLines prepared = lines(box, rows_);
  if (!plan_.is_condensed() || prepared.lines <= 0) return prepared;
  const ShiftedLines here = narrowed_to(prepared, plan_.first_block(), plan_.blocks_here());
  home_reduced_ = Buffer<double>(reduced_size(here));
  prepared.reduced = home_reduced_.data();
  parallel_for("prepare reduced systems", box_of(box.nx(), box.ny(), 1),
               PrepareReduced{here, home_reduced_.data(), true});
  return prepared;
}

ShiftedLines PoissonTables::whole(const Box3& box) {
  ShiftedLines prepared = lines(box, reduced_rows_);
  if (plan_.strategy == LineStrategy::transposed || prepared.lines <= 0) return prepared;
  reduced_ = Buffer<double>(reduced_size(prepared));
  prepared.reduced = reduced_.data();
  const Box3 all = box_of(box.nx(), box.ny(), 1);
  if (plan_.is_condensed()) {
    parallel_for("prepare reduced systems", all,
                 PrepareCondensed{prepared, rows_.device_rows(), first_blocks_.data(), reduced_.data()});
  } else {
    parallel_for("prepare reduced systems", all, PrepareReduced{prepared, reduced_.data(), false});
  }
  return prepared;
}

double PoissonTables::bytes(const LinePlan& plan, const Box3& home, const Box3& whole) {
  if (plan.strategy == LineStrategy::transposed) return 0;
  const auto of_lines = [](const Box3& box, int blocks) {
    return static_cast<double>(box.extent(0) * box.extent(1) * reduced_coefficients * blocks) * sizeof(double);
  };
  return of_lines(whole, plan.reduced.count()) + (plan.is_condensed() ? of_lines(home, plan.blocks_here()) : 0);
}

HelmholtzTables::HelmholtzTables(TridiagonalRows second_derivative, const LinePlan& plan)
    : second_derivative_(std::move(second_derivative)),
      matrix_(second_derivative_),
      plan_(plan),
      rows_(second_derivative_, plan.solved),
      reduced_rows_(second_derivative_, plan.reduced),
      host_pivots_(2 * second_derivative_.diagonal.size()),
      host_home_reduced_(static_cast<std::size_t>(plan.is_condensed() ? reduced_coefficients * plan.blocks_here() : 0)),
      host_reduced_(static_cast<std::size_t>(reduced_coefficients * plan.reduced.count())),
      pivots_(host_pivots_),
      home_reduced_(host_home_reduced_),
      reduced_(host_reduced_) {
  prepare(0);
}

void HelmholtzTables::eliminate(int first, int end) {
  const std::size_t nz = matrix_.diagonal.size();
  double inverse = 0;
  double weight = 1;
  for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(end); ++k) {
    if (k == static_cast<std::size_t>(first)) {
      inverse = 1 / matrix_.diagonal[k];
    } else {
      weight *= -matrix_.upper[k - 1] * inverse;
      inverse = 1 / (matrix_.diagonal[k] - matrix_.lower[k] * matrix_.upper[k - 1] * inverse);
    }
    host_pivots_[k] = inverse;
    host_pivots_[nz + k] = weight;
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
  reduced_rows_.set(matrix_);
  const LineRows rows = rows_.host_rows();
  if (plan_.strategy == LineStrategy::transposed) {
    eliminate(0, rows.nz);
  } else {
    for (int block = 0; block < rows.blocks.count; ++block)
      eliminate(rows.blocks.bounds[block] + 1, rows.blocks.bounds[block + 1] - 1);
    if (plan_.is_condensed()) {
      prepare_reduced(reduced_rows_.host_rows(), 0, host_reduced_.data(), 1, false,
                      EquationsOfCondensed{rows, plan_.first_blocks.data(), 0});
      const LineRows here = narrowed_to(rows, plan_.first_block(), plan_.blocks_here());
      prepare_reduced(here, 0, host_home_reduced_.data(), 1, true, EquationsOfRows{here, 0});
      home_reduced_.upload(host_home_reduced_);
    } else {
      prepare_reduced(rows, 0, host_reduced_.data(), 1, false, EquationsOfRows{rows, 0});
    }
    reduced_.upload(host_reduced_);
  }
  pivots_.upload(host_pivots_);
}

TableLines HelmholtzTables::at_home() const {
  TableLines lines;
  static_cast<LineRows&>(lines) = rows_.device_rows();
  lines.inverse = pivots_.data();
  lines.weight = pivots_.data() + lines.nz;
  lines.reduced = plan_.is_condensed() ? home_reduced_.data() : reduced_.data();
  return lines;
}

TableLines HelmholtzTables::whole() const {
  TableLines lines = at_home();
  static_cast<LineRows&>(lines) = reduced_rows_.device_rows();
  lines.reduced = reduced_.data();
  return lines;
}

}  // namespace sluice
