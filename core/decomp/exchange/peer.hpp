#pragma once
// For the files of a GPU build only.
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/handshake.hpp"
#include "core/decomp/exchange/shared_memory.hpp"

namespace sluice {

/// For the GPUs of one host: loops write straight into the memory of other ranks, or read from it (CUDA IPC): blocks
/// into the receiver's buffer, or whole arrays that are shared. Ranks wait for each other on the device, by flags in
/// shared memory; the host waits for nothing.
///
/// Between any two ranks the transfers each way are numbered 1, 2, ... and each has two flags, which only grow:
/// `ready` = n, written by the rank whose memory it is into the other's: transfer n may begin;
/// `done` = n, written by the other rank into the memory of this one: transfer n is over.
class Peer : public Exchange {
 public:
  /// Collective. require() tells whether it will work.
  explicit Peer(MPI_Comm world);
  ~Peer() override;
  MPI_Comm world() const override { return world_.comm; }
  std::unique_ptr<Connection> connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                      Traffic traffic) override;
  std::unique_ptr<SharedArray> share(MPI_Comm comm, std::size_t bytes) override;

  /// Throws Error(resources), the same on every rank, unless all ranks are in one host, each with a GPU of its own that
  /// has access to all others. Collective.
  static void require(MPI_Comm world);

 private:
  using Word = Handshake::Word;
  class Transfer;
  class Link;
  class Array;

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
  Word* done(int at_rank, int other) const;
  /// The largest of all ranks, so that they grow together.
  std::size_t agreed(std::size_t bytes) const;

  OwnedComm world_;
  int rank_, size_;
  SharedMemory flags_, receive_;
  bool in_use_ = false;       ///< a transfer has begun and not ended
  std::vector<Word> made_;    ///< transfers into or out of the memory of each rank so far
  std::vector<Word> served_;  ///< transfers by each rank into or out of this one's
};

}  // namespace sluice
