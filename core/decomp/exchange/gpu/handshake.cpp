#include "core/decomp/exchange/gpu/handshake.hpp"

#include "core/device/check_cuda.hpp"

namespace sluice {

struct Handshake::Run {
  // All flags are set before any wait, so that two ranks in the same handshake do not deadlock. Both sides issue their
  // handshakes in the same order, so a rank that is ahead never waits for a flag that depends on its own later work. If
  // a rank has died, the others wait for its flag until MPI ends them too.
  static __device__ void on_thread(const Handshake& handshake, int n) {
    // Writes of earlier loops, also into other GPUs' memory, become visible before the flag.
    __threadfence_system();
    if (n < handshake.tells_) *const_cast<volatile Word*>(handshake.told_[n].address) = handshake.told_[n].value;
    __syncwarp();
    if (n < handshake.waits_) {
      const volatile Word* flag = handshake.awaited_[n].address;
      const Word value = handshake.awaited_[n].value;
      while (*flag < value) {
      }
    }
    __threadfence_system();
  }
};

namespace {

__global__ void run_handshake(Handshake handshake) {
  Handshake::Run::on_thread(handshake, static_cast<int>(threadIdx.x));
}

}  // namespace

void Handshake::issue() const {
  if (tells_ + waits_ == 0) return;
  run_handshake<<<1, max_peers>>>(*this);
  check_cuda(cudaGetLastError(), "exchange: handshake");
}

}  // namespace sluice
