#pragma once
// Several flows on one device. A small grid does not fill a GPU, whose kernels end before the host has started the next
// ones. So tasks that do the same, such as a step of each member of an ensemble, run in turns, and their kernels start
// together: one launch serves all of them.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "core/device/launch_queue.hpp"

namespace sluice::device {

/// Runs all tasks on this thread, each on its own stack. Returns when all have ended and what they asked of the device
/// is issued. Each computes the bits that it computes alone, if no task uses what another one changes. A task's turn
/// lasts until it ends, calls end_turn() or, in a GPU build, waits for the device. When all have had a turn, what they
/// asked for is issued, equal launches as one. If a task throws, the others still run to their end; then the first
/// error is thrown. Within a task, run_together() runs its tasks one after the other. A single task stays on the stack
/// of the caller; on a GPU its launches become graphs, too, and cost less than outside of tasks.
void run_together(const std::vector<std::function<void()>>& tasks);

/// As run_together(), but returns what each task has thrown, or null.
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

 private:
  std::uint64_t run_ = 0;  ///< of the task that keeps its turn; 0 outside of tasks
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

/// During its lifetime, the loops that a task issues may run beside those that follow, until join_aside(): for results
/// that are needed later, such as a sum. They run in order, after all loops that were issued before the first of them.
class Aside {
 public:
  Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  ~Aside();
};

/// The loops that follow run after all that were issued aside. Issue at least one before the next Aside begins.
void join_aside();

/// The number of the task that runs, from 1; 0 outside of run_together(). For memory that tasks cannot share.
std::size_t task_number();

/// How many tasks run_together() runs; 0 outside of it.
std::size_t tasks_together();

/// The queue of the task that runs; null outside of run_together() and within KeepTurn.
LaunchQueue* queue_of_task();

/// Issues what the present task has asked of the device. Call it before the device gets work by any other way, such as
/// a call of cuFFT.
void issue_queued();

}  // namespace sluice::device
