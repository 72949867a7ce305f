#pragma once
#include <optional>

#include "core/decomp/exchange/mover.hpp"

namespace sluice {

/// Times its own lifetime under a name, if the route has timers.
class RouteTiming {
 public:
  RouteTiming(const Route& route, const char* name) {
    if (route.timers != nullptr) scope_.emplace(*route.timers, name);
  }

 private:
  std::optional<PhaseTimers::Scope> scope_;
};

}  // namespace sluice
