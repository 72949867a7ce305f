#pragma once
#include <string>
#include <string_view>

namespace sluice::io {

/// Suffix of a file name during writing; a file with this suffix after a crash is incomplete and can be deleted.
inline constexpr const char* unfinished_suffix = ".tmp";

/// The file PATH.tmp, which becomes PATH when complete. Destruction without commit(), as by an exception, removes it.
/// Local.
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

/// Replaces the file by `content` atomically: a reader, or a crash at any moment, finds either the complete old content
/// or the complete new one. Writes PATH.tmp, synchronises it to disk, then renames it. Local. Throws Error(io), also on
/// a full disk; the old file is then unchanged.
void write_atomically(const std::string& path, std::string_view content);

}  // namespace sluice::io
