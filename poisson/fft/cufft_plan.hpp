#pragma once
// cuFFT's functions under names that do not depend on the precision, and owned plans.
#ifdef SLUICE_HIP
#include "poisson/fft/hipfft_names.hpp"
#else
#include <cufft.h>
#define SLUICE_CUFFT_NAME "cuFFT"
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "core/device/together.hpp"
#include "core/support/error.hpp"
#include "poisson/fft/batched_fft.hpp"
#include "poisson/fft/common.hpp"

namespace sluice {

inline void check_cufft(cufftResult status, const char* what) {
  if (status == CUFFT_SUCCESS) return;
  if (status == CUFFT_ALLOC_FAILED) throw Error(ExitCode::resources, std::string(what) + ": out of GPU memory");
  throw Error(ExitCode::internal,
              std::string(what) + ": " SLUICE_CUFFT_NAME " error " + std::to_string(static_cast<int>(status)));
}

struct Cufft {
  using Complex = InPrecision<cufftDoubleComplex, cufftComplex>;
  static constexpr cufftType real_to_complex = in_precision<CUFFT_D2Z, CUFFT_R2C>();
  static constexpr cufftType complex_to_real = in_precision<CUFFT_Z2D, CUFFT_C2R>();
  static constexpr cufftType complex_to_complex = in_precision<CUFFT_Z2Z, CUFFT_C2C>();
  static constexpr auto execute_r2c = in_precision<cufftExecD2Z, cufftExecR2C>();
  static constexpr auto execute_c2r = in_precision<cufftExecZ2D, cufftExecC2R>();
  static constexpr auto execute_c2c = in_precision<cufftExecZ2Z, cufftExecC2C>();
};

/// Owns a cuFFT plan for the first loop of a batch, which works in a shared area. Move-only.
class CufftPlan {
 public:
  CufftPlan() = default;  ///< no plan
  CufftPlan(FftKind kind, const FftBatch& batch, const FftWork& work)
      : CufftPlan() {  // so that the destructor runs if an error is thrown
    work_ = work;
    work_bytes_ = make(kind, batch);
    work_.reserve(work_bytes_);
  }
  CufftPlan(CufftPlan&& other) noexcept : CufftPlan() { *this = std::move(other); }
  CufftPlan& operator=(CufftPlan&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(work_, other.work_);
    std::swap(work_bytes_, other.work_bytes_);
    std::swap(area_, other.area_);
    return *this;
  }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;
  ~CufftPlan() {
    if (handle_ != 0) cufftDestroy(handle_);
  }

  /// `kind`: that of the plan, or the other direction between complex values. `in` and `out`: device memory.
  void run(FftKind kind, void* in, void* out) {
    device::issue_queued();
    if (work_bytes_ > 0 && area_ != work_.data()) {  // it moves when another plan makes it larger
      area_ = work_.data();
      check_cufft(cufftSetWorkArea(handle_, area_), "cufftSetWorkArea");
    }
    const auto as_complex = [](void* data) { return static_cast<Cufft::Complex*>(data); };
    const auto execute = [&] {
      switch (kind) {
        case FftKind::real_to_complex:
          return Cufft::execute_r2c(handle_, static_cast<real*>(in), as_complex(out));
        case FftKind::complex_to_real:
          return Cufft::execute_c2r(handle_, as_complex(in), static_cast<real*>(out));
        default:
          return Cufft::execute_c2c(handle_, as_complex(in), as_complex(out),
                                    kind == FftKind::forward ? CUFFT_FORWARD : CUFFT_INVERSE);
      }
    };
    check_cufft(execute(), SLUICE_CUFFT_NAME);
  }

  std::size_t work_bytes() const { return work_bytes_; }
  /// Work memory that a plan would need, in bytes: makes one, without the memory.
  static std::size_t work_size(FftKind kind, const FftBatch& batch) {
    const FftLoop& loop = batch.loops[0];
    const std::array<std::int64_t, 7> key{static_cast<std::int64_t>(kind),
                                          batch.length,
                                          batch.stride_in,
                                          batch.stride_out,
                                          loop.count,
                                          loop.distance_in,
                                          loop.distance_out};
    // A rank predicts the memory of all ranks, few of which differ. What cannot be made does not become known.
    static std::map<std::array<std::int64_t, 7>, std::size_t> known;
    if (const auto found = known.find(key); found != known.end()) return found->second;
    CufftPlan probe;
    const std::size_t bytes = probe.make(kind, batch);
    known.emplace(key, bytes);
    return bytes;
  }

 private:
  /// Makes the plan; returns the work memory that it needs, in bytes.
  std::size_t make(FftKind kind, const FftBatch& batch) {
    check_cufft(cufftCreate(&handle_), "cufftCreate");
    check_cufft(cufftSetAutoAllocation(handle_, 0), "cufftSetAutoAllocation");
    const cufftType type = kind == FftKind::real_to_complex   ? Cufft::real_to_complex
                           : kind == FftKind::complex_to_real ? Cufft::complex_to_real
                                                              : Cufft::complex_to_complex;
    const FftLoop& loop = batch.loops[0];
    long long length = batch.length;
    // The size of the array around one transform: in one dimension cuFFT only checks that it is given.
    long long embed = length * std::max<long long>({1, batch.stride_in, batch.stride_out});
    std::size_t work = 0;
    check_cufft(cufftMakePlanMany64(handle_, 1, &length, &embed, batch.stride_in,
                                    std::max<long long>(1, loop.distance_in), &embed, batch.stride_out,
                                    std::max<long long>(1, loop.distance_out), type, loop.count, &work),
                "cufftMakePlanMany64");
    return work;
  }

  cufftHandle handle_ = 0;
  FftWork work_;
  std::size_t work_bytes_ = 0;
  void* area_ = nullptr;  ///< that the plan works in
};

/// Work memory in bytes that the plan of cuFFT which FftPlan::make makes for this batch needs.
std::size_t cufft_work_bytes(FftKind kind, const FftBatch& batch);

}  // namespace sluice
