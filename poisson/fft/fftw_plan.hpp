#pragma once
// FFTW's functions under names that do not depend on the precision, and owned plans. Plans are estimated, not measured:
// measured plans would vary from run to run.
#include <fftw3.h>

#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/real.hpp"

namespace sluice {

struct DoubleFftw {
  using Complex = fftw_complex;
  using Plan = fftw_plan;
  using Loop = fftw_iodim64;
  static Plan r2c(int n, double* in, Complex* out) { return fftw_plan_dft_r2c_1d(n, in, out, FFTW_ESTIMATE); }
  static Plan c2r(int n, Complex* in, double* out) { return fftw_plan_dft_c2r_1d(n, in, out, FFTW_ESTIMATE); }
  static Plan c2c(int n, Complex* in, Complex* out, int sign) {
    return fftw_plan_dft_1d(n, in, out, sign, FFTW_ESTIMATE);
  }
  static Plan r2c(const Loop& line, int loops, const Loop* loop, double* in, Complex* out) {
    return fftw_plan_guru64_dft_r2c(1, &line, loops, loop, in, out, FFTW_ESTIMATE);
  }
  static Plan c2r(const Loop& line, int loops, const Loop* loop, Complex* in, double* out) {
    return fftw_plan_guru64_dft_c2r(1, &line, loops, loop, in, out, FFTW_ESTIMATE);
  }
  static Plan c2c(const Loop& line, int loops, const Loop* loop, Complex* in, Complex* out, int sign) {
    return fftw_plan_guru64_dft(1, &line, loops, loop, in, out, sign, FFTW_ESTIMATE);
  }
  static void execute(Plan plan, double* in, Complex* out) { fftw_execute_dft_r2c(plan, in, out); }
  static void execute(Plan plan, Complex* in, double* out) { fftw_execute_dft_c2r(plan, in, out); }
  static void execute(Plan plan, Complex* in, Complex* out) { fftw_execute_dft(plan, in, out); }
  static void destroy(Plan plan) { fftw_destroy_plan(plan); }
  static const char* version() { return fftw_version; }
};

struct SingleFftw {
  using Complex = fftwf_complex;
  using Plan = fftwf_plan;
  using Loop = fftwf_iodim64;
  static Plan r2c(int n, float* in, Complex* out) { return fftwf_plan_dft_r2c_1d(n, in, out, FFTW_ESTIMATE); }
  static Plan c2r(int n, Complex* in, float* out) { return fftwf_plan_dft_c2r_1d(n, in, out, FFTW_ESTIMATE); }
  static Plan c2c(int n, Complex* in, Complex* out, int sign) {
    return fftwf_plan_dft_1d(n, in, out, sign, FFTW_ESTIMATE);
  }
  static Plan r2c(const Loop& line, int loops, const Loop* loop, float* in, Complex* out) {
    return fftwf_plan_guru64_dft_r2c(1, &line, loops, loop, in, out, FFTW_ESTIMATE);
  }
  static Plan c2r(const Loop& line, int loops, const Loop* loop, Complex* in, float* out) {
    return fftwf_plan_guru64_dft_c2r(1, &line, loops, loop, in, out, FFTW_ESTIMATE);
  }
  static Plan c2c(const Loop& line, int loops, const Loop* loop, Complex* in, Complex* out, int sign) {
    return fftwf_plan_guru64_dft(1, &line, loops, loop, in, out, sign, FFTW_ESTIMATE);
  }
  static void execute(Plan plan, float* in, Complex* out) { fftwf_execute_dft_r2c(plan, in, out); }
  static void execute(Plan plan, Complex* in, float* out) { fftwf_execute_dft_c2r(plan, in, out); }
  static void execute(Plan plan, Complex* in, Complex* out) { fftwf_execute_dft(plan, in, out); }
  static void destroy(Plan plan) { fftwf_destroy_plan(plan); }
  static const char* version() { return fftwf_version; }
};

using Fftw = std::conditional_t<std::is_same_v<real, double>, DoubleFftw, SingleFftw>;
using FftwComplex = Fftw::Complex;

inline FftwComplex* fftw(std::complex<real>* data) {
  return reinterpret_cast<FftwComplex*>(data);
}

/// Owns a plan. Move-only.
class FftwPlan {
 public:
  explicit FftwPlan(Fftw::Plan plan) : plan_(plan) {
    SLUICE_REQUIRE(plan != nullptr, "FFTW has no plan for this size");
  }
  FftwPlan(FftwPlan&& other) noexcept : plan_(std::exchange(other.plan_, nullptr)) {}
  FftwPlan& operator=(FftwPlan&& other) noexcept {
    std::swap(plan_, other.plan_);
    return *this;
  }
  FftwPlan(const FftwPlan&) = delete;
  FftwPlan& operator=(const FftwPlan&) = delete;
  ~FftwPlan() {
    if (plan_ != nullptr) Fftw::destroy(plan_);
  }
  operator Fftw::Plan() const { return plan_; }

 private:
  Fftw::Plan plan_;
};

}  // namespace sluice
