#pragma once
#include <mpi.h>

#include <cstdio>
#include <string>

namespace sluice {

/// Messages to the user: rank 0 prints each line to the terminal and to DIR/log.txt.
class RunLog {
 public:
  /// Appends to the file. Collective. Throws Error(io) on every rank if it cannot be opened.
  RunLog(const std::string& file, MPI_Comm comm);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  void line(const std::string& text);

 private:
  std::FILE* file_ = nullptr;  ///< on rank 0
};

}  // namespace sluice
