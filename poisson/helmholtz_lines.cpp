#include "poisson/helmholtz_lines.hpp"

#include <utility>

#include "core/support/error.hpp"

namespace sluice {

LinePlan plan_of_fields(const Decomposition& decomposition, int z_index, TridiagonalMethod method, int fields) {
  LinePlan plan = plan_lines(decomposition, z_index, method);
  if (plan.is_condensed()) plan.systems = fields;
  return plan;
}

HelmholtzLines::HelmholtzLines(const Communicator& comm, LineBoxes boxes, const LinePlan& plan,
                               std::vector<TridiagonalRows> second_derivatives, Exchange& exchange)
    : boxes_(std::move(boxes)), lines_(make_line_solver<TableLines>(comm, boxes_, plan, exchange)) {
  for (TridiagonalRows& rows : second_derivatives) tables_.emplace_back(std::move(rows), plan);
}

void HelmholtzLines::prepare(double c) {
  SLUICE_REQUIRE(c >= 0, "implicit diffusion needs a coefficient of 0 or more");
  for (HelmholtzTables& tables : tables_) tables.prepare(c);
}

void HelmholtzLines::solve(const std::vector<Task>& tasks) {
  const Box3& home = boxes_.my_home();
  std::vector<LineSystems<TableLines>> systems;
  for (const auto& [array, matrix] : tasks) {
    const HelmholtzTables& tables = tables_.at(matrix);
    systems.push_back(
        {tables.at_home(), tables.whole(), {array.origin, array.stride_y, array.stride_z, home.nx(), home.ny()}});
  }
  lines_->solve(systems);
}

}  // namespace sluice
