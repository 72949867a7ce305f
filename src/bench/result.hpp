#pragma once
// The result of a benchmark: JSON, from which the tables are printed.
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/decomp/exchange/piece_tuning.hpp"
#include "src/bench/measure.hpp"

namespace sluice {

using Json = nlohmann::ordered_json;

/// A result begins with what was measured, by which build, on which ranks. Local.
Json new_result(const std::string& what);

/// Adds `name`, the median, `name`_spread, the extremes, and `name`_interval_95 and _99 if there were enough repeats.
void add_milliseconds(Json& row, const Spread& seconds, const std::string& name = "milliseconds");

/// Adds "pieces", those that were chosen and tried, and says so in "notes", which follow the row in a table.
void add_pieces(Json& row, const std::vector<PieceTuning>& tuning);
/// Whether pieces are still being tried on any rank. Collective.
bool is_tuning(const std::vector<PieceTuning>& tuning);
/// Runs until no pieces are being tried any more, but not for long. Collective.
void run_until_tuned(Workload& workload);

/// A column of a table, whose rows are JSON objects.
struct Column {
  std::string heading;
  std::size_t width = 0;
  std::function<std::string(const Json& row)> cell;
  bool names_row = false;  ///< on the left; printed for faults too
};

/// A text; a number; median, minimum and maximum of a time. The last two are empty in rows without them.
Column text_column(const std::string& heading, std::size_t width, const std::string& key);
Column number_column(const std::string& heading, std::size_t width, const std::string& key, int digits);
Column time_column();
/// The confidence interval of the median of a time, of 95 or 99 %; empty in rows without it.
Column interval_column(int percent);
/// "error": empty if it is 0 or unknown.
Column error_column();

/// A row with a "fault" shows that instead of its numbers. The "phases", "parts" and "notes" of a row follow it.
void print_table(const std::vector<Json>& rows, const std::vector<Column>& columns);

/// Writes the result to a file; does nothing if `path` is empty. Throws Error(io).
void write_json(const std::string& path, const Json& json);

/// A file of JSON Lines: one object per measurement. What was written remains if a benchmark is cut off later. Rank 0
/// writes; all members are collective and throw Error(io) on every rank.
class JsonLines {
 public:
  /// Begins a new file or appends to one; nothing is written if `path` is empty.
  explicit JsonLines(const std::string& path, bool append = false);
  void write(const Json& row);

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace sluice
