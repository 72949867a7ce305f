#pragma once
// Not for files with kernels: nvcc 13.0 fails on maps of std::string from libstdc++ 13.
#include <map>
#include <memory>
#include <string>

#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/exchange_methods.hpp"

namespace sluice {

/// Owns the exchanges of a run: one for each different method, so that kinds of traffic with the same method share its
/// buffers. Construction and destruction are collective over `world`.
class Exchanges {
 public:
  /// Throws as make_exchange().
  Exchanges(const ExchangeMethods& methods, MPI_Comm world) : methods_(methods) {
    for (const auto& kind : ExchangeMethods::kinds()) {
      const std::string& name = methods.*kind.method;
      if (!by_method_.contains(name)) by_method_.emplace(name, make_exchange(name, world));
    }
  }
  ExchangeSet set() const { return {at(methods_.halos), at(methods_.rows), at(methods_.columns)}; }
  const ExchangeMethods& methods() const { return methods_; }

 private:
  Exchange& at(const std::string& method) const { return *by_method_.at(method); }

  ExchangeMethods methods_;
  std::map<std::string, std::unique_ptr<Exchange>> by_method_;
};

}  // namespace sluice
