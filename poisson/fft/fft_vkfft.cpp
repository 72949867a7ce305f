#include "poisson/fft/fft_vkfft.hpp"

#include <cuda_runtime.h>

#define VKFFT_BACKEND 1  // CUDA
#include <vkFFT.h>

#include <string>

#include "core/device/check_cuda.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

void check_vkfft(VkFFTResult status, const char* what) {
  if (status == VKFFT_SUCCESS) return;
  throw Error(ExitCode::internal, std::string(what) + ": VkFFT error " + std::to_string(static_cast<int>(status)));
}

}  // namespace

struct VkFourierY::Application {
  VkFFTApplication handle = {};
  CUdevice device = 0;
  std::uint64_t bytes = 0;
  bool ready = false;
};

VkFourierY::VkFourierY() : application_(std::make_unique<Application>()) {}

std::unique_ptr<VkFourierY> VkFourierY::make(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z) {
  std::unique_ptr<VkFourierY> transform(new VkFourierY);
  Application& application = *transform->application_;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaFree(nullptr), "starting CUDA");  // VkFFT compiles into the current context
  application.device = static_cast<CUdevice>(device);
  application.bytes = static_cast<std::uint64_t>(stride_z) * static_cast<std::uint64_t>(nz) * 2 * sizeof(real);

  VkFFTConfiguration configuration = {};
  configuration.FFTdim = 3;
  configuration.size[0] = static_cast<std::uint64_t>(nx);
  configuration.size[1] = static_cast<std::uint64_t>(ny);
  configuration.size[2] = static_cast<std::uint64_t>(nz);
  configuration.omitDimension[0] = 1;
  configuration.omitDimension[2] = 1;
  configuration.bufferStride[0] = static_cast<std::uint64_t>(stride_y);
  configuration.bufferStride[1] = static_cast<std::uint64_t>(stride_z);
  configuration.bufferStride[2] = static_cast<std::uint64_t>(stride_z) * static_cast<std::uint64_t>(nz);
  configuration.doublePrecision = sizeof(real) == sizeof(double) ? 1 : 0;
  configuration.device = &application.device;
  configuration.bufferSize = &application.bytes;
  application.ready = initializeVkFFT(&application.handle, configuration) == VKFFT_SUCCESS;
  if (!application.ready || application.handle.configuration.allocateTempBuffer != 0) return nullptr;
  return transform;
}

VkFourierY::~VkFourierY() {
  if (application_->ready) deleteVkFFT(&application_->handle);
}

void VkFourierY::run(void* coefficients, bool forward) {
  VkFFTLaunchParams parameters = {};
  parameters.buffer = &coefficients;
  check_vkfft(VkFFTAppend(&application_->handle, forward ? -1 : 1, &parameters), "the transform along y");
}

const char* vkfft_version() {
  static const std::string text = "VkFFT " + std::to_string(VkFFTGetVersion() / 10000) + "." +
                                  std::to_string(VkFFTGetVersion() / 100 % 100) + "." +
                                  std::to_string(VkFFTGetVersion() % 100);
  return text.c_str();
}

}  // namespace sluice
