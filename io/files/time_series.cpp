#include "io/files/time_series.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "io/case/numbers.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/field_hash.hpp"

namespace sluice::io {

namespace {

/// The upper 53 bits of a row's hash, which every program reads exactly as a number.
std::int64_t hash_of(const std::string& row) {
  return static_cast<std::int64_t>(byte_hash(0, row.data(), row.size()) >> 11);
}

std::string with_hash(const std::string& row) {
  return row + "," + std::to_string(hash_of(row));
}

/// A row from its line; `hashed`: whether the file has hashes.
StoredRow stored_row(std::string_view line, bool hashed) {
  const std::string_view header = TimeSeries::header();
  const std::size_t hash_at = hashed ? line.rfind(',') : line.size();
  StoredRow row;
  row.text = with_hash(std::string(line.substr(0, hash_at)));
  const auto step = parse_digits(line.substr(0, line.find(',')));
  if (std::ranges::count(row.text, ',') != std::ranges::count(header, ',') || !step) {
    row.problem = "it does not consist of a step and the numbers that the header names";
  } else if (hashed && row.text != line) {
    row.problem = "it does not have the hash that was stored with it";
  } else {
    row.step = *step;
    row.hash = hash_of(row.text.substr(0, row.text.rfind(',')));
  }
  return row;
}

/// The part of the file that a restart from `step` keeps. Rows without hashes get them.
std::string kept_rows(const std::string& path, std::int64_t step) {
  std::string kept = std::string(TimeSeries::header()) + "\n";
  for (const StoredRow& row : read_time_series(path).rows) {
    if (row.problem.empty() && row.step <= step) kept += row.text + "\n";
  }
  return kept;
}

/// Restores the file to the state from which the run continues, and opens it.
PosixFile begin(const std::string& path, std::optional<std::int64_t> restart_step) {
  const bool resume = restart_step && ::access(path.c_str(), F_OK) == 0;
  write_atomically(path, resume ? kept_rows(path, *restart_step) : std::string(TimeSeries::header()) + "\n");
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
  const std::string header = std::string(TimeSeries::header()) + "\n";
  StoredTimeSeries series;
  if (header.starts_with(text)) {  // nothing there yet, or killed while writing the header
    series.incomplete_row = text != header;
    return series;
  }
  const bool hashed = text.starts_with(header);
  if (!hashed && !text.starts_with(header.substr(0, header.rfind(',')) + "\n")) {
    throw Error(ExitCode::restart,
                path + ": this is not a time series of this version of Sluice: its first line is not '" +
                    TimeSeries::header() + "'; move the file away");
  }
  std::string_view rest = std::string_view(text).substr(text.find('\n') + 1);
  std::int64_t last_step = -1;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    StoredRow row = stored_row(rest.substr(0, end), hashed);
    row.line = std::ssize(series.rows) + 2;
    if (row.problem.empty() && row.step <= last_step) row.problem = "its step is not after that of the row before";
    if (row.problem.empty()) last_step = row.step;
    series.rows.push_back(std::move(row));
    rest.remove_prefix(end + 1);
  }
  series.incomplete_row = !rest.empty();
  return series;
}

const char* TimeSeries::header() {
  return "step,time,dt,cfl,bulk_velocity,forcing,re_tau_bottom,re_tau_top,kinetic_energy,max_divergence,hash";
}

TimeSeries::TimeSeries(const std::string& path, std::optional<std::int64_t> restart_step)
    : file_(begin(path, restart_step)) {}

std::int64_t TimeSeries::append(const TimeSeriesRow& row) {
  std::string line = std::to_string(row.step);
  for (const double value : {row.time, row.dt, row.cfl, row.bulk_velocity, row.forcing, row.re_tau_bottom,
                             row.re_tau_top, row.kinetic_energy, row.max_divergence}) {
    line += "," + format_real(value);
  }
  file_.require_in_place();
  file_.write(with_hash(line) + "\n");
  return hash_of(line);
}

void TimeSeries::sync() {
  file_.require_in_place();
  file_.sync();
}

}  // namespace sluice::io
