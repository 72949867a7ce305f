// Events and streams of a GPU build.
#include <algorithm>

#include <utility>
#include <vector>

#include "core/device/check_cuda.hpp"
#include "core/device/queued_event.hpp"
#include "core/device/stream.hpp"
#include "core/device/together.hpp"
#include "core/support/error.hpp"

namespace sluice::device {

namespace {

/// Events that are not used at present. Never destroyed: the CUDA context may be gone by then.
std::vector<cudaEvent_t>& spare_events() {
  thread_local auto* events = new std::vector<cudaEvent_t>;
  return *events;
}

}  // namespace

OwnedEvent::OwnedEvent() {
  std::vector<cudaEvent_t>& spare = spare_events();
  if (spare.empty()) {
    check_cuda(cudaEventCreate(&event_), "cudaEventCreate");
  } else {
    event_ = spare.back();
    spare.pop_back();
  }
}

OwnedEvent::~OwnedEvent() {
  spare_events().push_back(event_);
}

void OwnedEvent::record() {
  reached_ = false;
  check_cuda(cudaEventRecord(event_), "cudaEventRecord");
}

void OwnedEvent::wait() {
  if (reached_) return;
  check_cuda(cudaEventSynchronize(event_), "a GPU kernel");
  reached_ = true;
}

Event::Event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "cudaEventCreate");
  handle_.reset(event);
}

void Event::Destroy::operator()(void* handle) const noexcept {
  cudaEventDestroy(static_cast<cudaEvent_t>(handle));
}

void Event::record() {
  if (LaunchQueue* const queue = queue_of_task()) {
    queued_ = std::make_shared<QueuedEvent>();
    enqueue(*queue, queued_);
    return;
  }
  queued_.reset();
  check_cuda(cudaEventRecord(static_cast<cudaEvent_t>(handle_.get())), "cudaEventRecord");
}

void* Event::issued() const {
  if (!queued_) return handle_.get();
  if (!queued_->recorded) issue_queued();
  if (!queued_->recorded) throw Error(ExitCode::resources, "the GPU has failed");
  return queued_->recorded->get();
}

void Event::wait() const {
  if (queued_) {
    issued();
    queued_->recorded->wait();
    return;
  }
  check_cuda(cudaEventSynchronize(static_cast<cudaEvent_t>(issued())), "a GPU kernel");
}

bool Event::done() const {
  const cudaError_t status = cudaEventQuery(static_cast<cudaEvent_t>(issued()));
  if (status != cudaErrorNotReady) check_cuda(status, "a GPU kernel");
  return status == cudaSuccess;
}

double seconds_between(const Event& start, const Event& end) {
  end.wait();
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(start.issued()),
                                  static_cast<cudaEvent_t>(end.issued())),
             "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

Stream::Stream() {
  cudaStream_t stream = nullptr;
  // The loops run in the default stream; any other kind of stream would synchronise with it.
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  handle_.reset(stream);
}

void Stream::Destroy::operator()(void* handle) const noexcept {
  cudaStreamDestroy(static_cast<cudaStream_t>(handle));
}

void Stream::wait_for(const Event& event) {
  check_cuda(cudaStreamWaitEvent(static_cast<cudaStream_t>(handle_.get()), static_cast<cudaEvent_t>(event.issued()), 0),
             "cudaStreamWaitEvent");
}

void Stream::copy(void* to, const void* from, std::size_t bytes) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(handle_.get())),
             "cudaMemcpyAsync");
}

void Stream::copy_rows(void* to, std::size_t to_distance, const void* from, std::size_t from_distance,
                       std::size_t bytes, std::size_t rows) {
  constexpr std::size_t max_distance = std::size_t{1} << 30;  // cudaMemcpy2DAsync refuses more than 2^31 - 1
  if (std::max(to_distance, from_distance) > max_distance) {
    for (std::size_t row = 0; row < rows; ++row) {
      copy(static_cast<std::byte*>(to) + row * to_distance, static_cast<const std::byte*>(from) + row * from_distance,
           bytes);
    }
    return;
  }
  check_cuda(cudaMemcpy2DAsync(to, to_distance, from, from_distance, bytes, rows, cudaMemcpyDefault,
                               static_cast<cudaStream_t>(handle_.get())),
             "cudaMemcpy2DAsync");
}

void Stream::record(Event& event) {
  event.queued_.reset();
  check_cuda(cudaEventRecord(static_cast<cudaEvent_t>(event.handle_.get()), static_cast<cudaStream_t>(handle_.get())),
             "cudaEventRecord");
}

void loops_wait_for(const Event& event) {
  check_cuda(cudaStreamWaitEvent(nullptr, static_cast<cudaEvent_t>(event.issued()), 0), "cudaStreamWaitEvent");
}

}  // namespace sluice::device
