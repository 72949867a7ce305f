#include "src/run/watchdog.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <future>
#include <utility>

#include "core/device/timers.hpp"
#include "core/support/blocked_signals.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/host_name.hpp"
#include "core/support/owned_comm.hpp"
#include "core/support/phase.hpp"

namespace sluice {

namespace {

constexpr double min_limit = 1800;      ///< seconds, of every task
constexpr double times_usual = 20;      ///< the limit of a task over its usual duration
constexpr double start_factor = 10;     ///< the limit of the start over the one that the case gives
constexpr double slow_disk = 2e8;       ///< bytes per second
constexpr double ticks_per_limit = 20;  ///< how often the thread looks
constexpr double max_tick = 1;          ///< seconds
constexpr double gap_ticks = 5;         ///< a longer pause of the thread restarts the count
constexpr double patience = 5;          ///< seconds for an action that may hang itself

/// Runs the action in a thread of its own and waits for its end, but not for ever: it may hang as the main thread does.
void try_to(std::function<void()> action) {
  std::packaged_task<void()> task(std::move(action));
  const std::future<void> done = task.get_future();
  std::thread(std::move(task)).detach();
  done.wait_for(std::chrono::duration<double>(patience));
}

void append(int descriptor, const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(descriptor, text.data(), text.size());
}

/// What the kernel says of a process of this host, if it is not running; "" otherwise.
std::string halt_of(int pid) {
  std::FILE* const file = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "r");
  if (file == nullptr) return "";
  char state = ' ';
  const int found = std::fscanf(file, "%*d (%*[^)]) %c", &state);
  std::fclose(file);
  if (found != 1) return "";
  if (state == 'T') return "is stopped by a signal";
  if (state == 't') return "is halted by a debugger";
  return state == 'Z' ? "has ended" : "";
}

}  // namespace

double Watchdog::Durations::median() const {
  std::array<double, 9> sorted = last;
  const std::size_t size = std::min(count, sorted.size());
  if (size == 0) return 0;
  std::nth_element(sorted.begin(), sorted.begin() + size / 2, sorted.begin() + size);
  return sorted[size / 2];
}

std::string Watchdog::Current::text() const {
  return what + (step > 0 ? fmt::format(" {}", step) : "");
}

Watchdog::Watchdog(MPI_Comm comm, std::optional<double> limit, double output_bytes, std::string log_file)
    : comm_(comm),
      given_limit_(limit),
      expected_output_(output_bytes / slow_disk),
      log_file_(std::move(log_file)),
      rank_(rank_of(comm)),
      ranks_(size_of(comm)) {
  const OwnedComm host = OwnedComm::of_host(comm);
  const int here = rank_of(host);
  const int count = size_of(host);
  const int self[2] = {rank_, static_cast<int>(::getpid())};
  int next[2] = {};
  check_mpi(MPI_Sendrecv(self, 2, MPI_INT, (here + count - 1) % count, 0, next, 2, MPI_INT, (here + 1) % count, 0, host,
                         MPI_STATUS_IGNORE),
            "MPI_Sendrecv");
  neighbour_ = next[0];
  neighbour_pid_ = next[1];
  begin(Task::start, "start");
  if (given_limit_ && std::isinf(*given_limit_)) return;
  const BlockedSignals of_thread;
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

double Watchdog::limit_of(Task kind, const Durations& durations) const {
  if (given_limit_) return *given_limit_ * (kind == Task::start ? start_factor : 1);
  // A checkpoint that the run waits for takes much longer than one that it does not wait for.
  const double expected = kind != Task::step ? expected_output_ : 0;
  return std::max(min_limit, times_usual * std::max(expected, durations.median()));
}

void Watchdog::begin(Task kind, const std::string& what, std::int64_t step) {
  const double now = wall_seconds();
  if (current_.number > 0) durations_[current_.what].add(now - begun_);
  begun_ = now;
  const double limit = limit_of(kind, durations_[what]);
  const std::lock_guard lock(mutex_);
  current_ = {what, step, limit, current_.number + 1};
}

void Watchdog::watch(const std::stop_token& stop) {
  std::uint64_t number = 0;  // of the task that is watched
  double seconds = 0;        // that it has taken
  bool reported = false;
  double before = wall_seconds();
  for (std::unique_lock lock(mutex_); !stop.stop_requested();) {
    const double tick = std::min(current_.limit / ticks_per_limit, max_tick);
    stopping_.wait_for(lock, stop, std::chrono::duration<double>(tick), [] { return false; });
    const double now = wall_seconds();
    const double elapsed = now - std::exchange(before, now);
    if (current_.number != number || elapsed > gap_ticks * tick) {
      if (reported) append(STDERR_FILENO, fmt::format("sluice: watchdog: rank {} goes on\n", rank_));
      number = current_.number;
      seconds = 0;
      reported = false;
      continue;
    }
    seconds += elapsed;
    if (seconds <= current_.limit) continue;
    const Current task = current_;
    if (!reported) {
      lock.unlock();
      reported = true;
      try_to([text = report(task, seconds)] { append(STDERR_FILENO, text); });
      before = wall_seconds();
      lock.lock();
    }
    // Time for all ranks to report. Rank 0 aborts, or if it is stopped, rank 1 or another.
    const double grace = std::clamp(task.limit / 10, 1.0, 10.0) + std::min(rank_, 2);
    if (seconds > task.limit + grace) abort(task, seconds);
  }
}

std::string Watchdog::report(const Current& task, double seconds) const {
  std::string doing = task.text();
  if (const std::string phases = Phase::open(); !phases.empty()) doing += ", " + phases;
  std::string text = fmt::format("sluice: watchdog: rank {} of {} (host {}, process {}): {}, for {:.1f} s", rank_,
                                 ranks_, host_name(), ::getpid(), doing, seconds);
  const std::string halt = neighbour_ != rank_ ? halt_of(neighbour_pid_) : "";
  if (!halt.empty()) text += fmt::format("; rank {} (process {}) {}", neighbour_, neighbour_pid_, halt);
  return text + "\n";
}

void Watchdog::abort(const Current& task, double seconds) const {
  constexpr int code = static_cast<int>(ExitCode::resources);
  const std::string text = fmt::format(
      "sluice: the run hangs: it has been at '{}' for {:.0f} s, the limit is {:.0f} s. Above, each rank that still "
      "runs says what it waits in; a rank without such a line is stopped or lost. Once the cause is gone, continue "
      "with --restart auto. The key watchdog changes the limit\n",
      task.text(), seconds, task.limit);
  try_to([text] { append(STDERR_FILENO, text); });
  try_to([this, text = report(task, seconds) + text] {
    const int log = ::open(log_file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (log >= 0) append(log, text);
  });
  if (ranks_ > 1) try_to([comm = comm_] { MPI_Abort(comm, code); });  // unchecked: the run is ending
  ::_exit(code);
}

}  // namespace sluice
