#include "core/decomp/exchange/exchange.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/decomp/exchange/mpi_alltoall.hpp"
#include "core/decomp/exchange/mpi_datatype.hpp"
#include "core/decomp/exchange/mpi_p2p.hpp"
#include "core/decomp/exchange/mpi_pipelined.hpp"
#include "core/decomp/exchange/mpi_streams.hpp"
#include "core/decomp/host_access.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#ifdef SLUICE_CUDA
#include "core/decomp/exchange/nccl.hpp"
#include "core/decomp/exchange/peer.hpp"
#endif

namespace sluice {

namespace {

constexpr std::size_t block_alignment = 256;  ///< bytes

/// A method that this build has.
struct Method {
  std::string name;
  bool through_mpi;
  std::unique_ptr<Exchange> (*make)(MPI_Comm world);
  void (*require)(MPI_Comm world);  ///< throws the same Error on all ranks if it does not work between them
};

template <class Type>
std::unique_ptr<Exchange> make(MPI_Comm world) {
  return std::make_unique<Type>(world);
}

const std::vector<Method>& methods() {
  static const auto anywhere = [](MPI_Comm) {};
  static const std::vector<Method> list{
#ifdef SLUICE_CUDA
      {"peer", false, make<Peer>, Peer::require},          {"nccl", false, make<Nccl>, anywhere},
#endif
      {"mpi_p2p", true, make<MpiP2p>, anywhere},           {"mpi_alltoall", true, make<MpiAlltoall>, anywhere},
      {"mpi_streams", true, make<MpiStreams>, anywhere},   {"mpi_pipelined", true, make<MpiPipelined>, anywhere},
      {"mpi_datatype", true, make<MpiDatatype>, anywhere}, {"mpi_alltoallw", true, make<MpiAlltoallw>, anywhere},
  };
  return list;
}

bool works(const Method& method, MPI_Comm world) {
  try {
    method.require(world);
    return true;
  } catch (const Error& error) {
    if (error.code() != ExitCode::resources) throw;
    return false;
  }
}

}  // namespace

BlockLayout BlockLayout::of(std::vector<std::size_t> bytes) {
  BlockLayout layout;
  layout.bytes = std::move(bytes);
  for (const std::size_t size : layout.bytes) {
    layout.offset.push_back(layout.total);
    layout.total += (size + block_alignment - 1) / block_alignment * block_alignment;
  }
  return layout;
}

const std::vector<std::string>& exchange_methods() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Method& method : methods()) list.push_back(method.name);
    return list;
  }();
  return names;
}

std::vector<std::string> exchange_candidates(MPI_Comm world) {
  if (size_of(world) == 1) return {"mpi_p2p"};  // nothing travels
  std::vector<const Method*> list;
  for (const Method& method : methods()) {
    if (works(method, world)) list.push_back(&method);
  }
  const auto direct = [](const Method* method) { return !method->through_mpi; };
  if (!mpi_takes_device_pointers() && std::ranges::any_of(list, direct))
    std::erase_if(list, [&](const Method* method) { return !direct(method); });
  std::vector<std::string> names;
  for (const Method* method : list) names.push_back(method->name);
  return names;
}

std::unique_ptr<Exchange> make_exchange(const std::string& name, MPI_Comm world) {
  const std::string wanted = name == "auto" ? exchange_candidates(world).front() : name;
  const auto found = std::ranges::find(methods(), wanted, &Method::name);
  if (found == methods().end()) {
    throw Error(ExitCode::usage, fmt::format("parallel.exchange: this build has no method '{}'; it has {}", name,
                                             fmt::join(exchange_methods(), ", ")));
  }
  found->require(world);
  return found->make(world);
}

}  // namespace sluice
