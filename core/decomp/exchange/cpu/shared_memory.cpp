// Memory that the ranks of a host share in a CPU build: a POSIX shared memory object of each rank.
#include "core/decomp/exchange/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(
      ExitCode::resources,
      fmt::format("the ranks of a host cannot share memory in /dev/shm: {}; choose another parallel.exchange than "
                  "peer or peer_mpi",
                  reason));
}

/// A shared memory object as other ranks find it. The numbers tell whether they find the same one.
struct Object {
  std::array<char, 64> name{};  ///< ends with a zero; empty: there is no object
  dev_t device = 0;
  ino_t number = 0;
};

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {
    if (number < 0) refuse(std::strerror(errno));
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

struct stat status_of(const Descriptor& descriptor) {
  struct stat status {};
  if (fstat(descriptor.number(), &status) != 0) refuse(std::strerror(errno));
  return status;
}

/// Makes an empty object under a name that no other has. An ended run may have left one of the same process number.
void create(Object& object) {
  const auto open_new = [&](int attempt) {
    *fmt::format_to_n(object.name.data(), object.name.size() - 1, "/sluice-{}-{}", getpid(), attempt).out = '\0';
    return shm_open(object.name.data(), O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  };
  int attempt = 0;
  int number = open_new(attempt);
  while (number < 0 && errno == EEXIST) number = open_new(++attempt);
  if (number < 0) object.name.front() = '\0';
  const struct stat status = status_of(Descriptor(number));
  object.device = status.st_dev;
  object.number = status.st_ino;
}

Descriptor open(const Object& object) {
  const int number = shm_open(object.name.data(), O_RDWR, 0);
  if (number < 0 && errno == ENOENT) refuse("they do not have the same /dev/shm");
  Descriptor descriptor(number);
  const struct stat status = status_of(descriptor);
  if (status.st_dev != object.device || status.st_ino != object.number) refuse("they do not have the same /dev/shm");
  return descriptor;
}

/// Gives an object its pages: without them, the first access would end the process where /dev/shm is full.
void fill(const Descriptor& descriptor, std::size_t bytes) {
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(descriptor.number(), 0, static_cast<off_t>(bytes));
  if (error != 0) refuse(fmt::format("{} bytes for each rank: {}", bytes, std::strerror(error)));
}

std::byte* map(const Descriptor& descriptor, std::size_t bytes) {
  void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.number(), 0);
  if (place == MAP_FAILED) refuse(fmt::format("{} bytes for each rank: {}", bytes, std::strerror(errno)));
  return static_cast<std::byte*>(place);
}

/// The objects of all ranks, new and empty. None has a name any more, so that none outlives its ranks.
std::vector<Descriptor> new_objects(MPI_Comm world) {
  Object own;
  std::vector<Descriptor> descriptors;
  try {
    run_collectively(world, [&] { create(own); });
    std::vector<Object> objects(static_cast<std::size_t>(size_of(world)));
    check_mpi(MPI_Allgather(&own, sizeof(Object), MPI_BYTE, objects.data(), sizeof(Object), MPI_BYTE, world),
              "MPI_Allgather");
    run_collectively(world, [&] {
      for (const Object& object : objects) descriptors.push_back(open(object));
    });
  } catch (const Error&) {
    if (own.name.front() != '\0') shm_unlink(own.name.data());
    throw;
  }
  shm_unlink(own.name.data());
  return descriptors;
}

}  // namespace

SharedMemory::SharedMemory(MPI_Comm world, std::size_t bytes)
    : world_(world), bytes_(bytes), mapped_(static_cast<std::size_t>(size_of(world)), nullptr) {
  const std::vector<Descriptor> objects = new_objects(world);  // by now, all ranks have given back what they had before
  const auto rank = static_cast<std::size_t>(rank_of(world));
  try {
    run_collectively(world, [&] { fill(objects[rank], bytes_); });
    run_collectively(world, [&] {
      for (std::size_t n = 0; n < objects.size(); ++n) mapped_[n] = map(objects[n], bytes_);
    });
  } catch (const Error&) {
    give_back();
    throw;
  }
  own_ = mapped_[rank];
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
