#pragma once
// cuFFT's functions under names that do not depend on the precision, and owned plans.
#include <cufft.h>

#include <algorithm>
#include <array>
#include <complex>
#include <string>
#include <type_traits>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/real.hpp"

namespace sluice {

/// Maximum work memory of a launch's plan, unless its smallest batch needs more.
inline constexpr std::size_t cufft_work_limit = std::size_t{64} << 20;

inline void check_cufft(cufftResult status, const char* what) {
  if (status == CUFFT_SUCCESS) return;
  const bool memory = status == CUFFT_ALLOC_FAILED;
  throw Error(memory ? ExitCode::resources : ExitCode::internal,
              std::string(what) +
                  (memory ? ": out of GPU memory" : ": cuFFT error " + std::to_string(static_cast<int>(status))));
}

/// Memory layout of a batch of one-dimensional transforms.
struct CufftBatch {
  long long length;                     ///< of one transform, in real or complex values in space
  long long stride_in, stride_out;      ///< between values of one transform
  long long distance_in, distance_out;  ///< between transforms
  long long count;
};

/// Owns a cuFFT plan. Move-only.
class CufftPlan {
 public:
  CufftPlan() { check_cufft(cufftCreate(&handle_), "cufftCreate"); }
  CufftPlan(cufftType type, const CufftBatch& batch) : CufftPlan() {
    std::array<long long, 1> n{batch.length};
    auto embed = one_dimensional(batch);
    std::size_t work = 0;
    check_cufft(cufftMakePlanMany64(handle_, 1, n.data(), embed.data(), batch.stride_in, batch.distance_in,
                                    embed.data(), batch.stride_out, batch.distance_out, type, batch.count, &work),
                "cufftMakePlanMany64");
  }
  CufftPlan(CufftPlan&& other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
  CufftPlan& operator=(CufftPlan&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;
  ~CufftPlan() {
    if (handle_ != 0) cufftDestroy(handle_);
  }
  cufftHandle handle() const { return handle_; }

  /// Work memory that a plan would need, in bytes.
  static std::size_t work_size(cufftType type, const CufftBatch& batch) {
    const CufftPlan probe;
    std::array<long long, 1> n{batch.length};
    auto embed = one_dimensional(batch);
    std::size_t work = 0;
    check_cufft(cufftGetSizeMany64(probe.handle_, 1, n.data(), embed.data(), batch.stride_in, batch.distance_in,
                                   embed.data(), batch.stride_out, batch.distance_out, type, batch.count, &work),
                "cufftGetSizeMany64");
    return work;
  }

 private:
  /// The size of the array around one transform. In one dimension cuFFT only checks that it is given.
  static std::array<long long, 1> one_dimensional(const CufftBatch& batch) {
    return {batch.length * std::max<long long>(1, std::max(batch.stride_in, batch.stride_out))};
  }

  cufftHandle handle_ = 0;
};

struct DoubleCufft {
  using Complex = cufftDoubleComplex;
  static constexpr cufftType real_to_complex = CUFFT_D2Z;
  static constexpr cufftType complex_to_real = CUFFT_Z2D;
  static constexpr cufftType complex_to_complex = CUFFT_Z2Z;
  static cufftResult execute(cufftHandle plan, double* in, Complex* out) { return cufftExecD2Z(plan, in, out); }
  static cufftResult execute(cufftHandle plan, Complex* in, double* out) { return cufftExecZ2D(plan, in, out); }
  static cufftResult execute(cufftHandle plan, Complex* in, Complex* out, int direction) {
    return cufftExecZ2Z(plan, in, out, direction);
  }
};

struct SingleCufft {
  using Complex = cufftComplex;
  static constexpr cufftType real_to_complex = CUFFT_R2C;
  static constexpr cufftType complex_to_real = CUFFT_C2R;
  static constexpr cufftType complex_to_complex = CUFFT_C2C;
  static cufftResult execute(cufftHandle plan, float* in, Complex* out) { return cufftExecR2C(plan, in, out); }
  static cufftResult execute(cufftHandle plan, Complex* in, float* out) { return cufftExecC2R(plan, in, out); }
  static cufftResult execute(cufftHandle plan, Complex* in, Complex* out, int direction) {
    return cufftExecC2C(plan, in, out, direction);
  }
};

using Cufft = std::conditional_t<std::is_same_v<real, double>, DoubleCufft, SingleCufft>;

inline Cufft::Complex* cufft(void* data) {
  return static_cast<Cufft::Complex*>(data);
}

}  // namespace sluice
