#pragma once
// Horizontally averaged profiles and spectra and their sums over time, as the solver samples and files store them.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// Where a profile is defined along z.
enum class ProfileAxis {
  z_center,       ///< nz values, at the cell centres
  z_face,         ///< nz + 1 values, at the faces, both walls included
  chosen_center,  ///< ProfileInfo::chosen values, at the cell centres nearest to chosen heights
  chosen_face,    ///< likewise at the faces
  wall,           ///< 2 values, at the bottom and the top wall
  none,           ///< one value
};

/// Bins of a histogram, and of one quantity of a joint histogram.
inline constexpr int histogram_bins = 128;
inline constexpr int joint_bins = 64;

/// Over which wavenumbers a spectrum is resolved, or over which bins a histogram is.
enum class ModeAxis {
  none,       ///< a plain profile: one value for each z
  kx,         ///< nx / 2 + 1 values for each z
  ky,         ///< ny / 2 + 1 values for each z
  kxky,       ///< both: for each z and ky, nx / 2 + 1 values
  bins,       ///< histogram_bins values for each z
  bin_pairs,  ///< joint_bins x joint_bins values for each z
  phases,     ///< ProfileInfo::phases values for each z
};

/// One horizontally averaged quantity.
struct ProfileInfo {
  std::string name;
  std::string long_name;
  std::string units = "1";
  ProfileAxis axis = ProfileAxis::z_center;
  ModeAxis modes = ModeAxis::none;
  std::int64_t chosen = 0;  ///< number of chosen heights
  std::int64_t phases = 0;  ///< number of bins of phase
  bool constant = false;    ///< not a sum: the same in all blocks that are sampled under the same parameters

  /// Number of values on a grid of nx x ny x nz cells: those of the first z, then those of the next.
  std::int64_t length(const std::array<std::int64_t, 3>& cells) const { return planes(cells) * mode_count(cells); }
  std::int64_t planes(const std::array<std::int64_t, 3>& cells) const {
    if (is_chosen()) return chosen;
    if (axis == ProfileAxis::wall) return 2;
    if (axis == ProfileAxis::none) return 1;
    return axis == ProfileAxis::z_face ? cells[2] + 1 : cells[2];
  }
  bool is_chosen() const { return axis == ProfileAxis::chosen_center || axis == ProfileAxis::chosen_face; }
  /// Whether it is defined on z faces; otherwise at cell centres.
  bool at_faces() const { return axis == ProfileAxis::z_face || axis == ProfileAxis::chosen_face; }
  std::int64_t mode_count(const std::array<std::int64_t, 3>& cells) const {
    if (modes == ModeAxis::phases) return phases;
    if (modes == ModeAxis::bins) return histogram_bins;
    if (modes == ModeAxis::bin_pairs) return std::int64_t{joint_bins} * joint_bins;
    return modes_along_x(cells) * modes_along_y(cells);
  }
  std::int64_t modes_along_x(const std::array<std::int64_t, 3>& cells) const {
    return modes == ModeAxis::kx || modes == ModeAxis::kxky ? cells[0] / 2 + 1 : 1;
  }
  std::int64_t modes_along_y(const std::array<std::int64_t, 3>& cells) const {
    return modes == ModeAxis::ky || modes == ModeAxis::kxky ? cells[1] / 2 + 1 : 1;
  }
};

/// Sums of horizontal averages over the samples of one block of time.
struct StatisticsBlock {
  std::int64_t samples = 0;
  double time_begin = 0;                  ///< of the first sample
  double time_end = 0;                    ///< of the last sample
  std::int64_t step_end = 0;              ///< step at which the block was closed; 0 while it is open
  double forcing = 0;                     ///< sum over the samples of the mean streamwise force
  std::vector<std::vector<double>> sums;  ///< for each ProfileInfo, in the same order
  std::int64_t parameter_set = 0;         ///< number, in the file, of the flow parameters during sampling
};

}  // namespace sluice
