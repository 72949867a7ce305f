#pragma once
#include <algorithm>

namespace sluice {

/// Bytes of device memory that a part of a run needs on one rank.
struct MemoryNeed {
  double held = 0;        ///< by itself
  double transposed = 0;  ///< arrays of its transposes; where ranks reach each other's memory, all have the largest
  double exchanged = 0;   ///< in one message buffer, the largest that it sends or receives; all exchanges share it

  /// Of two parts that take turns.
  friend MemoryNeed operator+(const MemoryNeed& a, const MemoryNeed& b) {
    return {a.held + b.held, a.transposed + b.transposed, std::max(a.exchanged, b.exchanged)};
  }
};

}  // namespace sluice
