#pragma once
#include <mpi.h>

#include <optional>
#include <string>

#include "io/files/posix_file.hpp"

namespace sluice {

/// Messages to the user: rank 0 prints each line to the terminal and to DIR/log.txt.
class RunLog {
 public:
  /// Appends to the file. Collective. Throws Error(io) on every rank if it cannot be opened.
  RunLog(const std::string& file, MPI_Comm comm);

  /// If the file cannot be written, as on a full disk, warns once on standard error.
  void line(const std::string& text);

 private:
  std::optional<io::PosixFile> file_;  ///< on rank 0
  bool failed_ = false;
};

}  // namespace sluice
