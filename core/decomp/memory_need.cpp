#include "core/decomp/memory_need.hpp"

#include <algorithm>
#include <map>

#include "core/decomp/exchange/exchange.hpp"

namespace sluice {

MemoryNeed& MemoryNeed::operator+=(const MemoryNeed& other) {
  held += other.held;
  for (ExchangeNeed MemoryNeed::*kind : {&MemoryNeed::halos, &MemoryNeed::rows, &MemoryNeed::columns}) {
    const ExchangeNeed& added = other.*kind;
    ExchangeNeed& need = this->*kind;
    need = {need.transposed + added.transposed, std::max(need.messages, added.messages),
            std::max(need.background, added.background)};
  }
  return *this;
}

double MemoryNeed::bytes(const ExchangeMethods& methods) const {
  std::map<std::string, double> buffers;
  const auto enlarge = [&](const std::string& method, double bytes) {
    buffers[method] = std::max(buffers[method], bytes);
  };
  // A hierarchical method may need the buffers of both: it depends on how many ranks of a row or column are on a host.
  const auto packs = [](const std::string& method) {
    return array_moves(method) == ArrayMoves::packed || is_hierarchical(method);
  };
  const bool shared = array_moves(methods.halos) == ArrayMoves::shared;  // halos then need a buffer to receive only
  enlarge(methods.halos, (shared ? (is_hierarchical(methods.halos) ? 3 : 1) : 2) * halos.messages);
  if (packs(methods.rows)) enlarge(methods.rows, 2 * rows.messages);
  if (packs(methods.columns)) enlarge(methods.columns, 2 * columns.messages);
  double bytes = held + rows.transposed + columns.transposed + (shared ? halos.background : 0);
  for (const auto& [method, size] : buffers) bytes += size;
  return bytes;
}

}  // namespace sluice
