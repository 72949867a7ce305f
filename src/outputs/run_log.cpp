#include "src/outputs/run_log.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "core/support/error.hpp"

namespace sluice {

RunLog::RunLog(const std::string& file, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  speaks_ = rank == 0;
  if (!speaks_) return;
  file_ = std::fopen(file.c_str(), "a");
  if (file_ == nullptr)
    throw Error(ExitCode::io, fmt::format("{}: the log cannot be opened: {}", file, std::strerror(errno)));
}

RunLog::~RunLog() {
  if (file_ != nullptr) std::fclose(file_);
}

void RunLog::line(const std::string& text) {
  if (!speaks_) return;
  std::fprintf(stdout, "%s\n", text.c_str());
  std::fflush(stdout);
  std::fprintf(file_, "%s\n", text.c_str());
  std::fflush(file_);
}

}  // namespace sluice
