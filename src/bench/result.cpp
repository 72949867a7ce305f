#include "src/bench/result.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <fstream>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/real.hpp"
#include "src/run/piece_report.hpp"
#include "src/run/provenance.hpp"

namespace sluice {

namespace {

/// cell(column) for each column. If `failed`, only the columns that name the row.
template <class Cell>
std::string line_of(const std::vector<Column>& columns, const Cell& cell, bool failed = false) {
  std::string line;
  for (const Column& column : columns) {
    if (column.names_row) {
      line += fmt::format("{:<{}}", cell(column), column.width);
    } else if (!failed) {
      line += fmt::format("{:>{}}", cell(column), column.width);
    }
  }
  return line;
}

}  // namespace

Json new_result(const std::string& what) {
  return {{"what", what},         {"precision", precision_name},    {"device", device::description()},
          {"version", version()}, {"git_revision", git_revision()}, {"ranks", size_of(MPI_COMM_WORLD)}};
}

void add_milliseconds(Json& row, const Spread& seconds, const std::string& name) {
  row[name] = seconds.median * 1e3;
  row[name + "_spread"] = {seconds.min * 1e3, seconds.max * 1e3};
  const auto add = [&](const char* ending, const std::optional<Interval>& interval) {
    if (interval) row[name + ending] = {(*interval)[0] * 1e3, (*interval)[1] * 1e3};
  };
  add("_interval_95", seconds.interval_95);
  add("_interval_99", seconds.interval_99);
}

void add_pieces(Json& row, const std::vector<PieceTuning>& tuning) {
  if (tuning.empty()) return;
  row["pieces"] = piece_list(tuning);
  row["notes"] = piece_lines(tuning);
}

bool is_tuning(const std::vector<PieceTuning>& tuning) {
  return max_of_ranks(std::ranges::all_of(tuning, &PieceTuning::ended) ? 0 : 1) > 0;
}

void run_until_tuned(Workload& workload) {
  constexpr int max_runs = 200;
  constexpr double max_seconds = 60;
  double spent = 0;
  for (int n = 0; n < max_runs && spent < max_seconds && is_tuning(workload.piece_tuning()); ++n)
    spent += seconds_of_run(workload);
}

Column text_column(const std::string& heading, std::size_t width, const std::string& key) {
  return {heading, width, [key](const Json& row) { return row.value(key, ""); }, true};
}

Column number_column(const std::string& heading, std::size_t width, const std::string& key, int digits) {
  return {heading, width, [key, digits](const Json& row) {
            return row.contains(key) ? fmt::format("{:.{}f}", row[key].get<double>(), digits) : "";
          }};
}

Column time_column() {
  return {fmt::format("ms{:>22}", "min to max"), 32, [](const Json& row) {
            if (!row.contains("milliseconds")) return std::string();
            const Json& spread = row["milliseconds_spread"];
            return fmt::format("{:.3f}{:>11.3f}{:>11.3f}", row["milliseconds"].get<double>(), spread[0].get<double>(),
                               spread[1].get<double>());
          }};
}

Column interval_column(int percent) {
  return {fmt::format("{} %", percent), 20, [key = fmt::format("milliseconds_interval_{}", percent)](const Json& row) {
            if (!row.contains(key)) return std::string();
            return fmt::format("{:.3f} {:.3f}", row[key][0].get<double>(), row[key][1].get<double>());
          }};
}

Column error_column() {
  return {"error", 10, [](const Json& row) {
            const double error = row.value("error", 0.0);
            return error > 0 ? fmt::format("{:.1e}", error) : std::string();
          }};
}

void print_table(const std::vector<Json>& rows, const std::vector<Column>& columns) {
  fmt::print("{}\n", line_of(columns, [](const Column& column) { return column.heading; }));
  for (const Json& row : rows) {
    const std::string fault = row.value("fault", "");
    fmt::print("{}{}\n",
               line_of(
                   columns, [&](const Column& column) { return column.cell(row); }, !fault.empty()),
               fault);
    for (const char* key : {"phases", "parts"}) {
      for (const Json& phase : row.value(key, Json::array())) {
        std::string line = fmt::format("  {:<46}{:>32}", phase["name"].get<std::string>(), time_column().cell(phase));
        for (const int percent : {95, 99}) {
          const Column interval = interval_column(percent);
          if (const std::string cell = interval.cell(phase); !cell.empty())
            line += fmt::format("{:>{}}", cell, interval.width);
        }
        fmt::print("{}\n", line);
      }
    }
    for (const Json& note : row.value("notes", Json::array())) fmt::print("  {}\n", note.get<std::string>());
  }
}

void write_json(const std::string& path, const Json& json) {
  if (path.empty()) return;
  std::ofstream file(path);
  file << json.dump(2) << "\n";
  file.close();
  if (!file) throw Error(ExitCode::io, fmt::format("{}: could not be written", path));
}

JsonLines::JsonLines(const std::string& path, bool append) : path_(path) {
  run_on_root(MPI_COMM_WORLD, [&] {
    if (path_.empty()) return;
    file_.open(path_, append ? std::ios::app : std::ios::out);
    if (!file_) throw Error(ExitCode::io, fmt::format("{}: could not be opened for writing", path_));
  });
}

void JsonLines::write(const Json& row) {
  run_on_root(MPI_COMM_WORLD, [&] {
    if (path_.empty()) return;
    file_ << row.dump() << '\n' << std::flush;
    if (!file_) throw Error(ExitCode::io, fmt::format("{}: could not be written", path_));
  });
}

}  // namespace sluice
