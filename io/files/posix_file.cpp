#include "io/files/posix_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

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
      return O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    case PosixFile::Mode::append:
      return O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    case PosixFile::Mode::existing:
      return O_WRONLY | O_CLOEXEC;
  }
  return 0;
}

std::string parent_directory(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// Some file systems cannot synchronise a directory and report that; this is not an error.
bool directory_sync_unsupported(int error) {
  return error == EINVAL || error == ENOTSUP;
}

}  // namespace

Error file_error(const std::string& path, const std::string& what, int error, ExitCode code) {
  return {code, path + ": cannot " + what + ": " + std::generic_category().message(error) + advice(error)};
}

PosixFile::PosixFile(std::string path, Mode mode)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), open_flags(mode), 0666)) {
  if (descriptor_ < 0) throw file_error(path_, "open for writing", errno);
}

PosixFile::PosixFile(PosixFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

PosixFile::~PosixFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void PosixFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw file_error(path_, "write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void PosixFile::write_at(std::uint64_t offset, const std::byte* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::pwrite(descriptor_, data, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw file_error(path_, "write", errno);
    const auto advance = static_cast<std::size_t>(written);
    data += advance;
    offset += advance;
    bytes -= advance;
  }
}

void PosixFile::sync() {
  if (::fsync(descriptor_) != 0) throw file_error(path_, "write to the disk", errno);
}

void PosixFile::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) throw file_error(path_, "close", errno);
}

void sync_file(const std::string& path) {
  PosixFile file(path, PosixFile::Mode::existing);
  file.sync();
  file.close();
}

void sync_directory(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw file_error(path, "open the directory", errno);
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (error != 0 && !directory_sync_unsupported(error)) throw file_error(path, "synchronise the directory", error);
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

std::string read_text(const std::string& path, ExitCode code) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream || stream.bad()) throw file_error(path, "read", errno != 0 ? errno : EIO, code);
  return text.str();
}

std::string numbered_name(const std::string& prefix, std::int64_t number) {
  return fmt::format("{}_{:07}.h5", prefix, number);
}

std::vector<std::int64_t> numbered_files(const std::string& directory, const std::string& prefix,
                                         std::error_code& error) {
  std::vector<std::int64_t> numbers;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string stem = entry.path().stem().string();
    if (!stem.starts_with(prefix + "_")) continue;
    const auto number = parse_digits(std::string_view(stem).substr(prefix.size() + 1));
    if (number && entry.path().filename() == numbered_name(prefix, *number)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw file_error(path, "remove", errno);
}

void remove_files_with_suffix(const std::string& directory, const std::string& suffix) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == suffix) remove_file(entry.path().string());
  }
}

}  // namespace sluice::io
