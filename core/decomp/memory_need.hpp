#pragma once
#include <algorithm>

namespace sluice {

/// Bytes of device memory that the exchanges of one kind need on one rank.
struct ExchangeNeed {
  double transposed = 0;  ///< arrays of transposes; a method with shares_arrays() allocates the largest on all ranks
  double messages = 0;    ///< the largest message buffer, to send or receive; all exchanges of a method share it

  /// The need of two parts that take turns.
  friend ExchangeNeed operator+(const ExchangeNeed& a, const ExchangeNeed& b) {
    return {a.transposed + b.transposed, std::max(a.messages, b.messages)};
  }
};

/// Bytes of device memory that a part of a run needs on one rank: its own arrays, and its exchanges.
struct MemoryNeed {
  double held = 0;
  ExchangeNeed halos{}, rows{}, columns{};

  friend MemoryNeed operator+(const MemoryNeed& a, const MemoryNeed& b) {
    return {a.held + b.held, a.halos + b.halos, a.rows + b.rows, a.columns + b.columns};
  }
};

}  // namespace sluice
