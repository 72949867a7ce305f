#include "src/run/piece_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace sluice {

namespace {

std::string size_text(std::size_t bytes) {
  constexpr std::size_t KiB = 1024;
  return bytes < KiB * KiB ? fmt::format("{} KiB", bytes / KiB) : fmt::format("{} MiB", bytes / KiB / KiB);
}

/// Such as "pieces of 1 MiB and 4 MiB": two directions may differ.
std::string sizes_text(const std::set<std::size_t>& pieces, bool whole) {
  std::vector<std::string> sizes;
  for (const std::size_t bytes : pieces) sizes.push_back(size_text(bytes));
  const std::string cut = sizes.empty() ? "" : fmt::format("pieces of {}", fmt::join(sizes, " and "));
  return !whole ? cut : cut.empty() ? "whole blocks" : cut + " and whole blocks";
}

}  // namespace

std::vector<std::string> piece_lines(const std::vector<PieceTuning>& tuning) {
  std::vector<std::string> lines;
  std::set<std::pair<std::string, std::string>> reported;
  for (const PieceTuning& first : tuning) {
    if (!reported.emplace(first.method, first.traffic).second) continue;
    std::set<std::size_t> sizes;
    bool whole = false;
    std::size_t tried = 0;
    bool ended = true;
    for (const PieceTuning& other : tuning) {
      if (other.method != first.method || other.traffic != first.traffic || (other.whole && other.trials.empty()))
        continue;
      if (other.whole) whole = true;
      if (!other.whole) sizes.insert(other.bytes);
      tried = std::max(tried, other.trials.size());
      ended = ended && other.ended;
    }
    if (sizes.empty() && !whole) continue;
    lines.push_back(fmt::format("{}: {} in {} ({} sizes tried{})", first.method, first.traffic,
                                sizes_text(sizes, whole), tried, ended ? "" : "; tuning had not ended"));
  }
  return lines;
}

nlohmann::ordered_json piece_list(const std::vector<PieceTuning>& tuning) {
  auto list = nlohmann::ordered_json::array();
  for (const PieceTuning& mover : tuning) {
    auto curve = nlohmann::ordered_json::array();
    for (const PieceTrial& trial : mover.trials) {
      curve.push_back({{"bytes", trial.bytes},
                       {"milliseconds", trial.seconds * 1e3},
                       {"gb_per_s", static_cast<double>(mover.bytes_sent) / trial.seconds * 1e-9}});
    }
    list.push_back({{"method", mover.method},
                    {"traffic", mover.traffic},
                    {"piece_bytes", mover.bytes},
                    {"whole_blocks", mover.whole},
                    {"tuned", mover.ended},
                    {"piece_curve", curve}});
  }
  return list;
}

}  // namespace sluice
