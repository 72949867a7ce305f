#include "model/key_figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "core/support/error.hpp"
#include "model/mean_flow.hpp"

namespace sluice {

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// A flow counts as laminar if the variance of w is below this, in u_tau^2. u and v do not count, because they also
/// vary in a laminar flow that changes in time: under a pulsating force, or at an oscillating wall.
constexpr double laminar_variance = 1e-8;

constexpr std::size_t max_cosines = 6;  // with fewer, intervals are wide; with more, those of short runs are too narrow

/// (values + sign * the values in reversed order) / 2.
void average_with_reversed(std::vector<double>& values, double sign) {
  const std::vector<double> reversed(values.rbegin(), values.rend());
  std::ranges::transform(values, reversed, values.begin(), [&](double a, double b) { return (a + sign * b) / 2; });
}

void reverse(std::vector<double>& values, double sign) {
  std::ranges::reverse(values);
  for (double& value : values) value *= sign;
}

void change_sign(std::vector<double>& values) {
  for (double& value : values) value = -value;
}

std::vector<double> root_mean_square(const std::vector<double>& mean, const std::vector<double>& mean_square,
                                     std::size_t count) {
  std::vector<double> values;
  for (std::size_t n = 0; n < count; ++n)
    values.push_back(std::sqrt(std::max(mean_square[n] - mean[n] * mean[n], 0.0)));
  return values;
}

/// Largest value of the parabola through the three points about the largest one.
double peak(const std::vector<double>& position, const std::vector<double>& values) {
  const std::size_t i = std::ranges::max_element(values) - values.begin();
  if (i == 0 || i == values.size() - 1) return values[i];
  const double before = position[i - 1] - position[i];
  const double after = position[i + 1] - position[i];
  const double slope = (values[i + 1] - values[i]) / after;
  const double slope_before = (values[i] - values[i - 1]) / -before;
  const double curvature = (slope - slope_before) / (after - before);
  if (curvature >= 0) return values[i];
  const double tangent = slope - curvature * after;
  const double at = -tangent / (2 * curvature);
  return values[i] + tangent * at + curvature * at * at;
}

/// The last of `count` values extrapolated to `height`: by the parabola even about it, or by a straight line.
double value_at_height(const std::vector<double>& z, const std::vector<double>& values, std::size_t count,
                       double height, bool even) {
  const double last = values[count - 1];
  const double d1 = height - z[count - 1];
  if (d1 <= 1e-9 * height || count < 2) return last;
  const double d2 = height - z[count - 2];
  const double difference = last - values[count - 2];
  return even ? last + difference * d1 * d1 / (d2 * d2 - d1 * d1) : last + difference * d1 / (d2 - d1);
}

std::size_t count_up_to(const std::vector<double>& z, double height) {
  return std::ranges::upper_bound(z, height * (1 + 1e-9)) - z.begin();
}

}  // namespace

KeyFigures::KeyFigures(StatisticsFlow flow, const std::vector<ProfileInfo>& profiles) : flow_(std::move(flow)) {
  constexpr std::array<const char*, 9> names{"u", "v", "w", "uu", "vv", "ww", "uw", "tau_xz", "tau_yz"};
  for (std::size_t n = 0; n < names.size(); ++n) {
    const auto found = std::ranges::find(profiles, names[n], &ProfileInfo::name);
    SLUICE_REQUIRE(found != profiles.end(), std::string("the statistics do not have the profile ") + names[n]);
    number_[n] = found - profiles.begin();
  }
  reach_ = flow_.z_face.back() / (both_no_slip() ? 2 : 1);
}

bool KeyFigures::both_no_slip() const {
  return flow_.bottom.drags() && flow_.top.drags();
}

KeyFigures::Estimates KeyFigures::estimate(std::span<const StatisticsBlock> blocks) const {
  StatisticsBlock total = blocks[0];
  for (const StatisticsBlock& block : blocks.subspan(1)) {
    total.samples += block.samples;
    total.forcing += block.forcing;
    for (const std::size_t n : number_)
      std::ranges::transform(total.sums[n], block.sums[n], total.sums[n].begin(), std::plus<>());
  }
  Estimates result;
  result.values = figures_of(means(total, nullptr));
  result.laminar = std::isfinite(result.values[0]) && std::isnan(result.values[4]);  // Re_tau, the peak of w'
  result.half_widths.fill(undefined);
  if (blocks.size() < 2) return result;

  std::vector<double> samples;
  std::array<std::vector<double>, key_figure_table.size()> contributions;
  for (const StatisticsBlock& block : blocks) {
    samples.push_back(static_cast<double>(block.samples));
    const double rest = 1 - samples.back() / static_cast<double>(total.samples);
    const KeyFigureValues others = figures_of(means(total, &block));
    for (std::size_t n = 0; n < others.size(); ++n) contributions[n].push_back(rest * (result.values[n] - others[n]));
  }
  std::ranges::transform(contributions, result.half_widths.begin(),
                         [&](const std::vector<double>& series) { return half_width95(series, samples); });
  return result;
}

KeyFigures::Profiles KeyFigures::means(const StatisticsBlock& total, const StatisticsBlock* without) const {
  const auto samples = static_cast<double>(total.samples - (without != nullptr ? without->samples : 0));
  const auto mean = [&](std::size_t n) {
    std::vector<double> values = total.sums[number_[n]];
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = (values[k] - (without != nullptr ? without->sums[number_[n]][k] : 0)) / samples;
    return values;
  };
  return {mean(0), mean(1), mean(2), mean(3), mean(4),
          mean(5), mean(6), mean(7), mean(8), (total.forcing - (without != nullptr ? without->forcing : 0)) / samples};
}

KeyFigures::Symmetry KeyFigures::symmetry_of(const Profiles& means) const {
  if (!both_no_slip()) return Symmetry::none;
  const std::vector<double>& faces = flow_.z_face;
  const double height = faces.back();
  for (std::size_t k = 0; k < faces.size(); ++k) {
    if (std::abs(faces[k] + faces[faces.size() - 1 - k] - height) > 1e-6 * height) return Symmetry::none;
  }
  if (flow_.bottom.kind != flow_.top.kind || flow_.bottom.slip_length != flow_.top.slip_length) return Symmetry::none;
  const bool actuated = flow_.bottom.is_actuated() || flow_.top.is_actuated();
  const Formula through = flow_.bottom.total_velocity(2);  // uniform: enters at one wall and leaves at the other
  if (actuated && (flow_.bottom != flow_.top || (through.is_constant() && through.constant() != 0)))
    return Symmetry::none;
  const std::array bottom{flow_.bottom.constant_velocity(0), flow_.bottom.constant_velocity(1)};
  const std::array top{flow_.top.constant_velocity(0), flow_.top.constant_velocity(1)};
  const double fastest = std::max({std::abs(bottom[0]), std::abs(bottom[1]), std::abs(top[0]), std::abs(top[1])});
  if (std::max(std::abs(top[0] - bottom[0]), std::abs(top[1] - bottom[1])) <= 1e-12 * fastest)
    return flow_.terms.is_mirrored ? Symmetry::mirror : Symmetry::none;
  const double wall_stress = (std::abs(means.tau_xz.front()) + std::abs(means.tau_xz.back())) / 2;
  const bool forced = std::abs(means.forcing) * reach_ > 1e-6 * wall_stress;
  return flow_.couette && !forced && flow_.terms.is_turned && top[1] == bottom[1] ? Symmetry::half_turn
                                                                                  : Symmetry::none;
}

KeyFigures::Profiles KeyFigures::seen_from_wall(Profiles means, Symmetry symmetry, double frame) const {
  for (std::size_t k = 0; k < means.u.size(); ++k) {
    means.uu[k] += frame * (frame - 2 * means.u[k]);
    means.u[k] -= frame;
  }
  // z -> Lz - z changes the signs of w, uw and tau_xz; half a turn, x -> -x as well, those of u and w.
  const double odd_in_x = symmetry == Symmetry::half_turn ? -1 : 1;
  if (symmetry != Symmetry::none) {
    average_with_reversed(means.u, odd_in_x);
    average_with_reversed(means.w, -1);
    for (auto* values : {&means.v, &means.uu, &means.vv, &means.ww}) average_with_reversed(*values, 1);
    for (auto* values : {&means.uw, &means.tau_xz}) average_with_reversed(*values, -odd_in_x);
    average_with_reversed(means.tau_yz, -1);
  } else if (!flow_.bottom.drags()) {
    for (auto* values : {&means.u, &means.v, &means.uu, &means.vv, &means.ww}) reverse(*values, 1);
    for (auto* values : {&means.w, &means.uw, &means.tau_xz, &means.tau_yz}) reverse(*values, -1);
  }
  return means;
}

double KeyFigures::mean_wall_stress(const Profiles& means, auto&& magnitude) const {
  const double bottom = flow_.bottom.drags() ? magnitude(means.tau_xz.front(), means.tau_yz.front()) : 0;
  const double top = flow_.top.drags() ? magnitude(means.tau_xz.back(), means.tau_yz.back()) : 0;
  return (bottom + top) / (both_no_slip() ? 2 : 1);
}

double KeyFigures::mean_u_tau_squared(const Profiles& means) const {
  return mean_wall_stress(means,
                          [&](double x, double y) { return stress_of_u_tau(flow_.terms.changes_direction, x, y); });
}

double KeyFigures::friction_coefficient(const Profiles& means) const {
  if (flow_.terms.velocity_above) {
    const auto& [x, y] = *flow_.terms.velocity_above;
    return 2 * mean_u_tau_squared(means) / (x * x + y * y);
  }
  const auto [along_x, along_y] = velocity_difference(flow_.bottom, flow_.top);
  const double difference = std::hypot(along_x, along_y);
  if (both_no_slip() && difference > 0) {
    const double speed = difference / 2;
    const auto driving = [&](double x, double y) { return std::abs(along_x * x + along_y * y) / difference; };
    return 2 * mean_wall_stress(means, driving) / (speed * speed);
  }
  const double wall = (flow_.bottom.drags() ? flow_.bottom : flow_.top).constant_velocity(0);
  double flux = 0;
  for (std::size_t k = 0; k < means.u.size(); ++k) flux += means.u[k] * (flow_.z_face[k + 1] - flow_.z_face[k]);
  const double bulk = std::abs(flux / flow_.z_face.back() - wall);
  return bulk > 0 ? 2 * mean_u_tau_squared(means) / (bulk * bulk) : undefined;
}

KeyFigureValues KeyFigures::figures_of(const Profiles& means) const {
  KeyFigureValues values;
  values.fill(undefined);
  if (!flow_.bottom.drags() && !flow_.top.drags()) return values;
  const double wall = (flow_.bottom.drags() ? flow_.bottom : flow_.top).constant_velocity(0);
  const double frame = both_no_slip() ? (wall + flow_.top.constant_velocity(0)) / 2 : wall;
  const Symmetry symmetry = symmetry_of(means);
  Profiles view = seen_from_wall(means, symmetry, frame);
  double wall_velocity = wall - frame;
  if (view.tau_xz[0] < 0) {
    for (auto* profile : {&view.u, &view.uw, &view.tau_xz}) change_sign(*profile);
    wall_velocity = -wall_velocity;
  }
  const double wall_stress = stress_of_u_tau(flow_.terms.changes_direction, view.tau_xz[0], view.tau_yz[0]);
  if (!(wall_stress > 0)) return values;
  const double u_tau = std::sqrt(wall_stress);
  // Seen from the top wall, heights are those of the mirrored grid.
  std::vector<double> z = flow_.z;
  std::vector<double> z_face = flow_.z_face;
  if (!flow_.bottom.drags()) {
    for (auto* heights : {&z, &z_face}) {
      reverse(*heights, -1);
      for (double& height : *heights) height += flow_.z_face.back();
    }
  }
  const std::size_t centers = count_up_to(z, reach_);
  const std::size_t faces = std::max(count_up_to(z_face, reach_), centers + 1);

  const bool even = symmetry == Symmetry::mirror || !both_no_slip();
  const double u_center = value_at_height(z, view.u, centers, reach_, even);
  values = {re_tau(mean_u_tau_squared(means), flow_.viscosity),
            friction_coefficient(means),
            undefined,
            undefined,
            undefined,
            undefined,
            flow_.terms.velocity_above ? undefined : (u_center - wall_velocity) / u_tau};
  const std::array rms{root_mean_square(view.u, view.uu, centers), root_mean_square(view.v, view.vv, centers),
                       root_mean_square(view.w, view.ww, centers)};
  const double largest = *std::ranges::max_element(rms[2]);
  if (largest * largest < laminar_variance * wall_stress) return values;
  for (std::size_t n = 0; n < rms.size(); ++n) values[2 + n] = peak(z, rms[n]) / u_tau;
  std::vector<double> minus_uw(view.uw.begin(), view.uw.begin() + faces);
  change_sign(minus_uw);
  values[5] = peak(z_face, minus_uw) / wall_stress;
  return values;
}

std::size_t degrees_of_freedom(std::size_t blocks) {
  return std::min(max_cosines, blocks - std::min<std::size_t>(blocks, 1));
}

double student_t95(std::size_t degrees) {
  constexpr std::array<double, max_cosines + 1> t{std::numeric_limits<double>::quiet_NaN(),
                                                  12.706204736432095,
                                                  4.302652729911275,
                                                  3.182446305284263,
                                                  2.7764451051977987,
                                                  2.5705818366147395,
                                                  2.4469118487916806};
  return t.at(degrees);
}

double half_width95(std::span<const double> contributions, std::span<const double> samples) {
  const std::size_t cosines = degrees_of_freedom(contributions.size());
  const double duration = std::accumulate(samples.begin(), samples.end(), 0.0);
  double squares = 0;
  for (std::size_t m = 1; m <= cosines; ++m) {
    double amplitude = 0;
    double begin = 0;
    for (std::size_t n = 0; n < contributions.size(); ++n) {
      const double middle = (begin + samples[n] / 2) / duration;
      amplitude +=
          std::numbers::sqrt2 * std::cos(std::numbers::pi * static_cast<double>(m) * middle) * contributions[n];
      begin += samples[n];
    }
    squares += amplitude * amplitude;
  }
  return student_t95(cosines) * std::sqrt(squares / static_cast<double>(cosines));
}

}  // namespace sluice
