// Memory that the ranks of a host share in a CPU build.
#include "core/decomp/exchange/shared_memory.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

constexpr std::size_t line = 64;  ///< bytes: MPI aligns a window to 8 only

/// The first place of a window at a multiple of `line`: the same on all ranks, because they map whole pages.
std::byte* aligned(void* base) {
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(base) % line;
  return static_cast<std::byte*>(base) + (line - beyond) % line;
}

}  // namespace

SharedMemory::SharedMemory(MPI_Comm world, std::size_t bytes)
    : world_(world), bytes_((bytes + line - 1) / line * line), mapped_(static_cast<std::size_t>(size_of(world))) {
  void* own = nullptr;
  const int made =
      MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes_ + line), 1, MPI_INFO_NULL, world, &own, &window_);
  run_collectively(world, [&] {
    try {
      check_mpi(made, "MPI_Win_allocate_shared");
    } catch (const Error& error) {
      throw Error(ExitCode::resources,
                  fmt::format("the ranks of a host cannot share {} bytes each: {}", bytes_ + line, error.what()));
    }
  });
  for (std::size_t rank = 0; rank < mapped_.size(); ++rank) {
    MPI_Aint size = 0;
    int unit = 0;
    void* base = nullptr;
    check_mpi(MPI_Win_shared_query(window_, static_cast<int>(rank), &size, &unit, &base), "MPI_Win_shared_query");
    mapped_[rank] = aligned(base);
  }
  std::memset(of(rank_of(world)), 0, bytes_);
  check_mpi(MPI_Barrier(world), "MPI_Barrier");  // before another rank writes
}

void SharedMemory::give_back() {
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);  // unchecked: destructor
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : world_(other.world_),
      bytes_(std::exchange(other.bytes_, 0)),
      mapped_(std::move(other.mapped_)),
      window_(std::exchange(other.window_, MPI_WIN_NULL)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(world_, other.world_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  std::swap(window_, other.window_);
  return *this;
}

SharedMemory::~SharedMemory() {
  // If an error ends this rank alone, the others never free the window and may still use it.
  if (std::uncaught_exceptions() == 0) give_back();
}

void require_shared_memory(MPI_Comm host) {
  const SharedMemory trial(host, 1);
}

}  // namespace sluice
