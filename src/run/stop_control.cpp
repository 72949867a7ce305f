#include "src/run/stop_control.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "core/device/timers.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

volatile std::sig_atomic_t stop_signal = 0;          ///< the number of the last one, or 0
volatile std::sig_atomic_t checkpoint_signal = 0;    ///< the number of one that nobody has seen yet, or 0
volatile std::sig_atomic_t checkpoint_requests = 0;  ///< so far; signals that nobody has seen yet are one request
volatile std::sig_atomic_t speaks = 0;               ///< whether this rank acknowledges signals
volatile std::sig_atomic_t at_terminal = 0;          ///< whether a user, not a launcher, sends SIGINT

/// The line that acknowledges a signal: the next line of the log may be minutes away.
#define SLUICE_STOPPING "stopping after this step with a checkpoint"
const char* acknowledgement(int signal) {
  switch (signal) {
    case SIGINT:
      return at_terminal != 0 ? "SIGINT received: " SLUICE_STOPPING
                                "; press Ctrl-C again to stop at once, without one\n"
                              : "SIGINT received: " SLUICE_STOPPING "\n";
    case SIGTERM:
      return "SIGTERM received: " SLUICE_STOPPING "\n";
    case SIGHUP:
      return "SIGHUP received: " SLUICE_STOPPING "\n";
    case SIGUSR1:
      return "SIGUSR1 received: " SLUICE_STOPPING "\n";
    default:
      return "SIGUSR2 received: writing a checkpoint after this step\n";
  }
}
#undef SLUICE_STOPPING

/// write() is one of the few functions that a signal handler may call; fmt and stdio are not.
void acknowledge(int signal) {
  if (speaks == 0) return;
  const int saved = errno;
  const char* text = acknowledgement(signal);
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
  errno = saved;
}

void on_stop(int signal) {
  // A second Ctrl-C ends the process; files are consistent at any time. Launchers may send the signal several times.
  // This comes before the acknowledgement: whoever has read that may send the second one, to any thread of the process.
  if (signal == SIGINT && at_terminal != 0) std::signal(SIGINT, SIG_DFL);
  const bool first = stop_signal == 0;
  stop_signal = signal;
  if (first) acknowledge(signal);
}
void on_checkpoint(int signal) {
  if (checkpoint_signal == 0) {
    checkpoint_requests = checkpoint_requests + 1;
    acknowledge(signal);
  }
  checkpoint_signal = signal;
}

constexpr std::array caught_signals{SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP};

/// Blocks or unblocks them. `how`: SIG_BLOCK or SIG_UNBLOCK.
void mask_signals(int how) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : caught_signals) sigaddset(&set, signal);
  sigprocmask(how, &set, nullptr);
}

std::map<int, struct sigaction> inherited;  ///< what a signal did before it was caught

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  struct sigaction before {};
  sigaction(signal, &action, &before);
  inherited.try_emplace(signal, before);
}

}  // namespace

const char* text_of(StopReason reason) {
  switch (reason) {
    case StopReason::signal:
      return "stop requested by signal";
    case StopReason::stop_file:
      return "stop requested by file STOP";
    case StopReason::walltime:
      return "wall-time limit reached";
    case StopReason::accuracy:
      return "statistics reach time.until";
    case StopReason::closed:
      return "closed by the Python program";
    default:
      return "end time or step reached";
  }
}

StopControl::StopControl(MPI_Comm comm, std::string directory, std::optional<double> walltime, double start)
    : comm_(comm), rank_(rank_of(comm)), directory_(std::move(directory)) {
  if (walltime) deadline_ = start + *walltime;
  speaks = rank_ == 0 ? 1 : 0;  // from now on a signal stops the run cleanly
}

void StopControl::catch_signals() {
  at_terminal = isatty(STDIN_FILENO);
  for (const int signal : {SIGUSR1, SIGTERM, SIGINT}) handle(signal, on_stop);
  handle(SIGUSR2, on_checkpoint);
  handle(SIGPIPE, SIG_IGN);
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) handle(SIGHUP, on_stop);  // nohup ignores it
  mask_signals(SIG_UNBLOCK);                                  // hold_signals may have blocked them
}

void StopControl::hold_signals() {
  mask_signals(SIG_BLOCK);
  release_signals();
}

void StopControl::release_signals() {
  for (const auto& [signal, before] : inherited) sigaction(signal, &before, nullptr);
  inherited.clear();
  for (volatile std::sig_atomic_t* const caught : {&checkpoint_signal, &stop_signal}) {
    if (*caught != 0) std::raise(*caught);
    *caught = 0;
  }
  checkpoint_requests = 0;
}

void StopControl::expect(double step_seconds, double file_seconds) {
  margin_ = 2 * step_seconds + 1.5 * file_seconds;
}

bool StopControl::file_present(const char* name) {
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::path(directory_) / name;
  if (!std::filesystem::exists(file, ignored)) return false;
  if (std::filesystem::remove(file, ignored)) return true;
  return served_.insert(name).second;  // it cannot be removed, but is served only once
}

void StopControl::look_for_files() {
  const double now = wall_seconds();
  if (rank_ != 0 || now - last_look_ < interval_) return;
  last_look_ = now;
  stop_file_ = stop_file_ || file_present(stop_file_name);
  checkpoint_file_ = checkpoint_file_ || file_present(checkpoint_file_name);
}

Requests StopControl::poll(bool accurate, bool line_due) {
  look_for_files();
  const bool out_of_time = rank_ == 0 && deadline_ && wall_seconds() + margin_ > *deadline_;
  checkpoint_signal = 0;  // one that comes from now on is served by the next poll
  const int requests_now = checkpoint_requests;
  const bool wants_checkpoint = requests_now > std::exchange(served_requests_, requests_now);
  int asked[6] = {stop_signal != 0,      stop_file_, out_of_time, wants_checkpoint || checkpoint_file_, accurate,
                  line_due && rank_ == 0};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, asked, 6, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce of stop requests");
  checkpoint_file_ = false;
  Requests requests;
  requests.checkpoint = asked[3] != 0;
  requests.line = asked[5] != 0;
  if (asked[2] != 0) requests.stop = StopReason::walltime;
  if (asked[1] != 0) requests.stop = StopReason::stop_file;
  if (asked[0] != 0) requests.stop = StopReason::signal;
  if (asked[4] != 0) requests.stop = StopReason::accuracy;
  return requests;
}

}  // namespace sluice
