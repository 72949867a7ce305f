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

/// How a batch is split into launches of cuFFT, with one loop over transforms in each.
struct Launches {
  FftKind kind;
  FftBatch batch;             ///< loops[0] within a launch
  std::int64_t together = 0;  ///< transforms in one launch: as many as work memory allows

  Launches(FftKind of, const FftBatch& transforms) : kind(of), batch(transforms) {
    auto& [within, launches, more_launches] = batch.loops;
    for (FftLoop* loop : {&launches, &more_launches}) {
      const bool must_be_within = !even(*loop) && even(within);
      const bool must_be_launches = even(*loop) && !even(within);
      if (must_be_within || (!must_be_launches && !suits_launch(within, *loop))) std::swap(within, *loop);
    }
    SLUICE_REQUIRE(even(launches) && even(more_launches),
                   "transforms of real values in several launches must begin at even elements");
    together = within.count;
    while (together > 2 && CufftPlan::work_size(kind, launch_of(together)) > work_limit)
      together = (together / 2 + 1) / 2 * 2;  // even, for the same reason
  }

  FftBatch launch_of(std::int64_t count) const {
    FftBatch launch = batch;
    launch.loops[0].count = count;
    return launch;
  }
  /// Transforms in the last launch over the first loop, if it is smaller; otherwise 0.
  std::int64_t rest() const { return batch.loops[0].count % together; }

 private:
  /// Whether all real values of a loop begin at even elements.
  bool even(const FftLoop& loop) const {
    const bool in = kind != FftKind::real_to_complex || loop.distance_in % 2 == 0;
    const bool out = kind != FftKind::complex_to_real || loop.distance_out % 2 == 0;
    return loop.count == 1 || (in && out);
  }
};

class CufftLaunches : public FftPlan {
 public:
  CufftLaunches(FftKind kind, const FftBatch& batch, const FftWork& work) : all_(kind, batch) {
    whole_ = CufftPlan(kind, all_.launch_of(all_.together), work);
    if (all_.rest() > 0) rest_ = CufftPlan(kind, all_.launch_of(all_.rest()), work);
  }

  void run(void* in, void* out) override {
    const FftKind kind = all_.kind;
    const auto& [within, launches, more_launches] = all_.batch.loops;
    const auto element = [](void* array, bool of_reals, std::int64_t n) -> void* {
      if (of_reals) return static_cast<real*>(array) + n;
      return static_cast<Cufft::Complex*>(array) + n;
    };
    for (std::int64_t launch = 0; launch < launches.count * more_launches.count; ++launch) {
      const std::int64_t n = launch % launches.count;
      const std::int64_t l = launch / launches.count;
      const std::int64_t first_in = n * launches.distance_in + l * more_launches.distance_in;
      const std::int64_t first_out = n * launches.distance_out + l * more_launches.distance_out;
      for (std::int64_t m = 0; m < within.count; m += all_.together) {
        CufftPlan& plan = within.count - m >= all_.together ? whole_ : rest_;
        plan.run(kind, element(in, kind == FftKind::real_to_complex, first_in + m * within.distance_in),
                 element(out, kind == FftKind::complex_to_real, first_out + m * within.distance_out));
      }
    }
  }

  std::size_t work_bytes() const override { return std::max(whole_.work_bytes(), rest_.work_bytes()); }

 private:
  Launches all_;
  CufftPlan whole_, rest_;
};

}  // namespace

std::size_t cufft_work_bytes(FftKind kind, const FftBatch& batch) {
  const Launches all(kind, batch);
  const std::size_t whole = CufftPlan::work_size(kind, all.launch_of(all.together));
  return all.rest() > 0 ? std::max(whole, CufftPlan::work_size(kind, all.launch_of(all.rest()))) : whole;
}

std::unique_ptr<FftPlan> FftPlan::make(FftKind kind, const FftBatch& batch, const FftWork& work) {
  return std::make_unique<CufftLaunches>(kind, batch, work);
}

}  // namespace sluice
