#include "io/files/atomic_file.hpp"

#include <unistd.h>

#include <filesystem>

#include "io/files/posix_file.hpp"

namespace sluice::io {

void write_atomically(const std::string& path, std::string_view content) {
  const std::string unfinished = path + unfinished_suffix;
  try {
    PosixFile file(unfinished, PosixFile::Mode::create);
    file.write(content);
    file.sync();
    file.close();
    rename_durably(unfinished, path);
  } catch (...) {
    ::unlink(unfinished.c_str());
    throw;
  }
}

void remove_unfinished(const std::string& directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == unfinished_suffix) remove_file(entry.path().string());
  }
}

}  // namespace sluice::io
