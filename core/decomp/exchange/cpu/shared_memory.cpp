// Memory that the ranks of a host share in a CPU build: a POSIX shared memory object of each rank.
#include "core/decomp/exchange/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

using Name = std::array<char, 64>;  ///< of a shared memory object, with a zero at the end

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(number_); }
  int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void refuse(std::size_t bytes, int error) {
  throw Error(ExitCode::resources, fmt::format("the ranks of a host cannot share {} bytes each (in /dev/shm): {}",
                                               bytes, std::strerror(error)));
}

std::byte* map(const Descriptor& object, std::size_t bytes) {
  void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, object.number(), 0);
  if (place == MAP_FAILED) refuse(bytes, errno);
  return static_cast<std::byte*>(place);
}

/// Opens a new object under a name that no other has. An ended run may have left objects of the same process number.
int open_new(Name& name) {
  for (int attempt = 0;; ++attempt) {
    *fmt::format_to_n(name.data(), name.size() - 1, "/sluice-{}-{}", getpid(), attempt).out = '\0';
    const int number = shm_open(name.data(), O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (number >= 0 || errno != EEXIST) return number;
  }
}

/// Memory of a new object, which gets its pages at once: without them, the first access would end the process where
/// /dev/shm is full.
std::byte* map_new(Name& name, std::size_t bytes) {
  const int number = open_new(name);
  if (number < 0) {
    const int error = errno;
    name.front() = '\0';
    refuse(bytes, error);
  }
  const Descriptor object(number);
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(object.number(), 0, static_cast<off_t>(bytes));
  if (error != 0) refuse(bytes, error);
  return map(object, bytes);
}

std::byte* map_existing(const Name& name, std::size_t bytes) {
  const int number = shm_open(name.data(), O_RDWR, 0);
  if (number < 0) refuse(bytes, errno);
  return map(Descriptor(number), bytes);
}

}  // namespace

SharedMemory::SharedMemory(MPI_Comm world, std::size_t bytes)
    : world_(world), bytes_(bytes), mapped_(static_cast<std::size_t>(size_of(world)), nullptr) {
  const auto rank = static_cast<std::size_t>(rank_of(world));
  Name name{};
  try {
    run_collectively(world, [&] { mapped_[rank] = own_ = map_new(name, bytes_); });
    std::vector<Name> names(mapped_.size());
    check_mpi(MPI_Allgather(name.data(), sizeof(Name), MPI_BYTE, names.data(), sizeof(Name), MPI_BYTE, world),
              "MPI_Allgather");
    run_collectively(world, [&] {
      for (std::size_t peer = 0; peer < mapped_.size(); ++peer) {
        if (peer != rank) mapped_[peer] = map_existing(names[peer], bytes_);
      }
    });
  } catch (const Error&) {  // on all ranks
    if (name.front() != '\0') shm_unlink(name.data());
    give_back();
    throw;
  }
  shm_unlink(name.data());  // all ranks have it: it lasts as long as they
}

void SharedMemory::give_back() {
  for (std::byte* place : mapped_) {
    if (place != nullptr) munmap(place, bytes_);
  }
  mapped_.clear();
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : world_(other.world_),
      bytes_(std::exchange(other.bytes_, 0)),
      own_(std::exchange(other.own_, nullptr)),
      mapped_(std::exchange(other.mapped_, {})) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(world_, other.world_);
  std::swap(bytes_, other.bytes_);
  std::swap(own_, other.own_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

SharedMemory::~SharedMemory() {
  give_back();
}

void require_shared_memory(MPI_Comm host) {
  const SharedMemory trial(host, 1);
}

}  // namespace sluice
