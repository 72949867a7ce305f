// The choice of a GPU in a GPU build.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include "core/device/check_cuda.hpp"
#include "core/device/select.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/owned_comm.hpp"

namespace sluice::device {

namespace {

constexpr int name_length = 32;
using BusName = std::array<char, name_length>;

/// The bus addresses of the GPUs that this rank sees. Throws Error(resources) if there are none.
std::vector<BusName> visible_gpus() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
#ifdef __HIP_PLATFORM_AMD__
    constexpr const char* what_to_check = "rocm-smi and HIP_VISIBLE_DEVICES";
#else
    constexpr const char* what_to_check = "nvidia-smi and CUDA_VISIBLE_DEVICES";
#endif
    throw Error(ExitCode::resources,
                fmt::format("this is a GPU build of Sluice, but no GPU was found; check {}, or use a CPU build",
                            what_to_check));
  }
  std::vector<BusName> names(static_cast<std::size_t>(count));
  for (int n = 0; n < count; ++n)
    check_cuda(cudaDeviceGetPCIBusId(names[static_cast<std::size_t>(n)].data(), name_length, n),
               "cudaDeviceGetPCIBusId");
  return names;
}

/// Of `count` GPUs. A GPU that is divided has several with the same address.
std::vector<std::string> unique_names(const BusName* names, int count) {
  std::vector<std::string> unique;
  for (int n = 0; n < count; ++n) {
    const int before = static_cast<int>(std::count(names, names + n, names[n]));
    unique.push_back(fmt::format("{}, part {}", names[n].data(), before));
  }
  return unique;
}

}  // namespace

void select(MPI_Comm world) {
  const OwnedComm host = OwnedComm::of_host(world);
  std::vector<BusName> mine;
  run_collectively(world, [&] { mine = visible_gpus(); });

  const int ranks = size_of(host);
  const int bytes = static_cast<int>(mine.size() * sizeof(BusName));
  std::vector<int> sizes(static_cast<std::size_t>(ranks));
  check_mpi(MPI_Allgather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, host), "MPI_Allgather");
  std::vector<int> starts(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), starts.begin(), 0);
  std::vector<BusName> all(static_cast<std::size_t>(starts.back() + sizes.back()) / sizeof(BusName));
  check_mpi(MPI_Allgatherv(mine.data(), bytes, MPI_CHAR, all.data(), sizes.data(), starts.data(), MPI_CHAR, host),
            "MPI_Allgatherv");

  run_collectively(world, [&] {
    std::vector<std::vector<std::string>> visible;
    const BusName* names = all.data();
    for (const int size : sizes) {
      const int count = size / static_cast<int>(sizeof(BusName));
      visible.push_back(unique_names(names, count));
      names += count;
    }
    check_cuda(cudaSetDevice(gpus_of_ranks(visible)[static_cast<std::size_t>(rank_of(host))]), "cudaSetDevice");
  });
}

}  // namespace sluice::device
