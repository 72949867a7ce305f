#include "model/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

Formula WallCondition::total_velocity(std::size_t n) const {
  Formula added = actuation.velocity(n);
  const Formula none(0);
  if (added == none) return velocity[n];
  if (velocity[n] == none) return added;
  if (velocity[n].is_constant() && added.is_constant()) return velocity[n].constant() + added.constant();
  const auto text = [](const Formula& f) { return f.is_constant() ? fmt::format("{}", f.constant()) : f.text(); };
  return Formula::parse(fmt::format("{}+{}", text(velocity[n]), text(added)), "xyt");
}

bool WallCondition::is_actuated() const {
  const bool varies = std::ranges::any_of(velocity, [](const Formula& f) { return !f.is_constant(); });
  return varies || velocity[2].constant() != 0 || actuation.active();
}

std::array<double, 2> velocity_difference(const WallCondition& bottom, const WallCondition& top) {
  return {top.constant_velocity(0) - bottom.constant_velocity(0),
          top.constant_velocity(1) - bottom.constant_velocity(1)};
}

std::string text_of_unbalanced_fluxes(double bottom, double top, double time) {
  return fmt::format(
      "the mean of w, the wall-normal velocity, is {:.6g} on the bottom wall and {:.6g} on the top wall at time {:g}; "
      "it must be the same on both, since what enters must leave",
      bottom, top, time);
}

}  // namespace sluice
