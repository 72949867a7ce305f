#pragma once
#include <algorithm>

namespace sluice {

/// Bytes of device memory that a part of a run needs on one rank.
struct MemoryNeed {
  double held = 0;        ///< its own arrays
  double transposed = 0;  ///< arrays of its transposes; `peer` allocates the largest on all ranks
  double exchanged = 0;   ///< its largest message buffer, to send or receive; all exchanges share the buffers

  /// The need of two parts that take turns.
  friend MemoryNeed operator+(const MemoryNeed& a, const MemoryNeed& b) {
    return {a.held + b.held, a.transposed + b.transposed, std::max(a.exchanged, b.exchanged)};
  }
};

}  // namespace sluice
