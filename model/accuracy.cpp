#include "model/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <ranges>

namespace sluice {

namespace {

constexpr std::size_t enough_to_extrapolate = 7;  // blocks; with fewer, intervals have fewer degrees of freedom

/// The half width of a figure's interval over what is allowed; 0 without a limit, infinite if it is not known.
double ratio_to_limit(const KeyFigures::Estimates& figures, const AccuracyLimits& limits, std::size_t n) {
  if (!limits[n]) return 0;
  const double ratio = figures.half_widths[n] / (*limits[n] * std::abs(figures.values[n]));
  return std::isfinite(ratio) ? ratio : std::numeric_limits<double>::infinity();
}

/// The largest of these ratios: the limits hold if it is 1 or less.
double largest_ratio(const KeyFigures::Estimates& figures, const AccuracyLimits& limits) {
  double largest = 0;
  for (std::size_t n = 0; n < limits.size(); ++n) largest = std::max(largest, ratio_to_limit(figures, limits, n));
  return largest;
}

constexpr double round_off = 1e-9;  // an interval that is narrower, relative to the value, is no sampling error

/// The number of decimals that show two significant digits: 2 for 0.57, 0 for 57, -1 for 570.
int decimals_of(double half_width) {
  return 1 - static_cast<int>(std::floor(std::log10(half_width * (1 + 1e-12))));
}

/// The value up to the second significant digit of its interval; with 5 digits if there is none.
std::string value_text(double value, double half_width) {
  if (std::isnan(value)) return "not defined";
  if (!std::isfinite(half_width) || half_width <= round_off * std::abs(value)) return fmt::format("{:.5g}", value);
  const int decimals = decimals_of(half_width);
  const double step = std::pow(10.0, -decimals);
  return fmt::format("{:.{}f}", decimals < 0 ? std::round(value / step) * step : value, std::max(decimals, 0));
}

/// " +- 2.1 %"; nothing where there is only round-off.
std::string interval_text(double value, double half_width) {
  if (std::isnan(value)) return "";
  const double percent = 100 * half_width / std::abs(value);
  if (!std::isfinite(percent)) return " (no interval)";
  if (percent >= 99.5) return " (not determined: the interval contains 0)";
  return percent <= 100 * round_off ? "" : fmt::format(" +- {:.2g} %", percent);
}

/// " +- 2.1 % (limit 1 %)"; empty for a laminar flow without a limit, because it has no sampling error.
std::string interval_and_limit(const Accuracy& accuracy, std::size_t n) {
  const std::optional<double>& limit = accuracy.limits[n];
  if (accuracy.figures.laminar && !limit) return "";
  return interval_text(accuracy.figures.values[n], accuracy.figures.half_widths[n]) +
         (limit ? fmt::format(" (limit {:.3g} %)", 100 * *limit) : "");
}

/// Number of blocks at which the limits will probably have held for a tenth of them.
double expected_blocks(std::size_t blocks, std::size_t held, double ratio) {
  const auto count = static_cast<double>(blocks);
  return std::max({count * ratio * ratio, static_cast<double>(blocks - held) / 0.9, static_cast<double>(min_blocks)});
}

}  // namespace

Accuracy assess(const KeyFigures& figures, const AccuracyLimits& limits, std::span<const StatisticsBlock> blocks) {
  Accuracy result{blocks.size(), {}, limits, false, std::numeric_limits<double>::infinity()};
  if (blocks.empty()) return result;
  result.figures = figures.estimate(blocks);
  const double ratio = largest_ratio(result.figures, limits);

  const std::size_t needed = (blocks.size() + 9) / 10;
  std::size_t held = ratio <= 1 ? 1 : 0;
  while (held > 0 && held < needed) {
    const auto earlier = blocks.first(blocks.size() - held);
    if (largest_ratio(figures.estimate(earlier), limits) > 1) break;
    ++held;
  }
  result.reached = blocks.size() >= min_blocks && held >= needed;
  if (std::isfinite(ratio) && blocks.size() >= enough_to_extrapolate) {
    const double begin = blocks.front().time_begin;
    const double per_block = (blocks.back().time_end - begin) / static_cast<double>(blocks.size());
    result.expected_time = begin + per_block * expected_blocks(blocks.size(), held, ratio);
  }
  return result;
}

std::string figure_text(const Accuracy& accuracy, std::size_t n) {
  const bool is_exact = accuracy.figures.laminar && !accuracy.limits[n];
  const std::string value = value_text(accuracy.figures.values[n], is_exact ? 0 : accuracy.figures.half_widths[n]);
  return fmt::format("{} {}{}", key_figure_table[n].name, value, interval_and_limit(accuracy, n));
}

std::string outlook(const Accuracy& accuracy) {
  if (accuracy.reached) return "time.until is reached";
  if (!std::isfinite(accuracy.expected_time)) return "not known yet when time.until will be reached";
  return fmt::format("time.until will probably be reached at time {:.4g}", accuracy.expected_time);
}

std::string summary(const Accuracy& accuracy) {
  std::string text = fmt::format("Statistics of {} blocks:", accuracy.blocks);
  for (std::size_t n = 0; n < accuracy.limits.size(); ++n) {
    if (accuracy.limits[n]) text += " " + figure_text(accuracy, n) + ",";
  }
  text.back() = ';';
  return text + " " + outlook(accuracy);
}

std::string farthest_limit(const Accuracy& accuracy) {
  const auto n =
      std::ranges::max(std::views::iota(std::size_t{0}, accuracy.limits.size()), {}, [&](std::size_t figure) {
        return accuracy.limits[figure] ? ratio_to_limit(accuracy.figures, accuracy.limits, figure) : -1;
      });
  return key_figure_table[n].name + interval_and_limit(accuracy, n);
}

}  // namespace sluice
