#include "src/run/resolution_advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "solver/physics/terms.hpp"

namespace sluice {

namespace {

double widest_dz(const Grid& grid) {
  double widest = 0;
  for (std::int64_t k = 0; k < grid.cells()[2]; ++k) widest = std::max(widest, grid.dz(k));
  return widest;
}

/// The wider of those at walls with shear; 0 if there is no such wall.
double wall_dz(const Grid& grid, const FlowParameters& flow) {
  double widest = 0;
  if (flow.bottom.drags()) widest = grid.dz(0);
  if (flow.top.drags()) widest = std::max(widest, grid.dz(grid.cells()[2] - 1));
  return widest;
}

/// Those above their limits.
std::vector<Resolution> coarse_ones(const Grid& grid, const FlowParameters& flow, double viscous_length) {
  std::vector<Resolution> found = resolutions(grid, flow, viscous_length);
  std::erase_if(found, [](const Resolution& one) { return one.verdict() == Verdict::fine; });
  return found;
}

}  // namespace

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::fine:
      return "fine";
    case Verdict::coarse:
      return "coarse";
    case Verdict::far_too_coarse:
      break;
  }
  return "far too coarse";
}

Verdict verdict_on(double spacing, double limit) {
  constexpr double tolerance = 1.03;
  if (spacing <= tolerance * limit) return Verdict::fine;
  return spacing <= limits_of_far_too_coarse * limit ? Verdict::coarse : Verdict::far_too_coarse;
}

std::vector<Resolution> resolutions(const Grid& grid, const FlowParameters& flow, double viscous_length) {
  const auto limit = *std::ranges::find(resolution_limits, flow.order, &ResolutionLimit::order);
  std::vector<Resolution> list{{'x', "", grid.dx() / viscous_length, limit.dx_plus},
                               {'y', "", grid.dy() / viscous_length, limit.dy_plus}};
  if (const double dz = wall_dz(grid, flow); dz > 0)
    list.push_back({'z', " at the wall", dz / viscous_length, wall_dz_plus_limit});
  if (boundary_layer(flow)) return list;  // above it is no turbulence to resolve
  const double kolmogorov_length = std::pow(0.4 / viscous_length, 0.25);
  const char* place = flow.bottom.drags() && flow.top.drags() ? " at the centre" : " at the surface";
  list.push_back({'z', place, widest_dz(grid) / viscous_length, center_dz_limit * kolmogorov_length});
  return list;
}

std::string resolution_advice(const Grid& grid, const FlowParameters& flow, double viscous_length) {
  const std::vector<Resolution> coarse = coarse_ones(grid, flow, viscous_length);
  if (coarse.empty()) return {};
  std::vector<std::string> spacings;
  std::vector<std::string> cells;
  double most_along_z = 0;
  Verdict worst = Verdict::coarse;
  for (const Resolution& one : coarse) {
    spacings.push_back(fmt::format("d{}+ above {:.2g}{}", one.axis, one.limit, one.place));
    worst = std::max(worst, one.verdict());
    const std::size_t axis = one.axis - 'x';
    const double needed = std::ceil(static_cast<double>(grid.cells()[axis]) * one.spacing / one.limit);
    if (one.axis == 'z')
      most_along_z = std::max(most_along_z, needed);
    else
      cells.push_back(fmt::format("{:.0f} cells along {}", needed, one.axis));
  }
  if (most_along_z > 0) cells.push_back(fmt::format("{:.0f} cells along z with this stretching", most_along_z));
  std::string text = fmt::format("the grid is {} for solver.order: {} ({}): take at least {}", name(worst),
                                 number_of(flow.order), fmt::join(spacings, ", "), fmt::join(cells, ", "));
  if (flow.order == Order::second) {
    FlowParameters fourth = flow;
    fourth.order = Order::fourth;
    if (coarse_ones(grid, fourth, viscous_length).empty()) text += ", or solver.order: 4, for which it is fine enough";
  }
  return text;
}

std::string excess_advice(const Grid& grid, const FlowParameters& flow, double viscous_length) {
  constexpr double sensible_dz_plus = 0.02;  // natural grids have 0.05 (Pirozzoli & Orlandi 2021)
  const double dz_plus = wall_dz(grid, flow) / viscous_length;
  if (dz_plus == 0 || dz_plus >= sensible_dz_plus) return {};
  return fmt::format(
      "dz+ {:.2g} at the wall is far finer than turbulence needs (dz+ {:g}): take a smaller "
      "grid.stretching.factor, 1.6 to 2 for most flows, or type natural",
      dz_plus, wall_dz_plus_limit);
}

}  // namespace sluice
