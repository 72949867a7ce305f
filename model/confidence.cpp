#include "model/confidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace sluice {

namespace {

constexpr std::size_t max_cosines = 6;  // with fewer, intervals are wide; with more, those of short runs are too narrow

}  // namespace

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
