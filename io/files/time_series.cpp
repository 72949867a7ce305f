#include "io/files/time_series.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "io/case/numbers.hpp"
#include "io/files/hashes.hpp"
#include "io/files/posix_file.hpp"

namespace sluice::io {

namespace {

constexpr std::string_view common_columns =
    "step,time,dt,cfl,bulk_velocity,forcing,re_tau_bottom,re_tau_top,kinetic_energy,max_divergence";

/// The upper 53 bits of a row's hash, which every program reads exactly as a number.
std::int64_t hash_of(const std::string& row) {
  return byte_hash(0, row.data(), row.size()) >> 11;
}

std::string with_hash(const std::string& row) {
  return row + "," + std::to_string(hash_of(row));
}

/// The first line of a file.
struct Header {
  std::vector<std::string> further;
  bool hashed = false;
  std::ptrdiff_t commas = 0;  ///< in a row with its hash
};

bool is_column_name(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return !name.empty() && name.find_first_not_of(letters) == std::string_view::npos;
}

/// None if the line is no header. Files of earlier builds have neither hashes nor further columns.
std::optional<Header> parse_header(std::string_view line) {
  Header header;
  if (!line.starts_with(common_columns)) return std::nullopt;
  header.commas = std::ranges::count(common_columns, ',') + 1;
  line.remove_prefix(common_columns.size());
  while (!line.empty() && !header.hashed) {
    if (line.front() != ',') return std::nullopt;
    line.remove_prefix(1);
    const std::string_view name = line.substr(0, line.find(','));
    line.remove_prefix(name.size());
    header.hashed = name == "hash";
    if (header.hashed) break;
    if (!is_column_name(name) || std::ranges::count(header.further, name) > 0) return std::nullopt;
    header.further.emplace_back(name);
    ++header.commas;
  }
  if (!line.empty() || (!header.hashed && !header.further.empty())) return std::nullopt;
  return header;
}

/// Whether a header may begin so: its writing was cut off.
bool is_cut_header(std::string_view text) {
  return text.find('\n') == std::string_view::npos &&
         (common_columns.starts_with(text) || text.starts_with(std::string(common_columns) + ","));
}

/// A row from its line.
StoredRow stored_row(std::string_view line, const Header& header) {
  const std::size_t hash_at = header.hashed ? line.rfind(',') : line.size();
  StoredRow row;
  row.text = with_hash(std::string(line.substr(0, hash_at)));
  const auto step = parse_digits(line.substr(0, line.find(',')));
  if (std::ranges::count(row.text, ',') != header.commas || !step) {
    row.problem = "it does not consist of a step and the numbers that the header names";
  } else if (header.hashed && row.text != line) {
    row.problem = "it does not have the hash that was stored with it";
  } else {
    row.step = *step;
    row.hash = hash_of(row.text.substr(0, row.text.rfind(',')));
  }
  return row;
}

/// The part of the file that a restart from `step` keeps. Rows without hashes get them.
std::string kept_rows(const std::string& path, std::int64_t step, const std::vector<std::string>& further) {
  std::string kept = TimeSeries::header(further) + "\n";
  const StoredTimeSeries stored = read_time_series(path);
  require_columns(stored, further, path);
  for (const StoredRow& row : stored.rows) {
    if (row.problem.empty() && row.step <= step) kept += row.text + "\n";
  }
  return kept;
}

/// Restores the file to the state from which the run continues, and opens it.
PosixFile begin(const std::string& path, std::optional<std::int64_t> restart_step,
                const std::vector<std::string>& further) {
  const bool resume = restart_step && ::access(path.c_str(), F_OK) == 0;
  write_atomically(path, resume ? kept_rows(path, *restart_step, further) : TimeSeries::header(further) + "\n");
  return {path, PosixFile::Mode::append};
}

}  // namespace

const StoredRow* StoredTimeSeries::find(std::int64_t step) const {
  const StoredRow* row = last(step);
  return row != nullptr && row->step == step ? row : nullptr;
}

const StoredRow* StoredTimeSeries::last(std::int64_t step) const {
  const StoredRow* found = nullptr;
  for (const StoredRow& row : rows) {
    if (row.problem.empty() && row.step <= step) found = &row;
  }
  return found;
}

StoredTimeSeries read_time_series(const std::string& path) {
  const std::string text = read_text(path, ExitCode::restart);
  StoredTimeSeries series;
  if (is_cut_header(text)) {
    series.incomplete_row = true;
    return series;
  }
  const std::optional<Header> header = parse_header(std::string_view(text).substr(0, text.find('\n')));
  if (!header) {
    throw Error(ExitCode::restart,
                path + ": this is not a time series of this version of Sluice: its first line is not '" +
                    TimeSeries::header() + "' or the same with further columns before the last; move the file away");
  }
  series.further = header->further;
  std::string_view rest = std::string_view(text).substr(text.find('\n') + 1);
  std::int64_t last_step = -1;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    StoredRow row = stored_row(rest.substr(0, end), *header);
    row.line = std::ssize(series.rows) + 2;
    if (row.problem.empty() && row.step <= last_step) row.problem = "its step is not after that of the row before";
    if (row.problem.empty()) last_step = row.step;
    series.rows.push_back(std::move(row));
    rest.remove_prefix(end + 1);
  }
  series.incomplete_row = !rest.empty();
  return series;
}

void require_columns(const StoredTimeSeries& stored, const std::vector<std::string>& further, const std::string& path) {
  if (!stored.further || *stored.further == further) return;
  throw Error(ExitCode::restart, path + ": its columns are '" + TimeSeries::header(*stored.further) +
                                     "', but this run writes '" + TimeSeries::header(further) +
                                     "', because the case has changed; move the file away and use --allow-change");
}

std::string TimeSeries::header(const std::vector<std::string>& further) {
  std::string line(common_columns);
  for (const std::string& name : further) line += "," + name;
  return line + ",hash";
}

TimeSeries::TimeSeries(const std::string& path, std::optional<std::int64_t> restart_step,
                       const std::vector<std::string>& further)
    : further_(further.size()), file_(begin(path, restart_step, further)) {}

std::int64_t TimeSeries::append(const TimeSeriesRow& row) {
  std::string line = std::to_string(row.step);
  for (const double value : {row.time, row.dt, row.cfl, row.bulk_velocity, row.forcing, row.re_tau_bottom,
                             row.re_tau_top, row.kinetic_energy, row.max_divergence}) {
    line += "," + format_real(value);
  }
  SLUICE_REQUIRE(row.further.size() == further_, "a row must have a value for each column");
  for (const double value : row.further) line += "," + format_real(value);
  file_.require_in_place();
  file_.write(with_hash(line) + "\n");
  return hash_of(line);
}

void TimeSeries::sync() {
  file_.require_in_place();
  file_.sync();
}

}  // namespace sluice::io
