#include "core/device/check_cuda.hpp"
#include "core/device/stream.hpp"

namespace sluice::device {

Stream::Stream() {
  cudaStream_t stream = nullptr;
  // The loops run in the default stream; any other kind of stream would synchronise with it.
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  handle_ = stream;
}

Stream::~Stream() {
  if (handle_ != nullptr) cudaStreamDestroy(static_cast<cudaStream_t>(handle_));
}

void Stream::wait_for(const Event& event) {
  check_cuda(cudaStreamWaitEvent(static_cast<cudaStream_t>(handle_), static_cast<cudaEvent_t>(event.handle_), 0),
             "cudaStreamWaitEvent");
}

void Stream::copy(void* to, const void* from, std::size_t bytes) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(handle_)),
             "cudaMemcpyAsync");
}

void Stream::record(Event& event) {
  check_cuda(cudaEventRecord(static_cast<cudaEvent_t>(event.handle_), static_cast<cudaStream_t>(handle_)),
             "cudaEventRecord");
}

void loops_wait_for(const Event& event) {
  check_cuda(cudaStreamWaitEvent(nullptr, static_cast<cudaEvent_t>(event.handle_), 0), "cudaStreamWaitEvent");
}

}  // namespace sluice::device
