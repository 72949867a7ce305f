#pragma once
#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/device/memory.hpp"
#include "core/support/error.hpp"
#include "tests/support/direct_exchange.hpp"

namespace sluice::test {

/// The methods of this build and, in a CPU build, "direct", which stands for `peer`.
inline std::vector<std::string> tested_methods() {
  std::vector<std::string> names = exchange_methods();
  if (!device::is_gpu()) names.emplace_back("direct");
  return names;
}

inline std::unique_ptr<Exchange> make_tested(const std::string& name) {
  if (name == "direct") return std::make_unique<DirectExchange>(MPI_COMM_WORLD);
  return make_exchange(name, MPI_COMM_WORLD);
}

/// Whether an exchange method works between the ranks of this test: `peer` needs GPUs with access to each other.
/// Collective.
inline bool method_works(const std::string& name) {
  try {
    make_tested(name);
    return true;
  } catch (const Error& error) {
    if (error.code() != ExitCode::resources) throw;
    return false;
  }
}

}  // namespace sluice::test
