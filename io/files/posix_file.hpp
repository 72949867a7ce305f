#pragma once
// Files through system calls, each of them checked.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/support/error.hpp"

namespace sluice::io {

/// "PATH: cannot WHAT: reason", followed by advice for the user. `error`: an errno value; the default exit code is 4.
Error file_error(const std::string& path, const std::string& what, int error, ExitCode code = ExitCode::io);

/// Owns a file descriptor and closes it, without a check. Move-only.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&&) = delete;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  int number() const { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// A file open for writing. Move-only; local to the calling process. Every call throws Error(io) on failure, also on a
/// full disk.
class PosixFile {
 public:
  enum class Mode {
    create,    ///< new and empty; replaces an existing file
    append,    ///< existing or new, writes go to the end
    existing,  ///< existing, writes go to the place given
    log,       ///< as append, but may be a device such as /dev/null
  };

  PosixFile(std::string path, Mode mode);

  void write(std::string_view bytes);  ///< at the current end or position
  void write_at(std::uint64_t offset, const std::byte* data, std::size_t bytes);
  /// Reserves space on the disk, so that writing there cannot find it full. Does nothing where the file system cannot.
  void reserve(std::uint64_t offset, std::uint64_t bytes);
  void sync();   ///< returns when the data is on disk
  void close();  ///< the destructor closes without a check

  /// Whether the path still names this file. `changed`: another file is there, or another program has changed the size
  /// since this process opened it.
  enum class Place { same, removed, changed };
  Place place() const;
  /// Throws Error(io) unless it does.
  void require_in_place() const;

 private:
  std::string path_;
  Descriptor descriptor_;
  std::int64_t size_ = 0;  ///< when opened, and what was written to the end since
};

/// Opens a file by ::open. The descriptor is closed on exec. Refuses a directory, FIFO, socket or
/// device instead of waiting for it. `what`: such as "read". Throws Error(`code`).
Descriptor open_regular(const std::string& path, int flags, const std::string& what, ExitCode code);

/// As open_regular, for reading, but also opens pipes and character devices. Its reads do not wait.
Descriptor open_stream(const std::string& path, const std::string& what, ExitCode code);

/// Synchronises to disk what any process wrote to the file.
void sync_file(const std::string& path);

/// Renames, replacing `to`, and returns when the new name is on disk.
void rename_durably(const std::string& from, const std::string& to);

/// Returns when the names of the files in the directory are on disk.
void sync_directory(const std::string& path);

/// Creates the directory and missing parents.
void make_directories(const std::string& path);

/// True if the file is in the directory or below it.
bool is_inside(const std::string& file, const std::string& directory);

/// The whole content of a regular file that a run writes. Throws Error(`code`) if it cannot be read. read_input() reads
/// files that users give.
std::string read_text(const std::string& path, ExitCode code = ExitCode::io);

/// "PREFIX_0001200.h5"
std::string numbered_name(const std::string& prefix, std::int64_t number);

/// The parts of such a name.
struct NumberedName {
  std::string prefix;
  std::int64_t number = 0;
};

/// None if the name of a file does not have this form. `ending`: in place of ".h5", such as ".h5.tmp".
std::optional<NumberedName> parse_numbered_name(const std::string& name, const std::string& ending = ".h5");

/// The numbers of the files in a directory that have such a name, in increasing order. `error`: of listing it.
std::vector<std::int64_t> numbered_files(const std::string& directory, const std::string& prefix,
                                         std::error_code& error);

/// The prefixes of such names in a directory. `error`: of listing it.
std::set<std::string> numbered_prefixes(const std::string& directory, std::error_code& error);

/// Removes a file; a missing file is not an error.
void remove_file(const std::string& path);

/// Removes the files in a directory that have a numbered name with this prefix, followed by a suffix, such as
/// "PREFIX_0001200.h5.tmp". The directory may be missing.
void remove_numbered_files(const std::string& directory, const std::string& prefix, const std::string& suffix);

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

/// How long to wait for the text of a pipe.
struct Patience {
  double for_writer = 5;  ///< seconds until another program opens the pipe
  double for_text = 60;   ///< seconds until the text has ended
};

/// The whole text of a file that a user gives: a regular file, a pipe such as <(command) or /dev/stdin, or a device
/// such as a terminal. `what`: the kind of file, for messages, such as "case file". Throws Error(usage) if it cannot be
/// read, has more than max_bytes, or does not end in time. Local.
std::string read_input(const std::string& path, const std::string& what, std::size_t max_bytes, Patience patience = {});

}  // namespace sluice::io
