#pragma once
// The numbers that a turbulent channel flow is known by, as `sluice-post report` defines them, from blocks of
// statistics; and their confidence intervals.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/mean_flow.hpp"
#include "model/parameters.hpp"
#include "model/statistics_block.hpp"

namespace sluice {

struct KeyFigureInfo {
  const char* name;
  const char* meaning;
};

inline constexpr std::array<KeyFigureInfo, 7> key_figure_table{{
    {"re_tau", "friction Reynolds number Re_tau of the mean wall stress"},
    {"cf", "friction coefficient C_f of the mean wall stress"},
    {"u_rms_peak", "peak of u'+"},
    {"v_rms_peak", "peak of v'+"},
    {"w_rms_peak", "peak of w'+"},
    {"uw_peak", "peak of -<u'w'>+"},
    {"u_center", "mean velocity U_c+ at the centre or the free surface"},
}};

/// A value for each figure of the table.
using KeyFigureValues = std::array<double, key_figure_table.size()>;

/// What the figures depend on beside the statistics.
struct StatisticsFlow {
  double viscosity = 0;
  WallCondition bottom, top;
  bool couette = false;        ///< the flow type: without forcing, the halves are averaged by half a turn
  std::vector<double> z;       ///< centres
  std::vector<double> z_face;  ///< faces, both walls included
  MeanFlow terms{};            ///< what its terms mean for the mean flow
};

/// Computes the figures from blocks of statistics. Re_tau = u_tau h/nu, with the unit of length h, and C_f belong to
/// the mean of the magnitudes of the wall stresses (wall_stress.hpp). C_f is 2 u_tau^2/U^2, where U is the bulk
/// velocity, half the velocity difference of the walls, or the velocity above a boundary layer, which has no U_c+. The
/// other figures are in wall units: both halves of a symmetric flow are averaged; any other flow is seen from the
/// bottom wall, or from the only wall with shear. A peak is that of the parabola through three points. Local, without
/// side effects.
class KeyFigures {
 public:
  struct Estimates {
    KeyFigureValues values{};       ///< NaN: not defined, as peaks in a laminar flow
    KeyFigureValues half_widths{};  ///< of the 95 % intervals; NaN for a single block
    /// w does not fluctuate, so half_widths only show how the flow changes in time. False if there is no u_tau.
    bool laminar = false;
  };

  /// `profiles`: what the sums of the blocks are.
  KeyFigures(StatisticsFlow flow, const std::vector<ProfileInfo>& profiles);

  /// The figures of all blocks together, with intervals by the jackknife of the blocks. There must be a sample.
  Estimates estimate(std::span<const StatisticsBlock> blocks) const;

 private:
  /// Means, or sums, of the profiles that the figures need; and of the force.
  struct Profiles {
    std::vector<double> u, v, w, uu, vv, ww;  ///< at centres
    std::vector<double> uw, tau_xz, tau_yz;   ///< at faces
    double forcing = 0;
  };
  enum class Symmetry { mirror, half_turn, none };

  Profiles means(const StatisticsBlock& total, const StatisticsBlock* without) const;
  KeyFigureValues figures_of(const Profiles& means) const;
  Symmetry symmetry_of(const Profiles& means) const;
  /// The mean over the walls with shear of magnitude(tau_xz, tau_yz).
  double mean_wall_stress(const Profiles& means, auto&& magnitude) const;
  double mean_u_tau_squared(const Profiles& means) const;
  /// The flow seen from the wall of the wall units, in a frame that moves at `frame` along x, its halves averaged.
  Profiles seen_from_wall(Profiles means, Symmetry symmetry, double frame) const;
  double friction_coefficient(const Profiles& means) const;
  bool both_no_slip() const;

  StatisticsFlow flow_;
  std::array<std::size_t, 9> number_{};  ///< of each profile in a block's sums
  double reach_;  ///< end of the view from a wall: half the height if both walls have shear, else the height
};

/// Number of cosines that a series of so many blocks has amplitudes for: at most 6, 0 for a single block.
std::size_t degrees_of_freedom(std::size_t blocks);

/// Half width of the two-sided 95 % interval in standard errors, for 1 to 6 degrees of freedom; NaN for 0.
double student_t95(std::size_t degrees);

/// Half width of the 95 % interval of a mean of correlated blocks. `contributions`: weight times deviation from the
/// mean, of each block; `samples`: its weight and its duration. NaN for a single block. The method is that of
/// sluice_post, which postprocess/README.md describes: the blocks' amplitudes in cosines of 1/2, 1, ..., 3 periods over
/// the run act as independent repetitions of the run. Lazarus, Lewis, Stock & Watson, J. Bus. Econ. Stat. 36, 541
/// (2018), sec. 3.
double half_width95(std::span<const double> contributions, std::span<const double> samples);

}  // namespace sluice
