#pragma once
// For the files of a GPU build only.
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/handshake.hpp"
#include "core/decomp/exchange/shared_memory.hpp"

namespace sluice {

/// For the GPUs of one host: the loops that pack write straight into the receiver's memory (CUDA IPC). Ranks wait for
/// each other on the device, by flags in shared memory; the host waits for nothing.
///
/// Between any two ranks the transfers each way are numbered 1, 2, ... and each has two flags, which only grow:
/// `ready` = n, written by the receiver into the sender's memory: the receiver's buffer may take transfer n;
/// `arrived` = n, written by the sender into the receiver's memory: transfer n lies there.
class Peer : public Exchange {
 public:
  /// Collective. require() tells whether it will work.
  explicit Peer(MPI_Comm world);
  ~Peer() override;
  std::unique_ptr<Connection> connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                      Traffic traffic) override;

  /// Throws Error(resources), the same on every rank, unless all ranks are in one host, each with a GPU of its own that
  /// has access to all others. Collective.
  static void require(MPI_Comm world);

 private:
  using Word = Handshake::Word;
  class Link;

  /// A copy of a communicator, freed after the memory that is shared in it.
  struct OwnedComm {
    explicit OwnedComm(MPI_Comm world);
    OwnedComm(const OwnedComm&) = delete;
    OwnedComm& operator=(const OwnedComm&) = delete;
    ~OwnedComm();
    MPI_Comm comm = MPI_COMM_NULL;
  };

  /// The flags in the memory of one rank about transfers to or from another.
  Word* ready(int at_rank, int other) const;
  Word* arrived(int at_rank, int other) const;
  Word& sent_to(int rank) { return sent_[static_cast<std::size_t>(rank)]; }
  Word& received_from(int rank) { return received_[static_cast<std::size_t>(rank)]; }

  OwnedComm world_;
  int rank_, size_;
  SharedMemory flags_, receive_;
  std::vector<Word> sent_, received_;  ///< transfers to and from each rank so far
};

}  // namespace sluice
