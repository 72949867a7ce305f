#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "io/files/posix_file.hpp"

namespace sluice::io {

/// One row of timeseries.csv; units of h and the velocity scale of the case.
struct TimeSeriesRow {
  std::int64_t step = 0;
  double time = 0;
  double dt = 0;
  double cfl = 0;  ///< dt / dt_lim
  double bulk_velocity = 0;
  double forcing = 0;
  double re_tau_bottom = 0;
  double re_tau_top = 0;
  double kinetic_energy = 0;  ///< volume mean of |u|^2 / 2
  double max_divergence = 0;
};

/// timeseries.csv: one line per sample; numbers in the shortest form that reads back to the same double, in any locale.
/// The last column is a hash of the row. Each row is passed to the operating system at once. Rank 0 only; local. Throws
/// Error(io).
class TimeSeries {
 public:
  /// Without `restart_step`: a new file. With it: keeps the rows up to that step and removes later ones and a last line
  /// that a kill left incomplete; creates a missing file. Throws Error(restart) if the file is of another kind.
  explicit TimeSeries(const std::string& path, std::optional<std::int64_t> restart_step = std::nullopt);

  void append(const TimeSeriesRow& row);
  void sync();  ///< returns when all rows are on disk

  /// The last row at or before that step; 0 if there is none. Throws Error(restart) if the file is of another kind.
  static std::int64_t last_step(const std::string& path, std::int64_t step);

  static const char* header();  ///< the first line, without line end

 private:
  PosixFile file_;
};

}  // namespace sluice::io
