#pragma once
// Numbers with units, as `sluice check` prints them.
#include <string>

namespace sluice {

/// "5.2 MiB"
std::string readable_size(double bytes);

/// "3 blocks", "1 block"
std::string count_of(double count, const std::string& what);

/// "less than 1 s", "42 s", "5 min", "3.4 h" or "2.5 days"
std::string readable_time(double seconds);

}  // namespace sluice
