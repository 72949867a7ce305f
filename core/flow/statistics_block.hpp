#pragma once
// Horizontally averaged profiles and their sums over time, as the solver samples and files store them.
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// Where a profile is defined along z.
enum class ProfileAxis {
  z_center,  ///< nz values, at the cell centres
  z_face,    ///< nz + 1 values, at the faces, both walls included
};

/// One horizontally averaged quantity.
struct ProfileInfo {
  std::string name;
  std::string long_name;
  std::string units = "1";
  ProfileAxis axis = ProfileAxis::z_center;
};

/// Sums of horizontal averages over the samples of one block of time.
struct StatisticsBlock {
  std::int64_t samples = 0;
  double time_begin = 0;                  ///< of the first sample
  double time_end = 0;                    ///< of the last sample
  std::int64_t step_end = 0;              ///< step at which the block was closed; 0 while it is open
  double forcing = 0;                     ///< sum over the samples of the mean streamwise force
  std::vector<std::vector<double>> sums;  ///< one profile for each ProfileInfo, in the same order
  std::int64_t parameter_set = 0;         ///< number, in the file, of the flow parameters during sampling
};

}  // namespace sluice
