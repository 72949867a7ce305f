// hipFFT's transform of real numbers in three dimensions, on one GPU.
#include "src/bench/cufft_baseline.hpp"

namespace sluice {

const char* const baseline_kind = "hipfft";

std::string baseline_layout(int ranks) {
  return ranks == 1 ? "contiguous" : "";
}

std::unique_ptr<RoundTrip> make_baseline(const Cells& cells) {
  return std::make_unique<CufftBaseline>(cells);
}

}  // namespace sluice
