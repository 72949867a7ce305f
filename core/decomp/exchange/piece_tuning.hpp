#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

/// A piece size that was tried, with the fastest exchange (ChunkTuner::tried_sizes).
struct PieceTrial {
  std::size_t bytes = 0;
  double seconds = 0;
};

/// The piece size of a mover whose method sends blocks in pieces.
struct PieceTuning {
  std::string method;
  std::string traffic;  ///< the mover's communicator: rows or columns (Communicator)
  std::size_t bytes = 0;
  bool whole = false;              ///< blocks are sent whole; `bytes` is the largest
  bool ended = false;              ///< whether the size is chosen, and not one on trial
  std::vector<PieceTrial> trials;  ///< ascending sizes; none if blocks are too small to be cut
  std::size_t bytes_sent = 0;      ///< in an exchange, by this rank
};

}  // namespace sluice
