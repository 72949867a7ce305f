#include "core/device/together.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/phase.hpp"

namespace sluice::device {

namespace {

/// The memory of a stack. The page below it may not be touched, so that an overflow ends the program.
class Stack {
 public:
  Stack() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    memory_ = mmap(nullptr, page_ + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED || mprotect(memory_, page_, PROT_NONE) != 0)
      throw Error(ExitCode::resources,
                  "could not reserve 8 MiB of addresses for the stack of a task: run fewer members together, or raise "
                  "the limit of "
                  "virtual memory (ulimit -v)");
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack() { munmap(memory_, page_ + bytes); }

  void* begin() const { return static_cast<std::byte*>(memory_) + page_; }

  static constexpr std::size_t bytes = std::size_t{8} << 20;  ///< of which the system provides what is used

 private:
  std::size_t page_;
  void* memory_;
};

/// What the C++ runtime keeps for each thread about exceptions that are being handled: the same two words for each
/// stack (Itanium C++ ABI, 2.2.2).
struct Exceptions {
  void* caught = nullptr;
  unsigned int uncaught = 0;

  /// Puts these in force, and keeps those that were.
  void exchange() {
    abi::__cxa_eh_globals* const of_thread = abi::__cxa_get_globals();
    Exceptions before;
    std::memcpy(static_cast<void*>(&before), of_thread, sizeof(before));
    std::memcpy(static_cast<void*>(of_thread), this, sizeof(*this));
    *this = before;
  }
};

struct Task {
  const std::function<void()>* body = nullptr;
  std::size_t number = 0;
  std::size_t together = 0;
  std::uint64_t run = 0;  ///< different for each run of a task in this thread, from 1
  Stack stack;
  ucontext_t context{};
  ucontext_t* scheduler = nullptr;
  Exceptions exceptions;
  Phase::Open phases;
  LaunchQueue queue;
  std::exception_ptr error;
  int keeps_turn = 0;   ///< reasons to keep its turn
  int direct = 0;       ///< KeepTurns: launches go past the queue
  int independent = 0;  ///< Independents
  int aside = 0;        ///< Asides
  bool ended = true;
};

thread_local Task* current = nullptr;

/// Lets `task` have its turn.
void resume(Task& task, ucontext_t& here) {
  current = &task;
  task.exceptions.exchange();
  task.phases.exchange();
  swapcontext(&here, &task.context);
  task.phases.exchange();
  task.exceptions.exchange();
  current = nullptr;
}

/// Calls `action`; returns what it throws.
template <class Action>
std::exception_ptr error_of(const Action& action) {
  try {
    action();
  } catch (...) {  // for whoever has asked for the tasks
    return std::current_exception();
  }
  return nullptr;
}

void run_current() {
  Task& task = *current;
  task.error = error_of(*task.body);
  task.ended = true;
}

void prepare(Task& task, std::size_t number, std::size_t together, const std::function<void()>& body) {
  task.body = &body;
  task.number = number;
  task.together = together;
  thread_local std::uint64_t runs = 0;
  task.run = ++runs;
  task.exceptions = {};
  task.phases = Phase::Open::now();
  task.error = nullptr;
  task.keeps_turn = 0;
  task.direct = 0;
  task.independent = 0;
  task.aside = 0;
  task.ended = false;
}

/// Where the task begins at its first turn, and that it returns to `scheduler` when it ends.
void give_stack(Task& task, ucontext_t& scheduler) {
  getcontext(&task.context);
  task.context.uc_stack.ss_sp = task.stack.begin();
  task.context.uc_stack.ss_size = Stack::bytes;
  task.context.uc_link = &scheduler;
  makecontext(&task.context, run_current, 0);
  task.scheduler = &scheduler;
}

/// Gives all tasks their turns until they have ended. Returns the error of the device, if it has failed.
std::exception_ptr take_turns(const std::vector<Task*>& tasks) {
  ucontext_t here{};
  std::vector<LaunchQueue*> queues;
  for (Task* task : tasks) {
    give_stack(*task, here);
    queues.push_back(&task->queue);
  }
  std::exception_ptr error;
  for (bool any = true; any;) {
    any = false;
    for (Task* task : tasks) {
      if (!task->ended) resume(*task, here);
      any = any || !task->ended;
    }
    const std::exception_ptr failure = error_of([&] { LaunchQueue::issue(queues); });
    if (!error) error = failure;
  }
  return error;
}

/// On the stack of the caller.
std::exception_ptr run_here(Task& task) {
  task.keeps_turn = 1;
  current = &task;
  run_current();
  const std::exception_ptr error = error_of(issue_queued);
  current = nullptr;
  return error;
}

/// The tasks of this thread, kept for their stacks and queues.
std::vector<std::unique_ptr<Task>>& tasks_of_thread() {
  thread_local std::vector<std::unique_ptr<Task>> tasks;
  return tasks;
}

}  // namespace

std::vector<std::exception_ptr> try_together(const std::vector<std::function<void()>>& bodies) {
  std::vector<std::exception_ptr> errors;
  if (current != nullptr || bodies.empty()) {
    for (const auto& body : bodies) errors.push_back(error_of(body));
    return errors;
  }
  auto& known = tasks_of_thread();
  std::vector<Task*> tasks;
  for (const auto& body : bodies) {
    const std::size_t n = tasks.size();
    if (known.size() == n) known.push_back(std::make_unique<Task>());
    prepare(*tasks.emplace_back(known[n].get()), n + 1, bodies.size(), body);
  }
  const std::exception_ptr failure = tasks.size() == 1 ? run_here(*tasks.front()) : take_turns(tasks);
  for (Task* task : tasks) errors.push_back(task->error ? std::exchange(task->error, nullptr) : failure);
  return errors;
}

void run_together(const std::vector<std::function<void()>>& bodies) {
  for (const std::exception_ptr& error : try_together(bodies)) {
    if (error) std::rethrow_exception(error);
  }
}

void end_turn() {
  if (current == nullptr || current->keeps_turn > 0) return;
  swapcontext(&current->context, current->scheduler);
}

KeepTurn::KeepTurn() {
  if (current == nullptr) return;
  issue_queued();
  run_ = current->run;
  ++current->keeps_turn;
  ++current->direct;
}
KeepTurn::~KeepTurn() {
  if (current == nullptr || current->run != run_) return;  // it has outlived its task
  --current->keeps_turn;
  --current->direct;
}

Independent::Independent() {
  if (current != nullptr && current->independent++ == 0) current->queue.begin_group();
}
Independent::~Independent() {
  if (current != nullptr && --current->independent == 0) current->queue.end_group();
}

Aside::Aside() {
  if (current != nullptr && current->aside++ == 0) current->queue.begin_aside();
}
Aside::~Aside() {
  if (current != nullptr && --current->aside == 0) current->queue.end_aside();
}

void join_aside() {
  if (current != nullptr) current->queue.join_aside();
}

std::size_t task_number() {
  return current != nullptr ? current->number : 0;
}

std::size_t tasks_together() {
  return current != nullptr ? current->together : 0;
}

LaunchQueue* queue_of_task() {
  return current != nullptr && current->direct == 0 ? &current->queue : nullptr;
}

void issue_queued() {
  if (current == nullptr || current->queue.empty()) return;
  end_turn();
  if (!current->queue.empty()) LaunchQueue::issue({&current->queue});
}

}  // namespace sluice::device
