#include "src/outputs/run_log.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

RunLog::RunLog(const std::string& file, MPI_Comm comm) {
  run_on_root(comm, [&] {
    file_ = std::fopen(file.c_str(), "a");
    if (file_ == nullptr)
      throw Error(ExitCode::io, fmt::format("{}: the log cannot be opened: {}", file, std::strerror(errno)));
  });
}

RunLog::~RunLog() {
  if (file_ != nullptr) std::fclose(file_);
}

void RunLog::line(const std::string& text) {
  if (file_ == nullptr) return;
  std::fprintf(stdout, "%s\n", text.c_str());
  std::fflush(stdout);
  std::fprintf(file_, "%s\n", text.c_str());
  std::fflush(file_);
}

}  // namespace sluice
