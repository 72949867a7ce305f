// cuFFT's transform of real numbers in three dimensions: on one GPU out of place, on the GPUs of several ranks by
// cuFFTXt, in place and driven by rank 0 alone, with the coefficients in cuFFT's own order.
#include <cuda_runtime.h>
#include <cufftXt.h>

#include <algorithm>
#include <complex>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/device/check_cuda.hpp"
#include "core/device/flat_loops.hpp"
#include "core/support/collective.hpp"
#include "core/support/owned_comm.hpp"
#include "poisson/fft/cufft_plan.hpp"
#include "src/bench/fft_baseline.hpp"

namespace sluice {

namespace {

/// What cuFFT refuses becomes a row of the result.
void require_cufft(cufftResult status, const char* what) {
  if (status == CUFFT_SUCCESS) return;
  throw Error(ExitCode::resources,
              std::string(what) + ": cuFFT error " + std::to_string(static_cast<int>(status)) + " for this grid");
}

/// Owns a three-dimensional plan, on `gpus` if there are several.
class Plan3d {
 public:
  Plan3d() = default;
  Plan3d(const Plan3d&) = delete;
  Plan3d& operator=(const Plan3d&) = delete;
  ~Plan3d() {
    if (handle_ != 0) cufftDestroy(handle_);
  }

  void make(cufftType type, const Cells& cells, std::vector<int> gpus) {
    std::vector<std::size_t> work(std::max<std::size_t>(1, gpus.size()));
    require_cufft(cufftCreate(&handle_), "cufftCreate");
    if (gpus.size() > 1)
      require_cufft(cufftXtSetGPUs(handle_, static_cast<int>(gpus.size()), gpus.data()), "cufftXtSetGPUs");
    require_cufft(cufftMakePlan3d(handle_, static_cast<int>(cells[2]), static_cast<int>(cells[1]),
                                  static_cast<int>(cells[0]), type, work.data()),
                  "cufftMakePlan3d");
  }
  operator cufftHandle() const { return handle_; }

 private:
  cufftHandle handle_ = 0;
};

class CufftBaseline : public RoundTrip {
 public:
  explicit CufftBaseline(const Cells& cells)
      : cells_(cells),
        values_(static_cast<std::size_t>(cells[0] * cells[1] * cells[2])),
        coefficients_(static_cast<std::size_t>((cells[0] / 2 + 1) * cells[1] * cells[2])) {
    forward_.make(Cufft::real_to_complex, cells, {});
    backward_.make(Cufft::complex_to_real, cells, {});
  }

  void prepare() override { fill_with_noise(values_.data(), values_.size()); }
  Check check(std::uint64_t seed) override {
    return check_transform(*this, values_.data(), box_of(cells_[0], cells_[1], cells_[2]), cells_, seed);
  }
  void forward() override { check_cufft(Cufft::execute_r2c(forward_, values_.data(), coefficients()), "cuFFT"); }
  void backward() override { check_cufft(Cufft::execute_c2r(backward_, coefficients(), values_.data()), "cuFFT"); }
  double bytes_sent() const override { return 0; }
  double operations() const override { return transform_operations(cells_); }

 private:
  Cufft::Complex* coefficients() { return reinterpret_cast<Cufft::Complex*>(coefficients_.data()); }

  Cells cells_;
  Buffer<real> values_;
  Buffer<std::complex<real>> coefficients_;
  Plan3d forward_, backward_;
};

/// The GPUs of all ranks, in rank 0's numbers. Throws Error(resources) unless they are different GPUs that rank 0 sees.
/// Collective.
std::vector<int> gpus_of_ranks(MPI_Comm world) {
  constexpr int name_length = 32;
  using BusName = std::array<char, name_length>;
  BusName mine{};
  std::vector<BusName> names(static_cast<std::size_t>(size_of(world)));
  const bool one_host = size_of(OwnedComm::of_host(world)) == size_of(world);
  run_collectively(world, [&] {
    if (!one_host) throw Error(ExitCode::resources, "cuFFTXt needs all GPUs in one host");
    int device = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    check_cuda(cudaDeviceGetPCIBusId(mine.data(), name_length, device), "cudaDeviceGetPCIBusId");
  });
  check_mpi(MPI_Allgather(mine.data(), name_length, MPI_CHAR, names.data(), name_length, MPI_CHAR, world),
            "MPI_Allgather");
  std::vector<int> gpus;
  run_on_root(world, [&] {
    for (const BusName& name : names) {
      int gpu = 0;
      if (cudaDeviceGetByPCIBusId(&gpu, name.data()) != cudaSuccess || std::ranges::find(gpus, gpu) != gpus.end()) {
        cudaGetLastError();  // clear it, or the next kernel launch would report it
        throw Error(ExitCode::resources, "cuFFTXt needs a GPU for each rank, all of them visible to rank 0");
      }
      gpus.push_back(gpu);
    }
  });
  return gpus;
}

/// Rank 0 transforms on all GPUs; the others wait.
class CufftXtBaseline : public RoundTrip {
 public:
  explicit CufftXtBaseline(const Cells& cells)
      : cells_(cells), row_(2 * (cells[0] / 2 + 1)), gpus_(gpus_of_ranks(MPI_COMM_WORLD)) {
    try {
      run_on_root(MPI_COMM_WORLD, [&] {
        forward_.make(Cufft::real_to_complex, cells, gpus_);
        backward_.make(Cufft::complex_to_real, cells, gpus_);
        require_cufft(cufftXtMalloc(forward_, &array_, CUFFT_XT_FORMAT_INPLACE), "cufftXtMalloc");
      });
    } catch (const Error&) {
      free_array();
      throw;
    }
  }
  CufftXtBaseline(const CufftXtBaseline&) = delete;
  CufftXtBaseline& operator=(const CufftXtBaseline&) = delete;
  ~CufftXtBaseline() override { free_array(); }

  void prepare() override {
    for_each_gpu([&](std::size_t n) {
      fill_with_noise(static_cast<real*>(array_->descriptor->data[n]), array_->descriptor->size[n] / sizeof(real));
    });
    if (array_ != nullptr) array_->subFormat = CUFFT_XT_FORMAT_INPLACE;
  }

  /// Values come from an array on rank 0's GPU and return to it.
  Check check(std::uint64_t seed) override {
    const Box3 box = array_ != nullptr ? box_of(cells_[0], cells_[1], cells_[2]) : Box3{};
    run_collectively(MPI_COMM_WORLD, [&] { checked_ = Buffer<real>(static_cast<std::size_t>(box.volume())); });
    const Check result = check_transform(*this, checked_.data(), box, cells_, seed);
    checked_ = Buffer<real>();
    return result;
  }

  void forward() override {
    if (array_ == nullptr) return;
    if (checked_.size() > 0) load();
    check_cufft(cufftXtExecDescriptor(forward_, array_, array_, CUFFT_FORWARD), "cuFFTXt");
    for_each_gpu([](std::size_t) {});  // waits
  }
  void backward() override {
    if (array_ == nullptr) return;
    check_cufft(cufftXtExecDescriptor(backward_, array_, array_, CUFFT_INVERSE), "cuFFTXt");
    for_each_gpu([](std::size_t) {});
    if (checked_.size() > 0) store();
  }
  double bytes_sent() const override { return -1; }
  double operations() const override { return transform_operations(cells_); }

 private:
  void free_array() {
    if (array_ != nullptr) cufftXtFree(array_);
    array_ = nullptr;
  }

  /// On rank 0, with each GPU as the current one; then waits for it.
  template <class Action>
  void for_each_gpu(const Action& action) {
    if (array_ == nullptr) return;
    int own = 0;
    check_cuda(cudaGetDevice(&own), "cudaGetDevice");
    for (std::size_t n = 0; n < static_cast<std::size_t>(array_->descriptor->nGPUs); ++n) {
      check_cuda(cudaSetDevice(array_->descriptor->GPUs[n]), "cudaSetDevice");
      action(n);
      check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    check_cuda(cudaSetDevice(own), "cudaSetDevice");
  }

  // cuFFT copies between its arrays and the host, where rows have room for their coefficients.
  std::size_t rows() const { return static_cast<std::size_t>(cells_[1] * cells_[2]); }
  void load() {
    const std::vector<real> values = checked_.download();
    std::vector<real> host(rows() * row_);
    const auto nx = static_cast<std::size_t>(cells_[0]);
    for (std::size_t row = 0; row < rows(); ++row) std::copy_n(&values[row * nx], nx, &host[row * row_]);
    array_->subFormat = CUFFT_XT_FORMAT_INPLACE;
    check_cufft(cufftXtMemcpy(forward_, array_, host.data(), CUFFT_COPY_HOST_TO_DEVICE), "cufftXtMemcpy");
  }
  void store() {
    std::vector<real> host(rows() * row_);
    check_cufft(cufftXtMemcpy(backward_, host.data(), array_, CUFFT_COPY_DEVICE_TO_HOST), "cufftXtMemcpy");
    const auto nx = static_cast<std::size_t>(cells_[0]);
    std::vector<real> values(rows() * nx);
    for (std::size_t row = 0; row < rows(); ++row) std::copy_n(&host[row * row_], nx, &values[row * nx]);
    checked_.upload(values);
  }

  Cells cells_;
  std::size_t row_;  ///< length in memory, in reals
  std::vector<int> gpus_;
  Plan3d forward_, backward_;
  cudaLibXtDesc* array_ = nullptr;  ///< on rank 0
  Buffer<real> checked_;            ///< only during a check
};

}  // namespace

const char* const baseline_kind = "cufft";

std::string baseline_layout(int ranks) {
  return ranks == 1 ? "contiguous" : "in place";
}

std::unique_ptr<RoundTrip> make_baseline(const Cells& cells) {
  if (size_of(MPI_COMM_WORLD) > 1) return std::make_unique<CufftXtBaseline>(cells);
  return std::make_unique<CufftBaseline>(cells);
}

}  // namespace sluice
