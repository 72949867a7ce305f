#include "core/decomp/exchange/gpu/handshake.hpp"

#include "core/device/check_cuda.hpp"

namespace sluice {

struct Handshake::Run {
  // All flags are set before any is waited for, so that two ranks in the same handshake do not wait for each other in
  // vain. A rank's handshakes come in one order, the same for both sides, so that a rank ahead of the others waits for
  // flags that depend on nothing it does later. A flag that is never set, because its rank has died, is waited for
  // without end: MPI then ends this process too.
  static __device__ void on_thread(const Handshake& handshake, int n) {
    // What earlier loops wrote, into other GPUs' memory too, is seen by all before the flag is.
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
