#include "core/decomp/exchange/exchanges.hpp"

namespace sluice {

Exchanges::Exchanges(const ExchangeMethods& methods, MPI_Comm world) : methods_(methods) {
  for (const auto& kind : ExchangeMethods::kinds()) {
    const std::string& name = methods.*kind.method;
    if (!by_method_.contains(name)) by_method_.emplace(name, make_exchange(name, world));
  }
}

}  // namespace sluice
