#pragma once
// What exchange methods that send in pieces have chosen, for logs and JSON.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/decomp/exchange/piece_tuning.hpp"

namespace sluice {

/// For each method and kind of traffic, such as "mpi_pipelined: rows in pieces of 4 MiB, 4 in flight (16 ways
/// tried)". Only where there was a choice.
std::vector<std::string> piece_lines(const std::vector<PieceTuning>& tuning);

/// For each mover the pieces and, for all that was tried, time and rate. The rate is that of this rank.
nlohmann::ordered_json piece_list(const std::vector<PieceTuning>& tuning);

}  // namespace sluice
