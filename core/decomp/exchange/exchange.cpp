#include "core/decomp/exchange/exchange.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/decomp/exchange/hosts.hpp"
#include "core/decomp/exchange/remote_mover.hpp"
#include "core/decomp/host_access.hpp"
#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

// All methods, in the order in which they are tried: the name, and a function that throws Error(resources) on all ranks
// if the method does not work between them. Its file defines std::unique_ptr<Exchange> make_NAME(MPI_Comm world).
// Then what array_moves() returns, and whether ranks of other hosts are reached in another way.
#define SLUICE_DIRECT_METHODS(METHOD) METHOD(peer, require_peer, shared, false)
#define SLUICE_GPU_METHODS(METHOD)             \
  METHOD(nccl, require_nothing, packed, false) \
  METHOD(peer_nccl, require_peer_within_hosts, shared, true)
#define SLUICE_MPI_METHODS(METHOD)                        \
  METHOD(mpi_p2p, require_nothing, packed, false)         \
  METHOD(mpi_alltoall, require_nothing, packed, false)    \
  METHOD(mpi_streams, require_nothing, packed, false)     \
  METHOD(mpi_pipelined, require_nothing, packed, false)   \
  METHOD(mpi_datatype, require_nothing, in_place, false)  \
  METHOD(mpi_alltoallw, require_nothing, in_place, false) \
  METHOD(peer_mpi, require_peer_within_hosts, shared, true)

namespace sluice {

#define SLUICE_DECLARE(name, ...) std::unique_ptr<Exchange> make_##name(MPI_Comm world);
SLUICE_DIRECT_METHODS(SLUICE_DECLARE)
SLUICE_GPU_METHODS(SLUICE_DECLARE)
SLUICE_MPI_METHODS(SLUICE_DECLARE)
void require_peer(MPI_Comm world);
void require_peer_within_hosts(MPI_Comm world);

namespace {

constexpr std::size_t block_alignment = 256;  ///< bytes

struct Method {
  std::string name;
  bool through_mpi;
  std::unique_ptr<Exchange> (*make)(MPI_Comm world);  ///< null if this build does not have it
  void (*require)(MPI_Comm world);
  ArrayMoves array_moves;
  bool hierarchical;
};

void require_nothing(MPI_Comm /*world*/) {}

const std::vector<Method>& methods() {
#ifdef SLUICE_GPU
#define SLUICE_GPU_METHOD(name, require, moves, tiers) {#name, false, make_##name, require, ArrayMoves::moves, tiers},
#else
#define SLUICE_GPU_METHOD(name, require, moves, tiers) {#name, false, nullptr, nullptr, ArrayMoves::moves, tiers},
#endif
#define SLUICE_DIRECT_METHOD(name, require, moves, tiers) \
  {#name, false, make_##name, require, ArrayMoves::moves, tiers},
#define SLUICE_MPI_METHOD(name, require, moves, tiers) {#name, true, make_##name, require, ArrayMoves::moves, tiers},
  static const std::vector<Method> list{SLUICE_DIRECT_METHODS(SLUICE_DIRECT_METHOD) SLUICE_GPU_METHODS(
      SLUICE_GPU_METHOD) SLUICE_MPI_METHODS(SLUICE_MPI_METHOD)};
  return list;
}

std::vector<std::string> names_of(bool built_only) {
  std::vector<std::string> names;
  for (const Method& method : methods()) {
    if (!built_only || method.make != nullptr) names.push_back(method.name);
  }
  return names;
}

bool works(const Method& method, MPI_Comm world) {
  if (method.make == nullptr) return false;
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

BlockLayout BlockLayout::of(const Parts& parts, int rank, int size) {
  std::vector<std::size_t> bytes(static_cast<std::size_t>(size));
  for (const auto& [peer, part] : parts) {
    if (peer != rank) bytes[static_cast<std::size_t>(peer)] += part.bytes();
  }
  return of(std::move(bytes));
}

std::unique_ptr<RemoteMover> Exchange::remote_mover(const RemoteRoute& /*route*/) {
  return nullptr;
}

void Exchange::claim() {
  SLUICE_REQUIRE(!in_use_, "two moves of one exchange at a time");
  in_use_ = true;
}

std::vector<PieceTuning> ExchangeSet::piece_tuning() const {
  std::vector<PieceTuning> list;
  std::vector<const Exchange*> seen;
  for (const Exchange* exchange : {&rows, &columns, &halos}) {
    if (std::ranges::find(seen, exchange) != seen.end()) continue;
    seen.push_back(exchange);
    std::ranges::copy(exchange->piece_tuning(), std::back_inserter(list));
  }
  return list;
}

const std::vector<std::string>& exchange_methods() {
  static const std::vector<std::string> names = names_of(true);
  return names;
}

const std::vector<std::string>& all_exchange_methods() {
  static const std::vector<std::string> names = names_of(false);
  return names;
}

std::vector<std::string> exchange_candidates(MPI_Comm world) {
  if (size_of(world) == 1) return {"mpi_p2p"};  // nothing is sent
  const bool one_host = size_of(ranks_of_host(world)) == size_of(world);
  std::vector<const Method*> list;
  for (const Method& method : methods()) {
    if (method.hierarchical && one_host) continue;  // the same as `peer`
    // The shared memory of CPUs may be too small for the buffers: only a case that asks for it gets it.
    if (!device::is_gpu() && (method.hierarchical || !method.through_mpi)) continue;
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
  if (found == methods().end() || found->make == nullptr) {
    throw Error(ExitCode::usage, fmt::format("parallel.exchange: this build has no method '{}'; it has {}", name,
                                             fmt::join(exchange_methods(), ", ")));
  }
  found->require(world);
  return found->make(world);
}

ArrayMoves array_moves(const std::string& name) {
  const auto found = std::ranges::find(methods(), name, &Method::name);
  return found == methods().end() ? ArrayMoves::packed : found->array_moves;
}

bool is_hierarchical(const std::string& name) {
  const auto found = std::ranges::find(methods(), name, &Method::name);
  return found != methods().end() && found->hierarchical;
}

}  // namespace sluice
