#pragma once
// FFTW's functions under names that do not depend on the precision, and owned plans. Plans are estimated, not measured:
// measured plans would vary from run to run.
#include <fftw3.h>

#include <complex>
#include <memory>
#include <span>
#include <type_traits>

#include "core/support/error.hpp"
#include "poisson/fft/common.hpp"

namespace sluice {

struct Fftw {
  using Complex = InPrecision<fftw_complex, fftwf_complex>;
  using Plan = InPrecision<fftw_plan, fftwf_plan>;
  using Loop = InPrecision<fftw_iodim64, fftwf_iodim64>;
  static constexpr auto plan_r2c = in_precision<fftw_plan_guru64_dft_r2c, fftwf_plan_guru64_dft_r2c>();
  static constexpr auto plan_c2r = in_precision<fftw_plan_guru64_dft_c2r, fftwf_plan_guru64_dft_c2r>();
  static constexpr auto plan_c2c = in_precision<fftw_plan_guru64_dft, fftwf_plan_guru64_dft>();
  static constexpr auto execute_r2c = in_precision<fftw_execute_dft_r2c, fftwf_execute_dft_r2c>();
  static constexpr auto execute_c2r = in_precision<fftw_execute_dft_c2r, fftwf_execute_dft_c2r>();
  static constexpr auto execute_c2c = in_precision<fftw_execute_dft, fftwf_execute_dft>();
  static constexpr auto destroy = in_precision<fftw_destroy_plan, fftwf_destroy_plan>();
  static constexpr const char* version = in_precision<fftw_version, fftwf_version>();
};

/// Owns a plan of one-dimensional transforms: `loops` of them, each along `line`; or of one transform along several
/// axes. Planning looks only at the alignment
/// of the arrays and at whether they are the same. Move-only.
class FftwPlan {
 public:
  using Loops = std::span<const Fftw::Loop>;

  using Axes = std::span<const Fftw::Loop>;

  FftwPlan() = default;
  /// Along all axes; along the last one half of the coefficients are stored.
  FftwPlan(Axes axes, real* in, std::complex<real>* out)
      : FftwPlan(Fftw::plan_r2c(count(axes), axes.data(), 0, nullptr, in, fftw(out), FFTW_ESTIMATE)) {}
  FftwPlan(Axes axes, std::complex<real>* in, real* out)
      : FftwPlan(Fftw::plan_c2r(count(axes), axes.data(), 0, nullptr, fftw(in), out, FFTW_ESTIMATE)) {}
  FftwPlan(const Fftw::Loop& line, Loops loops, real* in, std::complex<real>* out)
      : FftwPlan(Fftw::plan_r2c(1, &line, count(loops), loops.data(), in, fftw(out), FFTW_ESTIMATE)) {}
  FftwPlan(const Fftw::Loop& line, Loops loops, std::complex<real>* in, real* out)
      : FftwPlan(Fftw::plan_c2r(1, &line, count(loops), loops.data(), fftw(in), out, FFTW_ESTIMATE)) {}
  /// `sign`: FFTW_FORWARD or FFTW_BACKWARD
  FftwPlan(const Fftw::Loop& line, Loops loops, std::complex<real>* in, std::complex<real>* out, int sign)
      : FftwPlan(Fftw::plan_c2c(1, &line, count(loops), loops.data(), fftw(in), fftw(out), sign, FFTW_ESTIMATE)) {}

  /// Between arrays of the same alignment as those it was made for.
  void run(real* in, std::complex<real>* out) const { Fftw::execute_r2c(plan_.get(), in, fftw(out)); }
  void run(std::complex<real>* in, real* out) const { Fftw::execute_c2r(plan_.get(), fftw(in), out); }
  void run(std::complex<real>* in, std::complex<real>* out) const {
    Fftw::execute_c2c(plan_.get(), fftw(in), fftw(out));
  }

 private:
  struct Destroy {
    void operator()(Fftw::Plan plan) const { Fftw::destroy(plan); }
  };

  explicit FftwPlan(Fftw::Plan plan) : plan_(plan) {
    SLUICE_REQUIRE(plan != nullptr, "FFTW has no plan for this size");
  }
  static Fftw::Complex* fftw(std::complex<real>* data) { return reinterpret_cast<Fftw::Complex*>(data); }
  static int count(Loops loops) { return static_cast<int>(loops.size()); }

  std::unique_ptr<std::remove_pointer_t<Fftw::Plan>, Destroy> plan_;
};

}  // namespace sluice
