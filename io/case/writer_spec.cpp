#include "io/case/writer_spec.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/support/plain_text.hpp"

namespace sluice::io {

namespace {

// What every MPI library takes.
constexpr std::size_t max_name = 35;
constexpr std::size_t max_value = 255;

}  // namespace

std::vector<HintFault> faults_of_hint(const std::vector<MpiIoHint>& hints, std::size_t number) {
  std::vector<HintFault> faults;
  const auto require_length = [&](const char* part, const std::string& text, std::size_t max_length) {
    if (text.empty() || text.size() > max_length)
      faults.push_back({part, fmt::format("a text of {} characters; allowed: 1 to {}", text.size(), max_length)});
  };
  const MpiIoHint& hint = hints[number];
  require_length("name", hint.name, max_name);
  require_length("value", hint.value, max_value);
  const auto same = [&](const MpiIoHint& other) { return other.name == hint.name; };
  if (std::any_of(hints.begin(), hints.begin() + static_cast<std::ptrdiff_t>(number), same))
    faults.push_back({"name", fmt::format("'{}' is given twice; allowed: different names", shortened(hint.name))});
  return faults;
}

}  // namespace sluice::io
