#pragma once
// The exchange methods. Each is one file, named after it.
#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "core/decomp/exchange/mover.hpp"
#include "core/decomp/exchange/piece_tuning.hpp"

namespace sluice {

class RemoteMover;  // core/decomp/exchange/remote_mover.hpp
struct RemoteRoute;

/// An exchange method and the buffers of all its movers. All methods give bitwise the same result. Destruction is
/// collective over world().
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  /// The ranks that the exchange was made for.
  virtual MPI_Comm world() const = 0;

  // Movers share buffers, which grow to the largest size requested when a mover is made, never in a move. The exchange
  // and the communicators must outlive the movers. Collective over world(); the ranks may pass different communicators.

  /// For any number of parts per peer, and for blocks in the mover's own memory.
  virtual std::unique_ptr<BlockMover> block_mover(const Route& route) = 0;
  /// For parts that move beside the loops and the other movers, with buffers that only such movers share. Null if the
  /// method cannot do that.
  virtual std::unique_ptr<Mover> background_mover(const Route& /*route*/) { return nullptr; }
  /// For one part per peer, which a method may send without packing.
  virtual std::unique_ptr<Mover> array_mover(const Route& route) { return block_mover(route); }
  /// Its destruction is collective too.
  virtual std::unique_ptr<Transposer> transposer(const Splittings& boxes);
  /// Null if the ranks do not reach each other's memory.
  virtual std::unique_ptr<RemoteMover> remote_mover(const RemoteRoute& route);
  /// Whether array movers send without packing.
  virtual bool sends_unpacked() const { return false; }

  /// The piece sizes of the movers that exist, in the order in which they were made. Each communicator chooses its own.
  /// Local.
  virtual std::vector<PieceTuning> piece_tuning() const { return {}; }

  /// Begins a move of this exchange. Throws Error(internal) if another is in flight. For movers.
  void claim();
  void release() { in_use_ = false; }

 private:
  bool in_use_ = false;
};

/// The exchange for each kind of traffic (ExchangeMethods); one Exchange may serve several kinds. All of them must
/// outlive their users.
struct ExchangeSet {
  /// One exchange for all traffic.
  ExchangeSet(Exchange& all) : ExchangeSet(all, all, all) {}
  ExchangeSet(Exchange& for_halos, Exchange& for_rows, Exchange& for_columns)
      : halos(for_halos), rows(for_rows), columns(for_columns) {}

  /// Of its exchanges.
  std::vector<PieceTuning> piece_tuning() const;

  Exchange& halos;
  Exchange& rows;
  Exchange& columns;
};

/// Names of the methods in this build, and of all methods.
const std::vector<std::string>& exchange_methods();
const std::vector<std::string>& all_exchange_methods();

/// The methods from which `auto` chooses for these ranks, the default first: those that work between them. If some do
/// not stage device memory through the host, only those. Hierarchical ones only if the ranks are on several hosts.
/// Collective.
std::vector<std::string> exchange_candidates(MPI_Comm world);

/// The method `name` (`auto`: the default) for the ranks of `world`. Throws Error(usage) with the list of methods if
/// there is no such method, Error(resources) if it does not work between these ranks. Collective.
std::unique_ptr<Exchange> make_exchange(const std::string& name, MPI_Comm world);

/// How a method moves arrays of transposes: packed into message buffers; without packing; or as arrays of equal size
/// that all ranks access. Only the first needs message buffers for them.
enum class ArrayMoves { packed, in_place, shared };
/// Of a method of any build; `packed` for `auto`.
ArrayMoves array_moves(const std::string& name);
/// Whether a method of any build treats ranks of one host and ranks of different hosts differently: array_moves() is
/// what it does within a host, and between hosts it packs.
bool is_hierarchical(const std::string& name);

}  // namespace sluice
