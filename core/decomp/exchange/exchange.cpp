#include "core/decomp/exchange/exchange.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/decomp/exchange/mpi_alltoall.hpp"
#include "core/decomp/exchange/mpi_p2p.hpp"
#include "core/support/error.hpp"

namespace sluice {

const std::vector<std::string>& exchange_methods() {
  static const std::vector<std::string> names{"mpi_p2p", "mpi_alltoall"};
  return names;
}

std::unique_ptr<Exchange> make_exchange(const std::string& name) {
  if (name == "mpi_p2p" || name == "auto") return std::make_unique<MpiP2p>();
  if (name == "mpi_alltoall") return std::make_unique<MpiAlltoall>();
  throw Error(ExitCode::usage, fmt::format("parallel.exchange: this build has no method '{}'; it has {}", name,
                                           fmt::join(exchange_methods(), ", ")));
}

}  // namespace sluice
