// The reader of timeseries.csv, with which a restart begins.
#include <set>
#include <sstream>
#include <string>

#include "core/support/error.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/time_series.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace {

using namespace sluice;
using namespace sluice::io;
using fuzz::require;

constexpr std::int64_t last_step = 60;

std::string write_original(const std::string& path) {
  TimeSeries series(path);
  for (std::int64_t step = 10; step <= last_step; step += 10) {
    const double t = static_cast<double>(step) / 7;
    series.append({step, t, t / 3, 0.9, 1.0, -1.0 / 3.0, 180.5, 1e-300 * t, 0.25, 1e-15, {}});
  }
  return read_text(path);
}

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

std::int64_t step_of(const StoredRow* row) {
  return row == nullptr ? 0 : row->step;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = fuzz::scratch_path("timeseries.csv");
  static const std::string bytes = write_original(path);
  static const std::set<std::string> intact = lines_of(bytes);
  fuzz::Input input(data, size);
  const auto step = static_cast<std::int64_t>(input.below(8)) * 10;
  const std::string changed = fuzz::damaged(bytes, input);
  fuzz::write_bytes(path, changed);
  fuzz::read_or_refuse([&] {
    const StoredTimeSeries found = read_time_series(path);
    const std::int64_t reached = step_of(found.last(step));
    require(reached <= step, "a later step than asked for");
    TimeSeries(path, step).sync();
    const std::string kept = read_text(path);
    require(kept.starts_with(TimeSeries::header() + "\n") && kept.ends_with('\n'), "not whole lines");
    require(kept.size() < 4 * changed.size() + 200, "more text than before");
    const bool hashed = changed.starts_with(TimeSeries::header() + "\n");
    for (const std::string& line : lines_of(kept))
      require(!hashed || intact.contains(line), "a row that nobody wrote:\n" + line);
    const StoredTimeSeries again = read_time_series(path);
    require(step_of(again.last(step)) == reached, "another last step after the restart");
    for (const StoredRow& row : again.rows) require(row.problem.empty(), "a damaged row was kept: " + row.text);
  });
  return 0;
}
