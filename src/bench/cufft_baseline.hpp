#pragma once
// The transform of the vendor's library, of real numbers in three dimensions on one GPU, out of place.
#include <complex>
#include <string>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/device/flat_loops.hpp"
#include "core/support/error.hpp"
#include "poisson/fft/cufft_plan.hpp"
#include "src/bench/known_field.hpp"
#include "src/bench/round_trip.hpp"

namespace sluice {

/// What cuFFT refuses becomes a row of the result.
inline void require_cufft(cufftResult status, const char* what) {
  if (status == CUFFT_SUCCESS) return;
  throw Error(ExitCode::resources, std::string(what) + ": " SLUICE_CUFFT_NAME " error " +
                                       std::to_string(static_cast<int>(status)) + " for this grid");
}

/// Owns a three-dimensional plan.
class Plan3d {
 public:
  Plan3d() = default;
  Plan3d(const Plan3d&) = delete;
  Plan3d& operator=(const Plan3d&) = delete;
  ~Plan3d() {
    if (handle_ != 0) cufftDestroy(handle_);
  }

  /// `prepare(handle)` is called before the plan is made for this number of GPUs.
  template <class Prepare>
  void make(cufftType type, const Cells& cells, std::size_t gpus, const Prepare& prepare) {
    std::vector<std::size_t> work(gpus);
    require_cufft(cufftCreate(&handle_), "cufftCreate");
    prepare(handle_);
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
        values_(cells[0] * cells[1] * cells[2]),
        coefficients_((cells[0] / 2 + 1) * cells[1] * cells[2]) {
    const auto as_it_is = [](cufftHandle) {};
    forward_.make(Cufft::real_to_complex, cells, 1, as_it_is);
    backward_.make(Cufft::complex_to_real, cells, 1, as_it_is);
  }

  void prepare() override { fill_with_noise(values_.data(), values_.size()); }
  Check check(std::uint64_t seed) override {
    return check_transform(*this, values_.data(), box_of(cells_[0], cells_[1], cells_[2]), cells_, seed);
  }
  void forward() override {
    check_cufft(Cufft::execute_r2c(forward_, values_.data(), coefficients()), SLUICE_CUFFT_NAME);
  }
  void backward() override {
    check_cufft(Cufft::execute_c2r(backward_, coefficients(), values_.data()), SLUICE_CUFFT_NAME);
  }
  double bytes_sent() const override { return 0; }
  double operations() const override { return transform_operations(cells_); }

 private:
  Cufft::Complex* coefficients() { return reinterpret_cast<Cufft::Complex*>(coefficients_.data()); }

  Cells cells_;
  Buffer<real> values_;
  Buffer<std::complex<real>> coefficients_;
  Plan3d forward_, backward_;
};

}  // namespace sluice
