#include "src/run/output_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/support/error.hpp"
#include "core/support/host_name.hpp"
#include "io/files/posix_file.hpp"
#include "src/run/provenance.hpp"

namespace sluice {

namespace {

/// Tries to lock the whole file; returns 0 or an errno value. The lock belongs to the open file description. A plain
/// F_SETLK lock would be dropped as soon as anything in this process closed any descriptor of the file.
int try_lock(int descriptor) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  int result = 0;
  do {
    result = ::fcntl(descriptor, F_OFD_SETLK, &whole);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

bool is_held(int error) {
  return error == EAGAIN || error == EACCES;
}

bool is_unsupported(int error) {
  return error == ENOLCK || error == ENOTSUP || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

/// Tries for two seconds: the ranks of a job that was killed may take a moment to end. Returns 0 or an errno value.
int lock_patiently(int descriptor) {
  constexpr int attempts = 20;
  constexpr useconds_t pause = 100000;  // microseconds
  int error = try_lock(descriptor);
  for (int n = 1; n < attempts && is_held(error); ++n) {
    usleep(pause);
    error = try_lock(descriptor);
  }
  return error;
}

constexpr const char* nobody = "an unknown process";
constexpr const char* holder_begins = "process ";

/// What the holder wrote into the file.
std::string read_holder(int descriptor) {
  char text[512] = {};
  const ssize_t length = ::pread(descriptor, text, sizeof(text) - 1, 0);
  std::string holder(text, std::max<ssize_t>(length, 0));
  while (holder.ends_with('\n')) holder.pop_back();
  return holder.empty() ? nobody : holder;
}

void write_holder(int descriptor, const std::string& file) {
  const std::string text = fmt::format("{}{} on host {} since {}\n", holder_begins, ::getpid(), host_name(), utc_now());
  if (::ftruncate(descriptor, 0) != 0) throw io::file_error(file, "truncate", errno);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::pwrite(descriptor, text.data() + done, text.size() - done, done);
    if (written < 0 && errno != EINTR) throw io::file_error(file, "write", errno);
    if (written > 0) done += written;
  }
  // Other hosts of a network file system can then read it.
  if (::fsync(descriptor) != 0) throw io::file_error(file, "write to the disk", errno);
}

}  // namespace

void OutputLock::release() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

std::string OutputLock::take(const std::string& directory) {
  release();
  const std::string file = directory + "/lock";
  // Not inherited by programs that this one starts.
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw io::file_error(file, "open for writing", errno);
  const int error = lock_patiently(descriptor_);
  if (is_held(error)) {
    throw Error(ExitCode::usage,
                fmt::format("{}: another run uses the output directory: {}; wait for its end, stop it (touch {}/STOP), "
                            "or choose another directory with --output",
                            directory, read_holder(descriptor_), directory));
  }
  if (error != 0 && !is_unsupported(error)) throw io::file_error(file, "lock", error);
  if (const std::string left = read_holder(descriptor_); left != nobody && !left.starts_with(holder_begins)) {
    throw Error(ExitCode::usage, fmt::format("{}: Sluice did not write it, but a run would replace it; move it away, "
                                             "or choose another directory with --output",
                                             file));
  }
  write_holder(descriptor_, file);
  if (error == 0) return "";
  return fmt::format("{}: the file system has no locks ({}): nothing prevents a second run in this directory",
                     directory, std::strerror(error));
}

std::string lock_holder(const std::string& directory) {
  try {
    const io::Descriptor file = io::open_regular(directory + "/lock", O_RDONLY, "read", ExitCode::io);
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    const bool held = ::fcntl(file.number(), F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    return held ? read_holder(file.number()) : "";
  } catch (const Error&) {
    return "";  // there has been no run, or the file is not one of Sluice's
  }
}

}  // namespace sluice
