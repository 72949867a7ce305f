#include "core/decomp/exchange/handshake.hpp"

#include "core/device/check_cuda.hpp"

namespace sluice {

namespace {

constexpr int max_flags = Handshake::max_peers_on_gpus;

struct Flags {
  Handshake::Flag told[max_flags];
  Handshake::Flag awaited[max_flags];
  int tells, waits;
};

/// By one warp.
__global__ void run_handshake(Flags flags) {
  const auto n = static_cast<int>(threadIdx.x);
  // Writes of earlier loops, also into other GPUs' memory, become visible before the flag.
  __threadfence_system();
  if (n < flags.tells) *const_cast<volatile Handshake::Word*>(flags.told[n].address) = flags.told[n].value;
  __syncwarp();
  if (n < flags.waits) {
    const volatile Handshake::Word* flag = flags.awaited[n].address;
    const Handshake::Word value = flags.awaited[n].value;
    while (*flag < value) {
    }
  }
  __threadfence_system();
}

}  // namespace

void Handshake::issue(MPI_Comm /*world*/) const {
  if (told_.empty() && awaited_.empty()) return;
  Flags flags{};
  for (const Flag& flag : told_) flags.told[flags.tells++] = flag;
  for (const Flag& flag : awaited_) flags.awaited[flags.waits++] = flag;
  run_handshake<<<1, max_flags>>>(flags);
  check_cuda(cudaGetLastError(), "exchange: handshake");
}

}  // namespace sluice
