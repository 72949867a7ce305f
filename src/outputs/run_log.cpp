#include "src/outputs/run_log.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/output.hpp"

namespace sluice {

namespace {

bool can_replace_lines() {
  if (const char* wanted = std::getenv("SLUICE_PROGRESS")) return std::string_view(wanted) == "1";
  constexpr std::array launchers{"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  return ::isatty(STDOUT_FILENO) == 1 && std::ranges::none_of(launchers, is_set);
}

// Before MPI_Init: Open MPI sets a launcher's variables then, without a launcher too.
const bool lines_can_be_replaced = can_replace_lines();

constexpr const char* clear_line = "\r\033[K";

}  // namespace

RunLog::RunLog(const std::string& file, MPI_Comm comm, Echo echo)
    : echo_(echo), has_terminal_(echo == Echo::on && lines_can_be_replaced) {
  run_on_root(comm, [&] { file_.emplace(file, io::PosixFile::Mode::log); });
}

void RunLog::line(const std::string& text) {
  if (!file_) return;
  if (echo_ == Echo::on) print(text);
  try {
    file_->write(text + "\n");
  } catch (const Error& error) {
    if (!failed_) std::fprintf(stderr, "warning: %s; the run goes on, but its log has gaps\n", error.what());
    failed_ = true;
  }
}

void RunLog::print(const std::string& text) {
  std::fprintf(stdout, "%s%s\n", shows_status_ ? clear_line : "", text.c_str());
  shows_status_ = false;
  try {
    flush_output();
  } catch (const Error& error) {
    if (!lost_) std::fprintf(stderr, "warning: %s; the run goes on, and its log file has all lines\n", error.what());
    lost_ = true;
  }
}

RunLog::~RunLog() {
  if (!shows_status_) return;
  std::fprintf(stdout, "%s", clear_line);
  std::fflush(stdout);
}

void RunLog::status(const std::string& text) {
  if (!has_terminal()) return;
  std::fprintf(stdout, "%s%s", clear_line, text.c_str());
  std::fflush(stdout);
  shows_status_ = true;
}

}  // namespace sluice
