#include "src/run/stop_control.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "core/device/timers.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

volatile std::sig_atomic_t stop_signal = 0;
volatile std::sig_atomic_t checkpoint_signal = 0;

void on_stop(int /*signal*/) {
  stop_signal = 1;
}
void on_checkpoint(int /*signal*/) {
  checkpoint_signal = 1;
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopControl::StopControl(MPI_Comm comm, std::string directory, std::optional<double> walltime, double start)
    : comm_(comm), directory_(std::move(directory)) {
  MPI_Comm_rank(comm, &rank_);
  if (walltime) deadline_ = start + *walltime;
}

void StopControl::catch_signals() {
  for (const int signal : {SIGUSR1, SIGTERM, SIGINT}) handle(signal, on_stop);
  handle(SIGUSR2, on_checkpoint);
  handle(SIGPIPE, SIG_IGN);
  struct sigaction inherited {};
  sigaction(SIGHUP, nullptr, &inherited);
  if (inherited.sa_handler != SIG_IGN) handle(SIGHUP, on_stop);  // nohup ignores it
}

void StopControl::expect(double step_seconds, double checkpoint_seconds) {
  margin_ = 2 * step_seconds + 1.5 * checkpoint_seconds;
}

bool StopControl::file_present(const char* name) {
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::path(directory_) / name;
  if (!std::filesystem::exists(file, ignored)) return false;
  if (std::filesystem::remove(file, ignored)) return true;
  return served_.insert(name).second;  // it cannot be removed, but is served only once
}

void StopControl::look_for_files() {
  constexpr double interval = 0.5;  // seconds; avoids querying a parallel file system at every step
  const double now = wall_seconds();
  if (rank_ != 0 || now - last_look_ < interval) return;
  last_look_ = now;
  stop_file_ = stop_file_ || file_present("STOP");
  checkpoint_file_ = checkpoint_file_ || file_present("CHECKPOINT");
}

Requests StopControl::poll(bool accurate) {
  look_for_files();
  const bool out_of_time = rank_ == 0 && deadline_ && wall_seconds() + margin_ > *deadline_;
  int asked[5] = {stop_signal != 0, stop_file_, out_of_time, checkpoint_signal != 0 || checkpoint_file_, accurate};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, asked, 5, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce of stop requests");
  checkpoint_signal = 0;
  checkpoint_file_ = false;
  Requests requests;
  requests.checkpoint = asked[3] != 0;
  if (asked[2] != 0) requests.stop = StopReason::walltime;
  if (asked[1] != 0) requests.stop = StopReason::stop_file;
  if (asked[0] != 0) requests.stop = StopReason::signal;
  if (asked[4] != 0) requests.stop = StopReason::accuracy;
  return requests;
}

}  // namespace sluice
