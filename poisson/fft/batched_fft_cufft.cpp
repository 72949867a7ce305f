// Batches of Fourier transforms by cuFFT. Its plans have one loop over transforms; the others are loops of launches.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/support/error.hpp"
#include "poisson/fft/batched_fft.hpp"
#include "poisson/fft/cufft_plan.hpp"

namespace sluice {

namespace {

/// Maximum work memory of a launch's plan, unless its smallest batch needs more.
constexpr std::size_t work_limit = std::size_t{64} << 20;

/// Whether `first` should be the loop within a launch: that over neighbours in memory, unless the other one is much
/// longer.
bool suits_launch(const FftLoop& first, const FftLoop& second) {
  constexpr std::int64_t much_longer = 4;
  if (second.count == 1 || first.count > much_longer * second.count) return true;
  if (second.count > much_longer * first.count) return false;
  return first.distance_in + first.distance_out <= second.distance_in + second.distance_out;
}

class CufftLaunches : public FftPlan {
 public:
  CufftLaunches(FftKind kind, const FftBatch& batch, const FftWork& work) : kind_(kind), batch_(batch) {
    auto& [within, launches, more_launches] = batch_.loops;
    for (FftLoop* loop : {&launches, &more_launches}) {
      const bool must_be_within = !even(*loop) && even(within);
      const bool must_be_launches = even(*loop) && !even(within);
      if (must_be_within || (!must_be_launches && !suits_launch(within, *loop))) std::swap(within, *loop);
    }
    SLUICE_REQUIRE(even(launches) && even(more_launches),
                   "transforms of real values in several launches must begin at even elements");
    together_ = within.count;
    while (together_ > 2 && CufftPlan::work_size(kind, launch_of(together_)) > work_limit)
      together_ = (together_ / 2 + 1) / 2 * 2;  // even, for the same reason
    whole_ = CufftPlan(kind, launch_of(together_), work);
    if (const std::int64_t rest = within.count % together_; rest > 0) rest_ = CufftPlan(kind, launch_of(rest), work);
  }

  void run(void* in, void* out) override {
    const auto& [within, launches, more_launches] = batch_.loops;
    const auto element = [](void* array, bool of_reals, std::int64_t n) -> void* {
      if (of_reals) return static_cast<real*>(array) + n;
      return static_cast<Cufft::Complex*>(array) + n;
    };
    for (std::int64_t launch = 0; launch < launches.count * more_launches.count; ++launch) {
      const std::int64_t n = launch % launches.count;
      const std::int64_t l = launch / launches.count;
      const std::int64_t first_in = n * launches.distance_in + l * more_launches.distance_in;
      const std::int64_t first_out = n * launches.distance_out + l * more_launches.distance_out;
      for (std::int64_t m = 0; m < within.count; m += together_) {
        CufftPlan& plan = within.count - m >= together_ ? whole_ : rest_;
        plan.run(kind_, element(in, kind_ == FftKind::real_to_complex, first_in + m * within.distance_in),
                 element(out, kind_ == FftKind::complex_to_real, first_out + m * within.distance_out));
      }
    }
  }

  std::size_t work_bytes() const override { return std::max(whole_.work_bytes(), rest_.work_bytes()); }

 private:
  /// Whether all real values of a loop begin at even elements.
  bool even(const FftLoop& loop) const {
    const bool in = kind_ != FftKind::real_to_complex || loop.distance_in % 2 == 0;
    const bool out = kind_ != FftKind::complex_to_real || loop.distance_out % 2 == 0;
    return loop.count == 1 || (in && out);
  }

  FftBatch launch_of(std::int64_t count) const {
    FftBatch launch = batch_;
    launch.loops[0].count = count;
    return launch;
  }

  FftKind kind_;
  FftBatch batch_;             ///< loops[0] within a launch
  std::int64_t together_ = 0;  ///< transforms in one launch: as many as work memory allows
  CufftPlan whole_, rest_;
};

}  // namespace

std::unique_ptr<FftPlan> FftPlan::make(FftKind kind, const FftBatch& batch, const FftWork& work) {
  return std::make_unique<CufftLaunches>(kind, batch, work);
}

}  // namespace sluice
