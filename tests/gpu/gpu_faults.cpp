// To be preloaded into a GPU build of the program. Once the file SLUICE_GPU_FAULT_IF exists, the GPU of rank
// SLUICE_GPU_FAULT_RANK fails for good:
//
//   SLUICE_GPU_FAULT=214   calls of the CUDA runtime return this error, here that of uncorrectable memory
//   SLUICE_GPU_FAULT=trap  a kernel raises an exception, after which the driver refuses all further work
//   SLUICE_GPU_FAULT=bounds  a kernel of a debug build reads outside of a field
//   SLUICE_GPU_FAULT=hang  a kernel does not end
//
// With SLUICE_GPU_FAULT_CALL=cudaMalloc, only that call returns the error. With SLUICE_GPU_FREE_MIB=N, the program
// finds N MiB of free memory on each GPU.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

void start_faulty_kernel(std::string_view fault);

namespace {

std::string_view setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The function of the CUDA runtime.
template <class... Parameters>
auto real(const char* name) {
  return reinterpret_cast<cudaError_t (*)(Parameters...)>(dlsym(RTLD_NEXT, name));
}

/// Whether this rank's GPU has failed by now.
bool failed() {
  static bool now = false;
  if (now || setting("SLUICE_GPU_FAULT").empty()) return now;
  const std::string_view rank = setting("OMPI_COMM_WORLD_RANK");
  if ((rank.empty() ? "0" : rank) != setting("SLUICE_GPU_FAULT_RANK")) return false;
  if (access(setting("SLUICE_GPU_FAULT_IF").data(), F_OK) != 0) return false;
  now = true;
  start_faulty_kernel(setting("SLUICE_GPU_FAULT"));
  return true;
}

/// What the call is to return instead of being made; cudaSuccess: it is to be made.
cudaError_t fault_of(std::string_view call) {
  const std::string_view chosen = setting("SLUICE_GPU_FAULT_CALL");
  if ((!chosen.empty() && chosen != call) || !failed()) return cudaSuccess;
  return static_cast<cudaError_t>(std::atoi(setting("SLUICE_GPU_FAULT").data()));
}

/// Takes the memory that the program is not to find.
void fill_gpu() {
  static bool full = setting("SLUICE_GPU_FREE_MIB").empty();
  if (full) return;
  full = true;
  std::size_t free = 0;
  std::size_t total = 0;
  cudaMemGetInfo(&free, &total);
  const std::size_t left = std::strtoull(setting("SLUICE_GPU_FREE_MIB").data(), nullptr, 10) << 20;
  void* taken = nullptr;
  real<void**, std::size_t>("cudaMalloc")(&taken, free - std::min(free, left));
}

}  // namespace

namespace {

/// The error with which the function is to fail, or what the function of the CUDA runtime returns.
template <class... Parameters>
cudaError_t may_fail(const char* name, Parameters... arguments) {
  const cudaError_t error = fault_of(name);
  return error != cudaSuccess ? error : real<Parameters...>(name)(arguments...);
}

}  // namespace

extern "C" {

cudaError_t cudaSetDevice(int device) {
  const cudaError_t status = real<int>("cudaSetDevice")(device);
  if (status == cudaSuccess) fill_gpu();
  return status;
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return may_fail("cudaMalloc", pointer, bytes);
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return may_fail("cudaMemcpy", to, from, bytes, kind);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return may_fail("cudaMemcpyAsync", to, from, bytes, kind, stream);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return may_fail("cudaEventRecord", event, stream);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return may_fail("cudaEventQuery", event);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return may_fail("cudaEventSynchronize", event);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return may_fail("cudaStreamSynchronize", stream);
}
cudaError_t cudaDeviceSynchronize() {
  return may_fail("cudaDeviceSynchronize");
}
cudaError_t cudaGetLastError() {
  return may_fail("cudaGetLastError");
}

}  // extern "C"
