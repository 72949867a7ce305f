#pragma once
// The library's own three-dimensional transform, against which `sluice bench fft` compares the distributed one. A GPU
// build uses cuFFT (cufft_baseline_cuda.cpp), a CPU build FFTW (fftw_baseline.cpp).
#include <cmath>
#include <memory>
#include <string>

#include "src/bench/round_trip.hpp"

namespace sluice {

/// "cufft" or "fftw": the kind of its setup.
extern const char* const baseline_kind;

/// Its layout on this many ranks; empty if the library has no such transform.
std::string baseline_layout(int ranks);

/// Throws Error(resources) if the library does not transform this grid on these ranks. Collective.
std::unique_ptr<RoundTrip> make_baseline(const Cells& cells);

/// Operations of a forward and a backward transform, five times N log2 N each: the usual convention, as if the values
/// were complex.
inline double transform_operations(const Cells& cells) {
  return 10 * points_of(cells) * std::log2(points_of(cells));
}

}  // namespace sluice
