#include "core/decomp/exchange/shared_memory.hpp"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <string>
#include <utility>

#include "core/decomp/exchange/handshake.hpp"
#include "core/device/check_cuda.hpp"
#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

/// CUDA shares whole pages of this size, so smaller arrays would share theirs with others.
constexpr std::size_t page = std::size_t{2} << 20;

std::byte* open(const cudaIpcMemHandle_t& handle) {
  void* pointer = nullptr;
  const cudaError_t status = cudaIpcOpenMemHandle(&pointer, handle, cudaIpcMemLazyEnablePeerAccess);
  if (status != cudaSuccess) {
    cuda::clear_error();
    throw Error(ExitCode::resources, std::string("a GPU cannot map the memory of another (CUDA IPC: ") +
                                         cudaGetErrorString(status) +
                                         "); in containers the ranks must share one, with the host's IPC allowed");
  }
  return static_cast<std::byte*>(pointer);
}

constexpr int name_length = 32;
using BusName = std::array<char, name_length>;

/// Throws unless the GPUs of all ranks are different, and this rank sees and can access them all.
void require_access(const std::vector<BusName>& names, int rank) {
  const BusName& mine = names[static_cast<std::size_t>(rank)];
  const int device = cuda::current_device();
  for (std::size_t peer = 0; peer < names.size(); ++peer) {
    if (static_cast<int>(peer) == rank) continue;
    if (names[peer] == mine) throw Error(ExitCode::resources, "two ranks have the same GPU");
    int other = 0;
    int access = 0;
    if (cudaDeviceGetByPCIBusId(&other, names[peer].data()) != cudaSuccess) {
      cuda::clear_error();
      throw Error(ExitCode::resources, fmt::format("rank {} does not see the GPU of rank {}", rank, peer));
    }
    check_cuda(cudaDeviceCanAccessPeer(&access, device, other), "cudaDeviceCanAccessPeer");
    if (access == 0)
      throw Error(ExitCode::resources, fmt::format("the GPU of rank {} has no access to that of rank {}", rank, peer));
  }
}

}  // namespace

SharedMemory::SharedMemory(MPI_Comm world, std::size_t bytes)
    : world_(world), bytes_((bytes + page - 1) / page * page), mapped_(static_cast<std::size_t>(size_of(world))) {
  const auto rank = static_cast<std::size_t>(rank_of(world));
  try {
    cudaIpcMemHandle_t handle{};
    run_collectively(world, [&] {
      own_ = static_cast<std::byte*>(device::allocate(bytes_));
      if (mapped_.size() > 1) check_cuda(cudaIpcGetMemHandle(&handle, own_), "cudaIpcGetMemHandle");
    });
    mapped_[rank] = own_;
    std::vector<cudaIpcMemHandle_t> handles(mapped_.size());
    check_mpi(MPI_Allgather(&handle, sizeof(handle), MPI_BYTE, handles.data(), sizeof(handle), MPI_BYTE, world),
              "MPI_Allgather");
    run_collectively(world, [&] {
      for (std::size_t peer = 0; peer < mapped_.size(); ++peer) {
        if (peer != rank) mapped_[peer] = open(handles[peer]);
      }
    });
  } catch (const Error&) {  // on all ranks
    give_back();
    throw;
  }
}

void SharedMemory::give_back() {
  for (std::byte* pointer : mapped_) {
    if (pointer != own_ && pointer != nullptr) cudaIpcCloseMemHandle(pointer);
  }
  cuda::clear_error();
  // Afterwards no rank maps it.
  MPI_Barrier(world_);  // unchecked: destructor
  if (own_ != nullptr) device::release(own_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : world_(other.world_),
      bytes_(std::exchange(other.bytes_, 0)),
      own_(std::exchange(other.own_, nullptr)),
      mapped_(std::move(other.mapped_)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(world_, other.world_);
  std::swap(bytes_, other.bytes_);
  std::swap(own_, other.own_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (own_ == nullptr) return;
  // If an error ends this rank alone, the others never reach the barrier and may still map the memory: it is freed when
  // the process ends.
  if (std::uncaught_exceptions() > 0) return;
  cudaDeviceSynchronize();  // wait for this rank's loops, which write into the others' memory
  give_back();
}

void require_shared_memory(MPI_Comm host) {
  std::vector<BusName> names(static_cast<std::size_t>(size_of(host)));
  BusName mine{};
  run_collectively(host, [&] {
    if (size_of(host) > Handshake::max_peers_on_gpus)
      throw Error(ExitCode::resources, fmt::format("a host has more than {} ranks", Handshake::max_peers_on_gpus));
    const int device = cuda::current_device();
    check_cuda(cudaDeviceGetPCIBusId(mine.data(), name_length, device), "cudaDeviceGetPCIBusId");
  });
  check_mpi(MPI_Allgather(mine.data(), name_length, MPI_CHAR, names.data(), name_length, MPI_CHAR, host),
            "MPI_Allgather");
  run_collectively(host, [&] { require_access(names, rank_of(host)); });
  const SharedMemory trial(host, 1);  // some containers forbid it
}

}  // namespace sluice
