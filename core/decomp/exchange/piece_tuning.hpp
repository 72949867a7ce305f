#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

/// How blocks are sent in pieces.
struct Pieces {
  std::size_t bytes = 0;      ///< of a piece
  std::size_t in_flight = 0;  ///< the most that a rank sends, and receives, at the same time; 0: no limit

  bool operator==(const Pieces&) const = default;
};

/// What was tried, with the fastest exchange (ChunkTuner::tried).
struct PieceTrial {
  Pieces pieces;
  double seconds = 0;
};

/// The pieces of a mover whose method sends blocks in pieces.
struct PieceTuning {
  std::string method;
  std::string traffic;  ///< the mover's communicator: rows or columns (Communicator)
  Pieces pieces;
  bool whole = false;              ///< blocks are sent whole; `pieces.bytes` is the largest
  bool ended = false;              ///< whether `pieces` is chosen, and not on trial
  int tunings = 0;                 ///< how often tuning has begun
  std::vector<PieceTrial> trials;  ///< without a limit in ascending size, then with limits; none without a choice
  std::size_t bytes_sent = 0;      ///< in an exchange, by this rank
};

}  // namespace sluice
