#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  std::vector<double> further;  ///< of the further columns
};

/// A row as it is in a file.
struct StoredRow {
  std::int64_t line = 0;  ///< number of its line, from 1
  std::int64_t step = 0;
  std::int64_t hash = 0;  ///< the last column
  std::string text;       ///< the whole row with its hash, without line end
  std::string problem;    ///< why the row is damaged, and all but `line` unknown; empty if it is intact
};

/// The complete rows of a file, and whether a row without line end follows, as a kill may leave it. A row of an earlier
/// build, which has no hash, gets it here.
struct StoredTimeSeries {
  std::optional<std::vector<std::string>> further;  ///< its further columns; none if there is no whole header
  std::vector<StoredRow> rows;
  bool incomplete_row = false;

  /// The intact row of that step; null if there is none.
  const StoredRow* find(std::int64_t step) const;
  /// The last intact row at or before that step; null if there is none.
  const StoredRow* last(std::int64_t step) const;
};

/// Local. Throws Error(restart) if the file cannot be read or is of another kind.
StoredTimeSeries read_time_series(const std::string& path);

/// Throws Error(restart) if the file has other further columns than a run that writes `further`. Local.
void require_columns(const StoredTimeSeries& stored, const std::vector<std::string>& further, const std::string& path);

/// timeseries.csv: one line per sample; numbers in the shortest form that reads back to the same double, in any locale.
/// The columns are those of TimeSeriesRow, further ones that depend on the case, and a hash of the row. Each row is
/// passed to the operating system at once. Rank 0 only; local. Throws Error(io), also if the file was removed or
/// changed since it was opened.
class TimeSeries {
 public:
  /// Without `restart_step`: a new file. With it: keeps the intact rows up to that step and removes later ones and a
  /// last line that a kill left incomplete; creates a missing file. Throws Error(restart) if the file is of another
  /// kind or has other columns.
  explicit TimeSeries(const std::string& path, std::optional<std::int64_t> restart_step = std::nullopt,
                      const std::vector<std::string>& further = {});

  std::int64_t append(const TimeSeriesRow& row);  ///< returns the row's hash
  void sync();                                    ///< returns when all rows are on disk

  /// The first line, without line end.
  static std::string header(const std::vector<std::string>& further = {});

 private:
  std::size_t further_;  ///< number of further columns
  PosixFile file_;
};

}  // namespace sluice::io
