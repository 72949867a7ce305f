#pragma once
#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/mpi_buffers.hpp"
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

/// Stands behind the name of a method whose counts for MPI are at most `small_count`, as if an int could hold no more.
inline constexpr const char* small_counts = "_small_counts";
inline constexpr std::size_t small_count = 7;

/// The methods of MPI with small counts.
inline std::vector<std::string> small_count_methods() {
  std::vector<std::string> names;
  for (const std::string& name : exchange_methods()) {
    if (name.starts_with("mpi_")) names.push_back(name + small_counts);
  }
  return names;
}

/// Any of these methods.
inline std::unique_ptr<Exchange> make_tested(const std::string& name) {
  if (name == "direct") return std::make_unique<DirectExchange>(MPI_COMM_WORLD);
  if (!name.ends_with(small_counts)) return make_exchange(name, MPI_COMM_WORLD);
  const SmallMpiCounts limit(small_count);
  return make_exchange(name.substr(0, name.find(small_counts)), MPI_COMM_WORLD);
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
