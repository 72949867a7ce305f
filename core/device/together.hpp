#pragma once
// Several flows on one device. A small grid does not occupy a GPU: its kernels end before the next ones have started.
// So tasks that do alike, such as the steps of the members of an ensemble, are run in turns, and their kernels are
// issued together: one launch serves all of them.
#include <cstddef>
#include <exception>
#include <functional>
#include <vector>

#include "core/device/launch_queue.hpp"

namespace sluice::device {

/// Runs all tasks on this thread, each on its own stack, and returns when all have ended and what they asked of the
/// device is issued. Each computes the same bits as if it ran alone, if no task uses what another one changes. A task
/// goes on until it ends, calls end_turn(), or in a GPU build waits for the device; then it is the next one's turn.
/// After a turn of all tasks, equal launches of several tasks are issued as one. If tasks throw, the others still end;
/// then the first error is thrown. A task that calls run_together() runs the tasks one after the other. A single task
/// stays on the stack of the caller; on a GPU its launches, too, are cheaper than those outside of tasks.
void run_together(const std::vector<std::function<void()>>& tasks);

/// The same, but returns what each task has thrown, or null.
std::vector<std::exception_ptr> try_together(const std::vector<std::function<void()>>& tasks);

/// Lets the other tasks of run_together() go on. Without effect elsewhere.
void end_turn();

/// During its lifetime, a task does not end its turn, and what it asks of the device is issued at once: for calls of
/// code that must not be interleaved with itself, or that uses the device without this library.
class KeepTurn {
 public:
  KeepTurn();
  KeepTurn(const KeepTurn&) = delete;
  KeepTurn& operator=(const KeepTurn&) = delete;
  ~KeepTurn();
};

/// During its lifetime, the loops that a task issues do not depend on each other: the device may run them in any order
/// or together. They must not reduce.
class Independent {
 public:
  Independent();
  Independent(const Independent&) = delete;
  Independent& operator=(const Independent&) = delete;
  ~Independent();
};

/// The number of the task that runs, from 1; 0 outside of run_together(). For memory that each task must have for
/// itself.
std::size_t task_number();

/// How many tasks run_together() runs; 0 outside of it.
std::size_t tasks_together();

/// The queue of the task that runs; null outside of run_together() and within KeepTurn.
LaunchQueue* queue_of_task();

/// Issues what the task that runs has asked the device to do. Call it before any other call that the device must run
/// after that.
void issue_queued();

}  // namespace sluice::device
