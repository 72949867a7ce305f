#include "model/time_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sluice {

double TimeTable::at(double time) const {
  if (period > 0) time -= period * std::floor((time - times.front()) / period);
  const auto after = static_cast<std::size_t>(std::ranges::upper_bound(times, time) - times.begin());
  if (after == 0) return values.front();
  const bool beyond = after == times.size();
  if (beyond && period == 0) return values.back();
  const double end = beyond ? times.front() + period : times[after];
  const double start = times[after - 1];
  const double from = values[after - 1];
  const double to = beyond ? values.front() : values[after];
  return end > start ? from + (to - from) * ((time - start) / (end - start)) : to;
}

std::string TimeFunction::text() const {
  if (!is_table()) return formula_.text();
  return fmt::format("a table of {} points from time {:g} to {:g}{}", table_.times.size(), table_.times.front(),
                     table_.times.back(), table_.period > 0 ? fmt::format(", period {:g}", table_.period) : "");
}

}  // namespace sluice
