#include "io/files/time_series.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "io/case/numbers.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/field_hash.hpp"

namespace sluice::io {

namespace {

/// The row with the last column added: the upper 53 bits of its hash, which every program reads exactly as a number.
std::string with_hash(const std::string& row) {
  return row + "," + std::to_string(byte_hash(0, row.data(), row.size()) >> 11);
}

/// The step of a complete line; none for an incomplete one.
std::optional<std::int64_t> step_of(std::string_view line) {
  const std::string_view header = TimeSeries::header();
  if (std::count(line.begin(), line.end(), ',') != std::count(header.begin(), header.end(), ',')) return std::nullopt;
  return parse_digits(line.substr(0, line.find(',')));
}

/// The part of the file that a restart from `step` keeps. Rows without hashes get them.
std::string kept_rows(const std::string& path, const std::string& text, std::int64_t step) {
  std::string header = std::string(TimeSeries::header()) + "\n";
  if (header.starts_with(text)) return header;  // nothing there yet, or killed while writing the header
  const bool hashed = text.starts_with(header);
  if (!hashed && !text.starts_with(header.substr(0, header.rfind(',')) + "\n")) {
    throw Error(ExitCode::restart,
                path + ": this is not a time series of this version of Sluice: its first line is not '" +
                    TimeSeries::header() + "'; move the file away");
  }
  std::string kept = header;
  std::string_view rest = std::string_view(text).substr(text.find('\n') + 1);
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string line(rest.substr(0, end));
    const std::string row = hashed ? line : with_hash(line);
    const auto row_step = step_of(row);
    if (row_step && *row_step <= step) kept += row + "\n";
    rest.remove_prefix(end + 1);
  }
  return kept;
}

/// Restores the file to the state from which the run continues, and opens it.
PosixFile begin(const std::string& path, std::optional<std::int64_t> restart_step) {
  const bool resume = restart_step && ::access(path.c_str(), F_OK) == 0;
  write_atomically(path, kept_rows(path, resume ? read_text(path) : "", restart_step.value_or(0)));
  return {path, PosixFile::Mode::append};
}

}  // namespace

std::int64_t TimeSeries::last_step(const std::string& path, std::int64_t step) {
  const std::string kept = kept_rows(path, read_text(path), step);
  const std::size_t line = kept.rfind('\n', kept.size() - 2) + 1;  // 0 if only the header is there
  return step_of(std::string_view(kept).substr(line)).value_or(0);
}

const char* TimeSeries::header() {
  return "step,time,dt,cfl,bulk_velocity,forcing,re_tau_bottom,re_tau_top,kinetic_energy,max_divergence,hash";
}

TimeSeries::TimeSeries(const std::string& path, std::optional<std::int64_t> restart_step)
    : file_(begin(path, restart_step)) {}

void TimeSeries::append(const TimeSeriesRow& row) {
  std::string line = std::to_string(row.step);
  for (const double value : {row.time, row.dt, row.cfl, row.bulk_velocity, row.forcing, row.re_tau_bottom,
                             row.re_tau_top, row.kinetic_energy, row.max_divergence}) {
    line += "," + format_real(value);
  }
  file_.write(with_hash(line) + "\n");
}

void TimeSeries::sync() {
  file_.sync();
}

}  // namespace sluice::io
