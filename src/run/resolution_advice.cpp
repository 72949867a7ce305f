#include "src/run/resolution_advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sluice {

namespace {

struct Coarse {
  std::vector<std::string> spacings;  ///< for example `dx+ above 6`
  std::vector<std::string> cells;     ///< for example `189 cells along x`
};

Coarse coarse_axes(const Grid& grid, Order order, double viscous_length) {
  constexpr double tolerance = 1.03;
  const auto limit = *std::ranges::find(resolution_limits, order, &ResolutionLimit::order);
  Coarse coarse;
  const auto check = [&](char axis, double spacing, double length, double largest) {
    if (spacing <= tolerance * largest * viscous_length) return;
    coarse.spacings.push_back(fmt::format("d{}+ above {:g}", axis, largest));
    coarse.cells.push_back(fmt::format("{:.0f} cells along {}", std::ceil(length / (largest * viscous_length)), axis));
  };
  check('x', grid.dx(), grid.length_x(), limit.dx_plus);
  check('y', grid.dy(), grid.length_y(), limit.dy_plus);
  return coarse;
}

}  // namespace

std::string resolution_advice(const Grid& grid, Order order, double viscous_length) {
  const Coarse coarse = coarse_axes(grid, order, viscous_length);
  if (coarse.cells.empty()) return {};
  std::string text =
      fmt::format("the grid is coarse for solver.order: {} ({}): take at least {}", order == Order::second ? 2 : 4,
                  fmt::join(coarse.spacings, ", "), fmt::join(coarse.cells, " and "));
  if (order == Order::second && coarse_axes(grid, Order::fourth, viscous_length).cells.empty())
    text += ", or solver.order: 4, for which it is fine enough";
  return text;
}

}  // namespace sluice
