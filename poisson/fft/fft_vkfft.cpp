#include "poisson/fft/fft_vkfft.hpp"

#include <vkFFT.h>  // before CUDA's names mean HIP's

#include <string>

#include "core/device/check_cuda.hpp"
#include "core/device/together.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

void check_vkfft(VkFFTResult status, const char* what) {
  if (status == VKFFT_SUCCESS) return;
  throw Error(ExitCode::internal, std::string(what) + ": VkFFT error " + std::to_string(static_cast<int>(status)));
}

bool has_radices(int length) {
  if (length < 4) return false;
  for (const int radix : {2, 3, 5, 7}) {
    while (length % radix == 0) length /= radix;
  }
  return length == 1;
}

class VkColumns : public ColumnFourier {
 public:
  VkColumns(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z) {
    cuda::start();  // VkFFT compiles into the current context
    device_ = cuda::current_device();
    bytes_ = static_cast<std::uint64_t>(stride_z) * static_cast<std::uint64_t>(nz) * 2 * sizeof(real);

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
    configuration.device = &device_;
    configuration.bufferSize = &bytes_;
    ready_ = initializeVkFFT(&application_, configuration) == VKFFT_SUCCESS;
    if (!ready_) cuda::clear_error();
  }
  VkColumns(const VkColumns&) = delete;
  VkColumns& operator=(const VkColumns&) = delete;
  ~VkColumns() override {
    if (ready_) deleteVkFFT(&application_);
  }

  /// Without work memory.
  bool works_in_place() const { return ready_ && application_.configuration.allocateTempBuffer == 0; }

  void run(const std::complex<real>* from, std::complex<real>* to, bool forward) override {
    SLUICE_REQUIRE(from == to, "VkFFT transforms columns in place");
    void* data = to;
    VkFFTLaunchParams parameters = {};
    parameters.buffer = &data;
    device::issue_queued();
    check_vkfft(VkFFTAppend(&application_, forward ? -1 : 1, &parameters), "the transform along y");
  }

 private:
  VkFFTApplication application_ = {};
  int device_ = 0;
  std::uint64_t bytes_ = 0;
  bool ready_ = false;
};

}  // namespace

bool fits_vkfft(int length) {
  constexpr int in_32_kib = 1024;  // of shared memory, for 32 bytes of each row
  return length <= in_32_kib && has_radices(length);
}

std::unique_ptr<ColumnFourier> make_vkfft_columns(int nx, int ny, int nz, std::int64_t stride_y,
                                                  std::int64_t stride_z) {
  if (!has_radices(ny)) return nullptr;
  auto columns = std::make_unique<VkColumns>(nx, ny, nz, stride_y, stride_z);
  if (!columns->works_in_place()) return nullptr;
  return columns;
}

std::string and_vkfft() {
  const int version = VkFFTGetVersion();
  return ", VkFFT " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace sluice
