#include "io/files/atomic_file.hpp"

#include <unistd.h>

#include "io/files/posix_file.hpp"

namespace sluice::io {

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

}  // namespace sluice::io
