#include "core/decomp/exchange/handshake.hpp"

#include "core/device/lanes.hpp"
#include "core/device/launch_cuda.hpp"

namespace sluice {

namespace {

constexpr int max_flags = Handshake::max_peers_on_gpus;

/// By one warp.
struct RunHandshake {
  static constexpr cuda::Bounds bounds{max_flags};

  Handshake::Flag told[max_flags];
  Handshake::Flag awaited[max_flags];
  int tells, waits;

  __device__ void operator()(const uint3& /*block*/) const {
    const auto n = static_cast<int>(threadIdx.x);
    // Writes of earlier loops, also into other GPUs' memory, become visible before the flag.
    __threadfence_system();
    if (n < tells) *const_cast<volatile Handshake::Word*>(told[n].address) = told[n].value;
    device::synchronize_lanes();
    if (n < waits) {
      const volatile Handshake::Word* flag = awaited[n].address;
      const Handshake::Word value = awaited[n].value;
      while (*flag < value) {
      }
    }
    __threadfence_system();
  }
};

}  // namespace

void Handshake::issue(MPI_Comm /*world*/) const {
  if (told_.empty() && awaited_.empty()) return;
  RunHandshake flags{};
  for (const Flag& flag : told_) flags.told[flags.tells++] = flag;
  for (const Flag& flag : awaited_) flags.awaited[flags.waits++] = flag;
  cuda::launch("exchange: handshake", {dim3(1), dim3(max_flags)}, flags);
}

}  // namespace sluice
