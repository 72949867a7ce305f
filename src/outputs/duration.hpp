#pragma once
#include <string>

namespace sluice {

/// "42 s", "3:14:05" or "2 d 03:14" (hours and minutes).
std::string readable_duration(double seconds);

}  // namespace sluice
