#include "core/decomp/exchange/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

constexpr const char* variable = "SLUICE_EMULATED_HOSTS";

/// The names between commas.
std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names(1);
  for (const char letter : text) {
    if (letter == ',') {
      names.emplace_back();
    } else {
      names.back() += letter;
    }
  }
  return names;
}

/// A number for this rank's emulated host, 0 for all ranks without any. Collective.
int emulated_host(MPI_Comm world) {
  const char* const value = std::getenv(variable);
  const std::string text = value != nullptr ? value : "";
  std::string first = text;
  broadcast(first, world);
  int host = 0;
  run_collectively(world, [&] {
    if (text != first) {
      throw Error(ExitCode::usage, fmt::format("{} is '{}' on one rank and '{}' on another; give all ranks the same",
                                               variable, first, text));
    }
    if (text.empty()) return;
    const std::vector<std::string> names = names_in(text);
    const int ranks = size_of(MPI_COMM_WORLD);
    if (names.size() != static_cast<std::size_t>(ranks) || std::ranges::find(names, "") != names.end()) {
      throw Error(ExitCode::usage, fmt::format("{} is '{}', but there are {} ranks: name a host for each, separated by "
                                               "commas, such as a,a,b,b",
                                               variable, text, ranks));
    }
    const std::string& own = names[static_cast<std::size_t>(rank_of(MPI_COMM_WORLD))];
    host = static_cast<int>(std::ranges::find(names, own) - names.begin());
  });
  return host;
}

}  // namespace

OwnedComm ranks_of_host(MPI_Comm world) {
  const int emulated = emulated_host(world);
  const OwnedComm host = OwnedComm::of_host(world);
  return OwnedComm::split(host, emulated, rank_of(host));
}

}  // namespace sluice
