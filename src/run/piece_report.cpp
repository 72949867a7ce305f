#include "src/run/piece_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace sluice {

namespace {

std::string size_text(const PieceTuning& tuning) {
  constexpr std::size_t KiB = 1024;
  if (tuning.whole) return "whole blocks";
  if (tuning.bytes < KiB * KiB) return fmt::format("pieces of {} KiB", tuning.bytes / KiB);
  return fmt::format("pieces of {} MiB", tuning.bytes / KiB / KiB);
}

}  // namespace

std::vector<std::string> piece_lines(const std::vector<PieceTuning>& tuning) {
  std::vector<std::string> lines;
  std::set<std::pair<std::string, std::string>> reported;
  for (const PieceTuning& first : tuning) {
    if (!reported.emplace(first.method, first.traffic).second) continue;
    std::set<std::string> sizes;
    std::size_t tried = 0;
    bool ended = true;
    for (const PieceTuning& other : tuning) {
      if (other.method != first.method || other.traffic != first.traffic || (other.whole && other.trials.empty()))
        continue;
      sizes.insert(size_text(other));
      tried = std::max(tried, other.trials.size());
      ended = ended && other.ended;
    }
    if (sizes.empty()) continue;
    lines.push_back(fmt::format("{}: {} in {} ({} sizes tried{})", first.method, first.traffic,
                                fmt::join(sizes, " and "), tried, ended ? "" : "; tuning had not ended"));
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
