#include "io/case/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "core/support/error.hpp"

namespace sluice::io {

namespace {

constexpr std::size_t max_lines = 20;

// "a.b" contains "a.b", "a.b.c" and "a.b[0]", but not "a.bc".
bool holds(std::string_view outer, std::string_view inner) {
  if (!inner.starts_with(outer)) return false;
  return inner.size() == outer.size() || inner[outer.size()] == '.' || inner[outer.size()] == '[';
}

}  // namespace

Problems::Problems(std::string file_name, std::vector<std::string> overrides, std::string what)
    : file_name_(std::move(file_name)), overrides_(std::move(overrides)), what_(std::move(what)) {}

void Problems::add(const Place& place, const std::string& path, const std::string& what) {
  problems_.push_back({place, path, what});
}

bool Problems::good(std::string_view path) const {
  const auto near = [&](const std::string& other) { return holds(other, path) || holds(path, other); };
  if (std::any_of(doubted_.begin(), doubted_.end(), near)) return false;
  return std::none_of(problems_.begin(), problems_.end(),
                      [&](const Problem& problem) { return near(problem.path) || problem.path.empty(); });
}

bool Problems::doubted(const std::string& path) const {
  return std::find(doubted_.begin(), doubted_.end(), path) != doubted_.end();
}

std::string Problems::line_of(const Problem& problem) const {
  std::string line;
  if (problem.place.source > Place::file) {
    line = fmt::format("--set {}: ", escaped(overrides_.at(problem.place.source - 1)));
  } else {
    line = fmt::format("{}:{}:{}: ", file_name_, problem.place.line, problem.place.column);
  }
  if (!problem.path.empty()) line += shortened(problem.path) + ": ";
  return line + problem.what;
}

void Problems::raise() const {
  if (problems_.empty()) return;
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.place.source, a.place.line, a.place.column) <
           std::tie(b.place.source, b.place.line, b.place.column);
  });
  std::vector<std::string> lines;
  std::unordered_set<std::string> known;
  for (const auto& problem : sorted) {
    const std::string line = line_of(problem);
    if (known.insert(line).second && known.size() <= max_lines) lines.push_back(line);
  }
  const std::string head = known.size() == 1
                               ? fmt::format("the {} {} has a problem:", what_, file_name_)
                               : fmt::format("the {} {} has {} problems:", what_, file_name_, known.size());
  if (known.size() > max_lines) lines.push_back(fmt::format("and {} more", known.size() - max_lines));
  throw Error(ExitCode::usage, fmt::format("{}\n{}", head, fmt::join(lines, "\n")));
}

}  // namespace sluice::io
