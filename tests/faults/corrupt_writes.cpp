// To be preloaded into the program: changes a byte of what it writes, by pwrite calls of SLUICE_CORRUPT_BYTES bytes, to
// files whose path contains SLUICE_CORRUPT_PATH, as a bad disk or controller might.
#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

bool is_chosen(int file, size_t bytes) {
  const char* const part = std::getenv("SLUICE_CORRUPT_PATH");
  const char* const size = std::getenv("SLUICE_CORRUPT_BYTES");
  if (part == nullptr || size == nullptr || bytes != std::strtoul(size, nullptr, 10)) return false;
  char path[PATH_MAX] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  return readlink(link.c_str(), path, sizeof(path) - 1) > 0 && std::strstr(path, part) != nullptr;
}

ssize_t write_changed(const char* function, int file, const void* data, size_t bytes, off64_t offset) {
  using Write = ssize_t (*)(int, const void*, size_t, off64_t);
  const auto real = reinterpret_cast<Write>(dlsym(RTLD_NEXT, function));
  if (!is_chosen(file, bytes)) return real(file, data, bytes, offset);
  std::vector<char> copy(static_cast<const char*>(data), static_cast<const char*>(data) + bytes);
  copy[bytes / 2] = static_cast<char>(copy[bytes / 2] ^ 4);
  return real(file, copy.data(), bytes, offset);
}

}  // namespace

extern "C" ssize_t pwrite(int file, const void* data, size_t bytes, off_t offset) {
  return write_changed("pwrite", file, data, bytes, offset);
}

extern "C" ssize_t pwrite64(int file, const void* data, size_t bytes, off64_t offset) {
  return write_changed("pwrite64", file, data, bytes, offset);
}
