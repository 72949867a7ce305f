// cuFFT's transform of real numbers in three dimensions: on one GPU out of place, on the GPUs of several ranks by
// cuFFTXt, in place and driven by rank 0 alone, with the coefficients in cuFFT's own order.
#include <cuda_runtime.h>
#include <cufftXt.h>

#include <algorithm>
#include <array>
#include <complex>
#include <memory>
#include <optional>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/device/check_cuda.hpp"
#include "core/device/flat_loops.hpp"
#include "core/support/collective.hpp"
#include "core/support/owned_comm.hpp"
#include "poisson/fft/cufft_plan.hpp"
#include "src/bench/cufft_baseline.hpp"
#include "src/bench/known_field.hpp"
#include "src/bench/round_trip.hpp"

namespace sluice {

namespace {

/// The GPUs of all ranks, in rank 0's numbers. Throws Error(resources) unless they are different GPUs that rank 0 sees.
/// Collective.
std::vector<int> gpus_of_ranks(MPI_Comm world) {
  constexpr int name_length = 32;
  using BusName = std::array<char, name_length>;
  BusName mine{};
  std::vector<BusName> names(size_of(world));
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
        cuda::clear_error();
        throw Error(ExitCode::resources, "cuFFTXt needs a GPU for each rank, all of them visible to rank 0");
      }
      gpus.push_back(gpu);
    }
  });
  return gpus;
}

/// Makes a GPU the current one until the end of its scope.
class CurrentGpu {
 public:
  explicit CurrentGpu(int gpu) {
    check_cuda(cudaGetDevice(&before_), "cudaGetDevice");
    check_cuda(cudaSetDevice(gpu), "cudaSetDevice");
  }
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;
  ~CurrentGpu() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

struct FreeXtArray {
  void operator()(cudaLibXtDesc* array) const noexcept { cufftXtFree(array); }
};

/// Rank 0 transforms on all GPUs; the others wait. The GPUs hold slabs of the real numbers: n / gpus planes each, one
/// more on the first n % gpus, in rows with room for their coefficients.
class CufftXtBaseline : public RoundTrip {
 public:
  explicit CufftXtBaseline(const Cells& cells) : cells_(cells) {
    std::vector<int> gpus = gpus_of_ranks(MPI_COMM_WORLD);
    const auto on_all = [&](cufftHandle plan) {
      require_cufft(cufftXtSetGPUs(plan, static_cast<int>(gpus.size()), gpus.data()), "cufftXtSetGPUs");
    };
    run_on_root(MPI_COMM_WORLD, [&] {
      forward_.make(Cufft::real_to_complex, cells, gpus.size(), on_all);
      backward_.make(Cufft::complex_to_real, cells, gpus.size(), on_all);
      cudaLibXtDesc* array = nullptr;
      const cufftResult status = cufftXtMalloc(forward_, &array, CUFFT_XT_FORMAT_INPLACE);
      array_.reset(array);
      require_cufft(status, "cufftXtMalloc");
      require_slabs();
    });
  }

  void prepare() override {
    on_gpus([&](std::size_t n) { fill_with_noise(data(n), array_->descriptor->size[n] / sizeof(real)); });
  }

  Check check(std::uint64_t seed) override {
    const KnownField field(seed, cells_);
    on_gpus([&](std::size_t n) { field.write(values(n), slab(n)); });
    run();
    Deviation largest;
    on_gpus([&](std::size_t n) {
      const Deviation of_slab = field.local_deviation(values(n), slab(n), points_of(cells_));
      if (of_slab.error > largest.error) largest = of_slab;
    });
    return check_of_error(largest_of_ranks(largest), cells_);
  }

  void forward() override {
    if (array_) array_->subFormat = CUFFT_XT_FORMAT_INPLACE;
    execute(forward_, CUFFT_FORWARD);
  }
  void backward() override { execute(backward_, CUFFT_INVERSE); }
  double bytes_sent() const override { return -1; }
  double operations() const override { return transform_operations(cells_); }

 private:
  /// On rank 0. Only it knows of an error, which on_gpus() throws on all ranks, outside of the time that is measured.
  void execute(cufftHandle plan, int direction) {
    if (!array_ || error_) return;
    try {
      require_cufft(cufftXtExecDescriptor(plan, array_.get(), array_.get(), direction), "cuFFTXt");
      for_each_gpu([](std::size_t) {});  // waits
    } catch (const Error& error) {
      cuda::clear_error();
      error_ = error;
    }
  }

  /// Calls action(n) on rank 0 for each GPU, unless a transform has failed. Throws errors, also that of the transform,
  /// on all ranks. Collective.
  template <class Action>
  void on_gpus(const Action& action) {
    run_on_root(MPI_COMM_WORLD, [&] {
      if (error_) throw Error(*error_);
      for_each_gpu(action);
    });
  }

  /// With each GPU as the current one; then waits for it.
  template <class Action>
  void for_each_gpu(const Action& action) {
    for (int n = 0; n < array_->descriptor->nGPUs; ++n) {
      const CurrentGpu current(array_->descriptor->GPUs[n]);
      action(n);
      check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
  }

  std::int64_t row() const { return 2 * (cells_[0] / 2 + 1); }  ///< length in memory, in reals
  Box3 slab(std::size_t n) const {
    const std::vector<std::int64_t> z = split_evenly(cells_[2], array_->descriptor->nGPUs);
    return {{0, 0, z[n]}, {cells_[0], cells_[1], z[n + 1]}};
  }
  real* data(std::size_t n) const { return static_cast<real*>(array_->descriptor->data[n]); }
  View3<real> values(std::size_t n) const {
    return contiguous_view(data(n), static_cast<int>(row()), slab(n).ny(), slab(n).nz());
  }
  /// cuFFT may take more memory than for the slabs, because it keeps coefficients in slabs of another axis.
  void require_slabs() const {
    for (int n = 0; n < array_->descriptor->nGPUs; ++n) {
      const std::size_t values = row() * cells_[1] * slab(n).extent(2);
      if (array_->descriptor->size[n] < values * sizeof(real))
        throw Error(ExitCode::resources, "cuFFTXt does not split this grid into the expected slabs");
    }
  }

  Cells cells_;
  Plan3d forward_, backward_;
  std::unique_ptr<cudaLibXtDesc, FreeXtArray> array_;  ///< on rank 0
  std::optional<Error> error_;                         ///< of a transform
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
