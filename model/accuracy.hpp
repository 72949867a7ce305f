#pragma once
// Whether statistics are accurate enough to end a run: the key time.until.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "model/key_figures.hpp"

namespace sluice {

/// The largest allowed half width of the 95 % interval of each key figure, as a fraction of the figure; none: any.
using AccuracyLimits = std::array<std::optional<double>, key_figure_table.size()>;

/// The accuracy of the statistics of a run so far.
struct Accuracy {
  std::size_t blocks = 0;
  KeyFigures::Estimates figures;
  AccuracyLimits limits;
  bool reached = false;
  double expected_time = 0;  ///< simulation time at which it will probably be reached; infinite if unknown
};

/// Fewer blocks do not end a run. Intervals can be trusted if a run covers 30 integral time scales of the flow, and a
/// block is usually about as long as one.
inline constexpr std::size_t min_blocks = 30;

/// The accuracy is reached if there are min_blocks and the limits have held at the end of each of the last tenth of
/// them. An interval is known to about 30 % only; a run that ended the first time its intervals happen to be narrow
/// would be too short on average. The result depends on the blocks alone. The time is extrapolated from widths that
/// shrink with the square root of the time averaged. Local.
Accuracy assess(const KeyFigures& figures, const AccuracyLimits& limits, std::span<const StatisticsBlock> blocks);

/// A figure, its interval, and its limit if it has one: "re_tau 181.2 +- 2.1 % (limit 1 %)".
std::string figure_text(const Accuracy& accuracy, std::size_t n);

/// When the limits will be reached: "time.until will probably be reached at time 640".
std::string outlook(const Accuracy& accuracy);

/// The figures that have limits, and when these will be reached, on one line.
std::string summary(const Accuracy& accuracy);

/// The figure that is farthest from its limit: "re_tau +- 2.1 % (limit 1 %)".
std::string farthest_limit(const Accuracy& accuracy);

}  // namespace sluice
