// Handshakes of a CPU build, where loops are done when they return.
#include "core/decomp/exchange/handshake.hpp"

#include <atomic>
#include <thread>

#include "core/support/collective.hpp"

namespace sluice {

void Handshake::issue(MPI_Comm world) const {
  constexpr int spins = 1000;  // about a microsecond, before others get the core
  for (const Flag& flag : told_) std::atomic_ref<Word>(*flag.address).store(flag.value, std::memory_order_release);
  for (const Flag& flag : awaited_) {
    const std::atomic_ref<Word> word(*flag.address);
    for (int turn = 0; word.load(std::memory_order_acquire) < flag.value; ++turn) {
      if (turn < spins) continue;
      // The other rank may wait for a message that this one has yet to pass on: any call lets MPI do so.
      int found = 0;
      check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
      std::this_thread::yield();
    }
  }
}

}  // namespace sluice
