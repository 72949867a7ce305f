#pragma once
#include <string>
#include <string_view>

namespace sluice::io {

/// Appended to a file's name while it is being written; what bears it after a crash is rubbish.
inline constexpr const char* unfinished_suffix = ".tmp";

/// The file PATH.tmp, which becomes PATH when it is complete. Whoever gives up on it, by an exception say,
/// removes it. Local.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(const std::string& path) : final_path_(path), path_(path + unfinished_suffix) {}
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile();

  const std::string& path() const { return path_; }
  void commit();  ///< renames, replacing PATH, and returns when the new name is on the disk. Throws Error(io)

 private:
  std::string final_path_, path_;
  bool committed_ = false;
};

/// Replaces the file by `content`, so that a reader, or a crash at any moment, finds either the old content
/// or the new one in full: written under PATH.tmp, on the disk, then renamed. Local. Throws Error(io), a full
/// disk included; the old file is then as it was.
void write_atomically(const std::string& path, std::string_view content);

/// Removes every unfinished file of the directory, left by a run that was killed. A missing directory holds
/// none. Local.
void remove_unfinished(const std::string& directory);

}  // namespace sluice::io
