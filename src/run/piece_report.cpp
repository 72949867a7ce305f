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

/// Such as "pieces of 1 MiB, 4 in flight".
std::string pieces_text(const PieceTuning& mover) {
  const std::string size = mover.whole ? "whole blocks" : "pieces of " + size_text(mover.pieces.bytes);
  return mover.pieces.in_flight == 0 ? size : fmt::format("{}, {} in flight", size, mover.pieces.in_flight);
}

}  // namespace

std::vector<std::string> piece_lines(const std::vector<PieceTuning>& tuning) {
  std::vector<std::string> lines;
  std::set<std::pair<std::string, std::string>> reported;
  for (const PieceTuning& first : tuning) {
    if (!reported.emplace(first.method, first.traffic).second) continue;
    std::set<std::string> texts;  // two directions may differ
    std::size_t tried = 0;
    bool ended = true;
    for (const PieceTuning& other : tuning) {
      if (other.method != first.method || other.traffic != first.traffic || (other.whole && other.trials.empty()))
        continue;
      texts.insert(pieces_text(other));
      tried = std::max(tried, other.trials.size());
      ended = ended && other.ended;
    }
    if (texts.empty()) continue;
    lines.push_back(fmt::format("{}: {} in {} ({} ways tried{})", first.method, first.traffic,
                                fmt::join(texts, " and "), tried, ended ? "" : "; tuning had not ended"));
  }
  return lines;
}

nlohmann::ordered_json piece_list(const std::vector<PieceTuning>& tuning) {
  auto list = nlohmann::ordered_json::array();
  for (const PieceTuning& mover : tuning) {
    auto curve = nlohmann::ordered_json::array();
    for (const PieceTrial& trial : mover.trials) {
      curve.push_back({{"bytes", trial.pieces.bytes},
                       {"in_flight", trial.pieces.in_flight},
                       {"milliseconds", trial.seconds * 1e3},
                       {"gb_per_s", static_cast<double>(mover.bytes_sent) / trial.seconds * 1e-9}});
    }
    list.push_back({{"method", mover.method},
                    {"traffic", mover.traffic},
                    {"piece_bytes", mover.pieces.bytes},
                    {"in_flight", mover.pieces.in_flight},
                    {"whole_blocks", mover.whole},
                    {"tuned", mover.ended},
                    {"tunings", mover.tunings},
                    {"piece_curve", curve}});
  }
  return list;
}

}  // namespace sluice
