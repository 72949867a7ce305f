// To be preloaded into the program. Of the calls of the function SLUICE_FAULT_CALL whose file has SLUICE_FAULT_PATH in
// its path, number SLUICE_FAULT_NUMBER, counted from 1, or with 0 each one, does not do what it should:
//
//   SLUICE_FAULT=kill    the process is killed before the call
//   SLUICE_FAULT=short   half of the bytes are written (write and pwrite only)
//   SLUICE_FAULT=5       the call fails with this error number, here EIO
//
// SLUICE_FAULT_CALL is write (any kind), fsync, open (for writing), truncate, allocate, mkdir, unlink, rename or stat,
// or several, such as unlink,rename. Faults are noted in the file SLUICE_FAULT_MARK. With SLUICE_FAULT_RANK, on that
// rank of Open MPI alone.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

const char* setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

enum class Fault { none, shorten, fail };

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Counts the call, and says what is to become of it. Sets errno for a call that is to fail.
Fault fault_of(const char* call, const char* path) {
  static std::atomic<int> calls = 0;
  const std::string fault = setting("SLUICE_FAULT");
  const std::string chosen = std::string(",") + setting("SLUICE_FAULT_CALL") + ",";
  if (fault.empty() || chosen.find(std::string(",") + call + ",") == std::string::npos) return Fault::none;
  if (std::strstr(path, setting("SLUICE_FAULT_PATH")) == nullptr) return Fault::none;
  const std::string rank = setting("SLUICE_FAULT_RANK");
  if (!rank.empty() && rank != setting("OMPI_COMM_WORLD_RANK")) return Fault::none;
  const int number = std::atoi(setting("SLUICE_FAULT_NUMBER"));
  if (++calls != number && number != 0) return Fault::none;
  const int mark = real<int(const char*, int, ...)>("open")(setting("SLUICE_FAULT_MARK"), O_CREAT | O_WRONLY, 0666);
  if (mark >= 0) {
    const std::string text = std::string(call) + " " + path + "\n";
    real<ssize_t(int, const void*, size_t)>("write")(mark, text.data(), text.size());
    ::close(mark);
  }
  if (fault == "kill") std::raise(SIGKILL);
  if (fault == "short") return Fault::shorten;
  errno = std::atoi(fault.c_str());
  return Fault::fail;
}

Fault fault_of(const char* call, int file) {
  char path[PATH_MAX] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  return readlink(link.c_str(), path, sizeof(path) - 1) > 0 ? fault_of(call, path) : Fault::none;
}

template <class Function, class... Offset>
ssize_t write_some(const char* name, int file, const void* data, size_t bytes, Offset... offset) {
  const Fault fault = fault_of("write", file);
  if (fault == Fault::fail) return -1;
  const bool shorten = fault == Fault::shorten && bytes > 1;
  return real<Function>(name)(file, data, shorten ? bytes / 2 : bytes, offset...);
}

int open_file(const char* name, const char* path, int flags, mode_t mode) {
  const bool writing = (flags & (O_WRONLY | O_RDWR)) != 0;
  if (writing && fault_of("open", path) == Fault::fail) return -1;
  return real<int(const char*, int, ...)>(name)(path, flags, mode);
}

mode_t mode_of(int flags, va_list list) {
  return (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* data, size_t bytes) {
  return write_some<ssize_t(int, const void*, size_t)>("write", file, data, bytes);
}

ssize_t pwrite(int file, const void* data, size_t bytes, off_t offset) {
  return write_some<ssize_t(int, const void*, size_t, off_t)>("pwrite", file, data, bytes, offset);
}

ssize_t pwrite64(int file, const void* data, size_t bytes, off64_t offset) {
  return write_some<ssize_t(int, const void*, size_t, off64_t)>("pwrite64", file, data, bytes, offset);
}

int fsync(int file) {
  return fault_of("fsync", file) == Fault::fail ? -1 : real<int(int)>("fsync")(file);
}

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_file("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_file("open64", path, flags, mode);
}

int ftruncate(int file, off_t bytes) {
  return fault_of("truncate", file) == Fault::fail ? -1 : real<int(int, off_t)>("ftruncate")(file, bytes);
}

int ftruncate64(int file, off64_t bytes) {
  return fault_of("truncate", file) == Fault::fail ? -1 : real<int(int, off64_t)>("ftruncate64")(file, bytes);
}

int posix_fallocate(int file, off_t offset, off_t bytes) {
  return fault_of("allocate", file) == Fault::fail
             ? errno
             : real<int(int, off_t, off_t)>("posix_fallocate")(file, offset, bytes);
}

int posix_fallocate64(int file, off64_t offset, off64_t bytes) {
  return fault_of("allocate", file) == Fault::fail
             ? errno
             : real<int(int, off64_t, off64_t)>("posix_fallocate64")(file, offset, bytes);
}

int fallocate(int file, int mode, off_t offset, off_t bytes) {
  return fault_of("allocate", file) == Fault::fail
             ? -1
             : real<int(int, int, off_t, off_t)>("fallocate")(file, mode, offset, bytes);
}

int fallocate64(int file, int mode, off64_t offset, off64_t bytes) {
  return fault_of("allocate", file) == Fault::fail
             ? -1
             : real<int(int, int, off64_t, off64_t)>("fallocate64")(file, mode, offset, bytes);
}

int mkdir(const char* path, mode_t mode) {
  return fault_of("mkdir", path) == Fault::fail ? -1 : real<int(const char*, mode_t)>("mkdir")(path, mode);
}

int unlink(const char* path) {
  return fault_of("unlink", path) == Fault::fail ? -1 : real<int(const char*)>("unlink")(path);
}

int rename(const char* from, const char* to) {
  return fault_of("rename", from) == Fault::fail ? -1 : real<int(const char*, const char*)>("rename")(from, to);
}

int stat(const char* path, struct stat* result) {
  return fault_of("stat", path) == Fault::fail ? -1 : real<int(const char*, struct stat*)>("stat")(path, result);
}

}  // extern "C"
