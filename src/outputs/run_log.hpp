#pragma once
#include <mpi.h>

#include <optional>
#include <string>

#include "io/files/posix_file.hpp"

namespace sluice {

/// Messages to the user: rank 0 prints each line to the terminal and to DIR/log.txt.
class RunLog {
 public:
  /// Whether lines go to standard output, too.
  enum class Echo { off, on };

  /// Appends to the file. Collective. Throws Error(io) on every rank if it cannot be opened.
  RunLog(const std::string& file, MPI_Comm comm, Echo echo = Echo::on);
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;
  ~RunLog();

  /// If the file or standard output cannot be written, as on a full disk, warns once on standard error.
  void line(const std::string& text);

  /// Whether rank 0 writes to a terminal where it may replace a line. Under a launcher it cannot tell: mpirun gives
  /// each rank a terminal of its own. The environment variable SLUICE_PROGRESS, 0 or 1, decides for it.
  bool has_terminal() const { return file_ && has_terminal_; }
  /// Writes or replaces the last line of the terminal; the next line() takes its place.
  void status(const std::string& text);

 private:
  void print(const std::string& text);

  std::optional<io::PosixFile> file_;  ///< on rank 0
  bool failed_ = false;                ///< to write to the file
  bool lost_ = false;                  ///< a line on standard output
  Echo echo_;
  bool has_terminal_ = false;
  bool shows_status_ = false;
};

}  // namespace sluice
