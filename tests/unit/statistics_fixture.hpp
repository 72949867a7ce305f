#pragma once
// A small statistics.h5 and its blocks.
#include <limits>
#include <string>

#include "io/files/statistics_file.hpp"

namespace sluice::io::files_test {

inline StatisticsSpec statistics_spec(const std::string& path) {
  StatisticsSpec spec;
  spec.path = path;
  spec.provenance = {"0.1.0", "abc123", std::string(70000, 'c')};
  spec.attributes.set("viscosity", 3.5e-4);
  spec.profiles = {{"u", "sum of u / U_b", "1", ProfileAxis::z_center},
                   {"uw", "sum of u w / U_b^2", "1", ProfileAxis::z_face}};
  spec.z = {0.25, 1.0, 1.75};
  spec.z_face = {0, 0.5, 1.5, 2};
  return spec;
}

inline StatisticsBlock statistics_block(int n) {
  const double v = 0.1 * n;
  return {10 + n, v, v + 0.1, 100 * (n + 1), 2 * v, {{v, v + 1, v + 2}, {0, v / 3, v / 7, 0}}};
}

inline Values parameters(double viscosity) {
  Values values;
  values.set("viscosity", viscosity);
  return values;
}

/// The file of a run that begins at that step.
inline StatisticsFile begun(const StatisticsSpec& spec, std::int64_t step = 0) {
  StatisticsFile file(spec, step > 0);
  file.truncate_after(step, std::numeric_limits<double>::infinity());
  return file;
}

}  // namespace sluice::io::files_test
