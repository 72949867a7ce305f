#pragma once
// The lengths that our own kernels on GPUs are compiled for, as far as they have radices.
#include <array>
#include <cstddef>

namespace sluice::kernel_lengths {

/// Multiples of `unit` up to `max_short`, and some longer ones: those of large channels. Along x these are pairs of
/// real values.
inline constexpr int unit = 16, max_short = 2048;
inline constexpr std::array longer{2560, 3072, 3456, 3584, 4096, 5120, 6144, 7168, 8192};
inline constexpr int max_row_length = 2 * longer.back();  ///< of real values

inline constexpr int count = max_short / unit + static_cast<int>(longer.size());

/// In ascending order, n = 0 ... count - 1.
constexpr int at(int n) {
  return n < max_short / unit ? unit * (n + 1) : longer[static_cast<std::size_t>(n - max_short / unit)];
}

}  // namespace sluice::kernel_lengths
