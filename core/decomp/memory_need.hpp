#pragma once
#include "core/decomp/exchange/exchange_methods.hpp"

namespace sluice {

/// Bytes of device memory that the exchanges of one kind need on one rank. Those of a method take turns in one buffer
/// to send and one to receive.
struct ExchangeNeed {
  double transposed = 0;  ///< arrays of transposes; a method that shares them allocates the largest on all ranks
  double messages = 0;    ///< the largest message buffer, to send or receive
  double background = 0;  ///< the same of a method that moves halos in the background, beside the others
};

/// Bytes of device memory that a part of a run needs on one rank: its own arrays, and its exchanges. Tables with a
/// number for each row, column or plane are left out.
struct MemoryNeed {
  double held = 0;
  ExchangeNeed halos{}, rows{}, columns{};

  MemoryNeed& operator+=(const MemoryNeed& other);

  /// With the buffers of these methods; `auto` counts as one that packs arrays, which takes the most.
  double bytes(const ExchangeMethods& methods) const;
};

}  // namespace sluice
