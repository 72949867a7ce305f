#include "src/outputs/run_log.hpp"

#include <cstdio>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

RunLog::RunLog(const std::string& file, MPI_Comm comm) {
  run_on_root(comm, [&] { file_.emplace(file, io::PosixFile::Mode::log); });
}

void RunLog::line(const std::string& text) {
  if (!file_) return;
  std::fprintf(stdout, "%s\n", text.c_str());
  std::fflush(stdout);
  try {
    file_->write(text + "\n");
  } catch (const Error& error) {
    if (!failed_) std::fprintf(stderr, "warning: %s; the run goes on, but its log has gaps\n", error.what());
    failed_ = true;
  }
}

}  // namespace sluice
