#include "src/commands/readable.hpp"

#include <fmt/format.h>

namespace sluice {

std::string readable_size(double bytes) {
  constexpr double gibi = 1073741824;
  constexpr double mebi = 1048576;
  if (bytes < 0.1 * mebi) return fmt::format("{:.1f} KiB", bytes / 1024);
  return bytes < gibi ? fmt::format("{:.1f} MiB", bytes / mebi) : fmt::format("{:.2f} GiB", bytes / gibi);
}

std::string count_of(double count, const std::string& what) {
  return fmt::format("{:.0f} {}{}", count, what, count == 1 ? "" : "s");
}

std::string readable_time(double seconds) {
  if (seconds < 1) return "less than 1 s";
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return seconds < 172800 ? fmt::format("{:.1f} h", seconds / 3600) : fmt::format("{:.1f} days", seconds / 86400);
}

}  // namespace sluice
