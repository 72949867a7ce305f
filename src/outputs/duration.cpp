#include "src/outputs/duration.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace sluice {

std::string readable_duration(double seconds) {
  constexpr double minute = 60;
  constexpr double day = 86400;
  if (!(seconds >= 0)) return "unknown time";
  if (seconds > 1000 * day) return fmt::format("{:.0f} d", seconds / day);
  const auto total = static_cast<std::int64_t>(std::round(seconds));
  if (seconds < 2 * minute) return fmt::format("{} s", total);
  const std::int64_t hours = total / 3600;
  if (seconds < day) return fmt::format("{}:{:02}:{:02}", hours, total / 60 % 60, total % 60);
  return fmt::format("{} d {:02}:{:02}", hours / 24, hours % 24, total / 60 % 60);
}

}  // namespace sluice
