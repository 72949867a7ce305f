#include "core/device/check_cuda.hpp"
#include "core/device/event.hpp"

namespace sluice::device {

Event::Event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "cudaEventCreate");
  handle_ = event;
}

Event::~Event() {
  if (handle_ != nullptr) cudaEventDestroy(static_cast<cudaEvent_t>(handle_));
}

void Event::record() {
  check_cuda(cudaEventRecord(static_cast<cudaEvent_t>(handle_)), "cudaEventRecord");
}

void Event::wait() const {
  check_cuda(cudaEventSynchronize(static_cast<cudaEvent_t>(handle_)), "a GPU kernel");
}

bool Event::done() const {
  const cudaError_t status = cudaEventQuery(static_cast<cudaEvent_t>(handle_));
  if (status != cudaErrorNotReady) check_cuda(status, "a GPU kernel");
  return status == cudaSuccess;
}

double seconds_between(const Event& start, const Event& end) {
  end.wait();
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(start.handle_),
                                  static_cast<cudaEvent_t>(end.handle_)),
             "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace sluice::device
