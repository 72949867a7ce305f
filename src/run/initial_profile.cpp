// The mean profile of a turbulent start, from formulas or from a file of columns.
#include "src/run/initial_profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/plain_text.hpp"
#include "io/files/posix_file.hpp"

namespace sluice {

namespace {

constexpr std::size_t max_profile_bytes = 67108864;

using Row = std::vector<double>;  ///< z, U and perhaps V

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw Error(ExitCode::usage, fmt::format("{}{}", file, what));
}

/// The numbers of a line, which blanks, tabs, commas or semicolons separate; none if a word is not a number.
std::optional<Row> numbers_of(std::string line) {
  for (char& c : line)
    if (c == ',' || c == ';' || c == '\t' || c == '\r') c = ' ';
  std::istringstream words(line);
  Row row;
  for (std::string word; words >> word;) {
    const auto value = parse_table_number(word);
    if (!value) return std::nullopt;
    row.push_back(*value);
  }
  return row;
}

/// The rows of a text; # and % begin comments, and a first line of names is skipped.
std::vector<Row> rows_of(const std::string& text, const std::string& file) {
  if (const auto fault = fault_of_plain_text(text, "a mean profile"))
    refuse(file, fmt::format(":{}:{}: {}", fault->line, fault->column, fault->what));
  std::vector<Row> rows;
  std::istringstream lines{std::string(without_byte_order_mark(text))};
  bool may_be_names = true;
  int number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    line.erase(std::min(line.find_first_of("#%"), line.size()));
    auto row = numbers_of(line);
    if (row && row->empty()) continue;
    if (std::exchange(may_be_names, false) && !row) continue;
    if (!row || row->size() < 2 || row->size() > 3 || (!rows.empty() && row->size() != rows.front().size()))
      refuse(file, fmt::format(":{}: '{}' is not z, U and, in all lines or in none, V: finite numbers", number,
                               shortened(line)));
    if (!rows.empty() && row->front() <= rows.back().front())
      refuse(file, fmt::format(":{}: the height {} does not exceed the one before, {}", number,
                               format_real(row->front()), format_real(rows.back().front())));
    rows.push_back(std::move(*row));
  }
  if (rows.size() < 2) refuse(file, ": a mean profile needs two heights or more");
  return rows;
}

std::vector<double> centers(const Grid& grid) {
  std::vector<double> z;
  for (std::int64_t n = 0; n < grid.cells()[2]; ++n) z.push_back(grid.z_center(n));
  return z;
}

}  // namespace

TurbulentProfile profile_from_text(const std::string& text, const std::string& file, const Grid& grid,
                                   const FlowParameters& flow) {
  const std::vector<Row> rows = rows_of(text, file);
  const std::vector<double> z = centers(grid);
  if (rows.front().front() > z.front() || rows.back().front() < z.back())
    refuse(file, fmt::format(": its heights run from {} to {}, those of the cell centres from {} to {}; add the "
                             "velocities at the walls, z = 0 and {}",
                             format_real(rows.front().front()), format_real(rows.back().front()),
                             format_real(z.front()), format_real(z.back()), format_real(grid.length_z())));
  std::array<std::vector<double>, 2> found;
  for (const double height : z) {
    const auto above = std::ranges::find_if(rows, [&](const Row& row) { return row.front() >= height; });
    const Row& upper = *above;
    const Row& lower = above == rows.begin() ? upper : *std::prev(above);
    const double weight = above == rows.begin() ? 1 : (height - lower[0]) / (upper[0] - lower[0]);
    for (std::size_t n = 1; n < upper.size(); ++n) found[n - 1].push_back(lower[n] + weight * (upper[n] - lower[n]));
  }
  return given_profile(grid, flow, std::move(found[0]), std::move(found[1]));
}

TurbulentProfile initial_profile(const io::Case& settings, const Grid& grid, MPI_Comm comm) {
  const io::InitialSpec& initial = settings.initial;
  if (initial.profile) {
    std::vector<double> u;
    std::vector<double> v;
    for (const double z : centers(grid)) {
      u.push_back((*initial.profile)[0](FormulaPoint{.z = z}));
      v.push_back((*initial.profile)[1](FormulaPoint{.z = z}));
    }
    return given_profile(grid, settings.flow, std::move(u), std::move(v));
  }
  if (initial.profile_file.empty()) return turbulent_profile(grid, settings.flow);
  std::string text;
  run_on_root(comm, [&] {
    text = io::read_input(initial.profile_file, "mean profile (initial.profile_file)", max_profile_bytes);
  });
  broadcast(text, comm);
  return profile_from_text(text, initial.profile_file, grid, settings.flow);
}

}  // namespace sluice
