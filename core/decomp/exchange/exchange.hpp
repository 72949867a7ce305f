#pragma once
// The exchange methods. Each is one file, named after it.
#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "core/decomp/exchange/mover.hpp"

namespace sluice {

/// An exchange method and the buffers of all its movers. Every method gives the same result to the bit.
/// Destruction is collective over the ranks that the exchange was made for.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  /// The ranks that the exchange was made for.
  virtual MPI_Comm world() const = 0;

  // Movers share buffers, which grow to the largest that is asked for, here and never in a move. The exchange and the
  // communicators must outlive them. Collective over world(), each rank with a communicator of its own or the same one.

  /// For parts of any number for each peer, and for blocks in the mover's own memory.
  virtual std::unique_ptr<BlockMover> block_mover(const Route& route) = 0;
  /// For one part for each peer: a method may send it as it lies.
  virtual std::unique_ptr<Mover> array_mover(const Route& route) { return block_mover(route); }
  /// Its destruction is collective too.
  virtual std::unique_ptr<Transposer> transposer(const Splittings& boxes);
  /// Whether array movers do without packing.
  virtual bool sends_arrays_as_they_lie() const { return false; }

  /// A move of this exchange begins; throws Error(internal) if another is on its way. For movers.
  void claim();
  void release() { in_use_ = false; }

 private:
  bool in_use_ = false;
};

/// The exchange for each kind of traffic; one Exchange may serve several kinds. All of them must outlive their users.
struct ExchangeSet {
  /// One for all.
  ExchangeSet(Exchange& all) : ExchangeSet(all, all, all) {}
  ExchangeSet(Exchange& for_halos, Exchange& for_rows, Exchange& for_columns)
      : halos(for_halos), rows(for_rows), columns(for_columns) {}

  Exchange& halos;
  Exchange& rows;     ///< transposes within rows of ranks, between x and y pencils
  Exchange& columns;  ///< transposes within columns of ranks, which make z whole
};

/// Names of the methods that this build has, and of all that there are.
const std::vector<std::string>& exchange_methods();
const std::vector<std::string>& all_exchange_methods();

/// The methods among which `auto` chooses for these ranks, the default first: those that work between them and that
/// do not pass device memory through the host, if there is one. Collective.
std::vector<std::string> exchange_candidates(MPI_Comm world);

/// The method called `name`, or with `auto` the default, for the ranks of `world`. Throws Error(usage) listing the
/// methods that exist, Error(resources) if the method does not work between these ranks. Collective.
std::unique_ptr<Exchange> make_exchange(const std::string& name, MPI_Comm world);

}  // namespace sluice
