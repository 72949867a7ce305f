#pragma once
#include <mpi.h>

#include <string>

#include "core/decomp/exchange/exchange.hpp"
#include "core/support/error.hpp"

namespace sluice::test {

/// Whether an exchange method works between the ranks of this test: `peer` needs GPUs with access to each other.
/// Collective.
inline bool method_works(const std::string& name) {
  try {
    make_exchange(name, MPI_COMM_WORLD);
    return true;
  } catch (const Error& error) {
    if (error.code() != ExitCode::resources) throw;
    return false;
  }
}

}  // namespace sluice::test
