#include "io/files/posix_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "core/device/timers.hpp"
#include "core/support/error.hpp"
#include "io/case/numbers.hpp"

namespace sluice::io {

namespace {

std::string advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; free some space, or set output.directory to another file system";
    case EFBIG:
      return "; raise the limit on file sizes (ulimit -f)";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; check the permissions of the file and of its directory";
    case ENOENT:
      return "; check the path";
    default:
      return "";
  }
}

int open_flags(PosixFile::Mode mode) {
  switch (mode) {
    case PosixFile::Mode::create:
      return O_WRONLY | O_CREAT | O_TRUNC;
    case PosixFile::Mode::append:
    case PosixFile::Mode::log:
      return O_WRONLY | O_CREAT | O_APPEND;
    case PosixFile::Mode::existing:
      return O_WRONLY;
  }
  return 0;
}

std::string parent_directory(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

const char* kind_of(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return "a regular file";
  if (S_ISDIR(status.st_mode)) return "a directory";
  if (S_ISFIFO(status.st_mode)) return "a FIFO";
  if (S_ISSOCK(status.st_mode)) return "a socket";
  return "a device";
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// What may be opened.
enum class Kinds {
  regular,       ///< regular files
  with_devices,  ///< and character devices
  streams,       ///< and pipes
};

bool is_allowed(const struct stat& status, Kinds kinds) {
  if (S_ISREG(status.st_mode)) return true;
  return (kinds != Kinds::regular && S_ISCHR(status.st_mode)) || (kinds == Kinds::streams && S_ISFIFO(status.st_mode));
}

/// Opens a file if it is of these kinds, without waiting.
Descriptor open_checked(const std::string& path, int flags, const std::string& what, ExitCode code, Kinds kinds) {
  struct stat status {};
  const auto require_kind = [&] {
    if (is_allowed(status, kinds)) return;
    const char* wanted = kinds == Kinds::streams ? "a file or pipe; give another path" : "a regular file; move it away";
    throw Error(code, fmt::format("{}: cannot {}: it is {}, not {}", path, what, kind_of(status), wanted));
  };
  if (::stat(path.c_str(), &status) == 0) require_kind();
  // Without waiting for the other end of a FIFO that has just come.
  Descriptor descriptor(::open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC, 0666));
  if (descriptor.number() < 0 || ::fstat(descriptor.number(), &status) != 0) throw file_error(path, what, errno, code);
  require_kind();
  return descriptor;
}

/// Some file systems cannot synchronise a directory and report that; this is not an error.
bool directory_sync_unsupported(int error) {
  return error == EINVAL || error == ENOTSUP;
}

}  // namespace

Error file_error(const std::string& path, const std::string& what, int error, ExitCode code) {
  return {code, path + ": cannot " + what + ": " + std::generic_category().message(error) + advice(error)};
}

Descriptor open_regular(const std::string& path, int flags, const std::string& what, ExitCode code) {
  return open_checked(path, flags, what, code, Kinds::regular);
}

Descriptor open_stream(const std::string& path, const std::string& what, ExitCode code) {
  return open_checked(path, O_RDONLY | O_NOCTTY, what, code, Kinds::streams);
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

PosixFile::PosixFile(std::string path, Mode mode)
    : path_(std::move(path)),
      descriptor_(open_checked(path_, open_flags(mode), "open for writing", ExitCode::io,
                               mode == Mode::log ? Kinds::with_devices : Kinds::regular)) {
  struct stat status {};
  if (::fstat(descriptor_.number(), &status) == 0) size_ = status.st_size;
}

void PosixFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw file_error(path_, "write", errno);
    bytes.remove_prefix(written);
    size_ += written;
  }
}

void PosixFile::write_at(std::uint64_t offset, const std::byte* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::pwrite(descriptor_.number(), data, bytes, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw file_error(path_, "write", errno);
    const std::size_t advance = written;
    data += advance;
    offset += advance;
    bytes -= advance;
  }
}

void PosixFile::reserve(std::uint64_t offset, std::uint64_t bytes) {
  // Not posix_fallocate, which writes to every block where the file system cannot reserve space.
  while (::fallocate(descriptor_.number(), 0, offset, bytes) != 0) {
    if (errno == EINTR) continue;
    if (errno == EOPNOTSUPP || errno == ENOSYS) return;
    throw file_error(path_, "reserve space", errno);
  }
}

void PosixFile::sync() {
  if (::fsync(descriptor_.number()) != 0) throw file_error(path_, "write to the disk", errno);
}

void PosixFile::close() {
  if (::close(descriptor_.release()) != 0) throw file_error(path_, "close", errno);
}

PosixFile::Place PosixFile::place() const {
  struct stat held {};
  struct stat named {};
  if (::fstat(descriptor_.number(), &held) != 0) throw file_error(path_, "examine", errno);
  if (::stat(path_.c_str(), &named) != 0) {
    if (errno == ENOENT) return Place::removed;
    throw file_error(path_, "examine", errno);
  }
  return same_file(held, named) && held.st_size == size_ ? Place::same : Place::changed;
}

void PosixFile::require_in_place() const {
  const Place now = place();
  if (now == Place::same) return;
  throw Error(ExitCode::io,
              fmt::format("{}: the file was {} while the run was writing it; put it back as it was and go on from the "
                          "newest checkpoint with --restart auto",
                          path_, now == Place::removed ? "removed or renamed" : "replaced or changed"));
}

void sync_file(const std::string& path) {
  PosixFile file(path, PosixFile::Mode::existing);
  file.sync();
  file.close();
}

void sync_directory(const std::string& path) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.number() < 0) throw file_error(path, "open the directory", errno);
  if (::fsync(directory.number()) != 0 && !directory_sync_unsupported(errno))
    throw file_error(path, "synchronise the directory", errno);
}

void rename_durably(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) throw file_error(from, "rename to " + to, errno);
  sync_directory(parent_directory(to));
}

void make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw file_error(path, "create the directory", error.value());
}

bool is_inside(const std::string& file, const std::string& directory) {
  namespace fs = std::filesystem;
  const fs::path relative = fs::weakly_canonical(file).lexically_relative(fs::weakly_canonical(directory));
  return !relative.empty() && *relative.begin() != "..";
}

std::string read_text(const std::string& path, ExitCode code) {
  const Descriptor file = open_regular(path, O_RDONLY, "read", code);
  std::string text;
  std::array<char, 1 << 16> buffer;
  ssize_t count = 0;
  do {
    count = ::read(file.number(), buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), count);
  } while (count > 0 || (count < 0 && errno == EINTR));
  if (count < 0) throw file_error(path, "read", errno, code);
  return text;
}

std::string numbered_name(const std::string& prefix, std::int64_t number) {
  return fmt::format("{}_{:07}.h5", prefix, number);
}

std::optional<NumberedName> parse_numbered_name(const std::string& name, const std::string& ending) {
  if (!name.ends_with(ending)) return std::nullopt;
  const std::string stem = name.substr(0, name.size() - ending.size());
  const std::size_t separator = stem.rfind('_');
  if (separator == std::string::npos) return std::nullopt;
  const auto number = parse_digits(std::string_view(stem).substr(separator + 1));
  if (!number) return std::nullopt;
  NumberedName parts{stem.substr(0, separator), *number};
  if (numbered_name(parts.prefix, parts.number) != stem + ".h5") return std::nullopt;  // another number of digits
  return parts;
}

std::vector<std::int64_t> numbered_files(const std::string& directory, const std::string& prefix,
                                         std::error_code& error) {
  std::vector<std::int64_t> numbers;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const auto name = parse_numbered_name(entry.path().filename().string());
    if (name && name->prefix == prefix) numbers.push_back(name->number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::set<std::string> numbered_prefixes(const std::string& directory, std::error_code& error) {
  std::set<std::string> prefixes;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (const auto name = parse_numbered_name(entry.path().filename().string())) prefixes.insert(name->prefix);
  }
  return prefixes;
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw file_error(path, "remove", errno);
}

void remove_numbered_files(const std::string& directory, const std::string& prefix, const std::string& suffix) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    for (const char* ending : {".h5", ".xdmf"}) {
      const auto name = parse_numbered_name(entry.path().filename().string(), ending + suffix);
      if (name && name->prefix == prefix) remove_file(entry.path().string());
    }
  }
}

UnfinishedFile::~UnfinishedFile() {
  if (!committed_) ::unlink(path_.c_str());
}

void UnfinishedFile::commit() {
  rename_durably(path_, final_path_);
  committed_ = true;
}

void write_atomically(const std::string& path, std::string_view content) {
  UnfinishedFile unfinished(path);
  PosixFile file(unfinished.path(), PosixFile::Mode::create);
  file.write(content);
  file.sync();
  file.close();
  unfinished.commit();
}

namespace {

/// Waits a moment for bytes or the end; returns whether either has come.
bool wait_for_input(int descriptor) {
  constexpr int moment = 50;  // milliseconds
  struct pollfd polled {};
  polled.fd = descriptor;
  polled.events = POLLIN;
  return ::poll(&polled, 1, moment) > 0;
}

}  // namespace

std::string read_input(const std::string& path, const std::string& what, std::size_t max_bytes, Patience patience) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::usage, fmt::format("{}: the {} cannot be read: {}", path, what, why));
  };
  const Descriptor file = open_stream(path, "read the " + what, ExitCode::usage);
  const double start = wall_seconds();
  std::string text;
  std::array<char, 1 << 16> buffer{};
  bool has_writer = false;
  while (true) {
    // A pipe that no program has opened for writing yet reads as ended, but does not poll as such.
    const bool has_input = wait_for_input(file.number());
    const ssize_t count = ::read(file.number(), buffer.data(), buffer.size());
    const bool nothing_yet = count < 0 && (errno == EAGAIN || errno == EINTR);
    if (count < 0 && !nothing_yet) throw file_error(path, "read the " + what, errno, ExitCode::usage);
    if (count == 0 && has_input) return text;
    has_writer = has_writer || count != 0;
    text.append(buffer.data(), std::max<ssize_t>(count, 0));
    if (text.size() > max_bytes) refuse(fmt::format("it has more than {} bytes", max_bytes));
    const double waited = wall_seconds() - start;
    if (!has_writer && waited > patience.for_writer)
      refuse(fmt::format("no program has opened this pipe for writing in {:g} s", patience.for_writer));
    if (waited > patience.for_text) refuse(fmt::format("its text has not ended in {:g} s", patience.for_text));
  }
}

}  // namespace sluice::io
