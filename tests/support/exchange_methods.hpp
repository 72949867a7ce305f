#pragma once
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/mpi_buffers.hpp"
#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "tests/support/direct_exchange.hpp"

namespace sluice::test {

/// How ranks are put on emulated hosts. Stands behind the name of a method.
struct HostGroups {
  const char* name;
  int (*host)(int rank, int ranks);
};
inline constexpr std::array<HostGroups, 3> host_groups{
    {{"_on_halves", [](int rank, int ranks) { return 2 * rank / ranks; }},  // 2 hosts x 3 of 6 ranks
     {"_on_alternate_hosts", [](int rank, int) { return rank % 2; }},
     {"_on_uneven_hosts", [](int rank, int) { return rank == 0  ? 0
                                                     : rank < 3 ? 1
                                                                : 2; }}}};

/// SLUICE_EMULATED_HOSTS for an object's lifetime.
class EmulatedHosts {
 public:
  explicit EmulatedHosts(const std::string& names) { setenv(variable, names.c_str(), 1); }
  explicit EmulatedHosts(const HostGroups& groups) : EmulatedHosts(names_of(groups)) {}
  EmulatedHosts(const EmulatedHosts&) = delete;
  EmulatedHosts& operator=(const EmulatedHosts&) = delete;
  ~EmulatedHosts() { unsetenv(variable); }

 private:
  static constexpr const char* variable = "SLUICE_EMULATED_HOSTS";

  static std::string names_of(const HostGroups& groups) {
    const int ranks = size_of(MPI_COMM_WORLD);
    std::string names;
    for (int rank = 0; rank < ranks; ++rank)
      names += (rank > 0 ? ",host" : "host") + std::to_string(groups.host(rank, ranks));
    return names;
  }
};

/// The groups behind the name of a method, or null.
inline const HostGroups* groups_of(const std::string& name) {
  for (const HostGroups& groups : host_groups) {
    if (name.ends_with(groups.name)) return &groups;
  }
  return nullptr;
}

/// Whether a rank of MPI_COMM_WORLD is on the same host as this one for a method.
inline bool is_on_this_host(const std::string& name, int rank) {
  const HostGroups* const groups = groups_of(name);
  const int ranks = size_of(MPI_COMM_WORLD);
  return groups == nullptr || groups->host(rank, ranks) == groups->host(rank_of(MPI_COMM_WORLD), ranks);
}

/// The hierarchical methods of this build on emulated hosts.
inline std::vector<std::string> methods_on_hosts() {
  std::vector<std::string> names;
  for (const std::string& name : exchange_methods()) {
    for (const HostGroups& groups : host_groups) {
      if (is_hierarchical(name)) names.push_back(name + groups.name);
    }
  }
  return names;
}

/// The methods of this build; hierarchical ones also on emulated hosts; and, in a CPU build, "direct", which moves and
/// spoils memory as late and as early as a method may.
inline std::vector<std::string> tested_methods() {
  std::vector<std::string> names = exchange_methods();
  for (const std::string& name : methods_on_hosts()) names.push_back(name);
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
  if (const HostGroups* const groups = groups_of(name)) {
    const EmulatedHosts hosts(*groups);
    return make_exchange(name.substr(0, name.find(groups->name)), MPI_COMM_WORLD);
  }
  if (!name.ends_with(small_counts)) return make_exchange(name, MPI_COMM_WORLD);
  const SmallMpiCounts limit(small_count);
  return make_exchange(name.substr(0, name.find(small_counts)), MPI_COMM_WORLD);
}

/// Whether an exchange method works between the ranks of this test: on GPUs `peer` needs access to each other.
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
