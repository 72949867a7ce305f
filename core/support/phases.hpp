#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>

namespace sluice {

/// What PhaseTimers times: parts of a step, and of a benchmark's workload.
enum class TimedPhase {
  momentum,
  scalars,
  implicit_diffusion,
  divergence,
  fft_x,
  fft_y,
  transpose,
  tridiagonal,
  correction,
  halo_exchange,
  time_step,
  fft,
  packing,
  communication,
};

/// Their names in tables and JSON files, in this order; string literals.
inline constexpr std::array phase_names{
    "momentum",    "scalars",    "implicit diffusion", "divergence", "fft x", "fft y",   "transpose",
    "tridiagonal", "correction", "halo exchange",      "time step",  "fft",   "packing", "communication"};
static_assert(phase_names.size() == static_cast<std::size_t>(TimedPhase::communication) + 1);

constexpr const char* name_of(TimedPhase phase) {
  return phase_names[static_cast<std::size_t>(phase)];
}

/// Words (values of a field, read or written) per point that phases must at least move through memory:
/// docs/performance.md, What is counted. Phases not named move few.
using PhaseWords = std::map<TimedPhase, double>;

/// The phase with this name; none if there is no such phase.
constexpr std::optional<TimedPhase> phase_named(std::string_view name) {
  const auto found = std::ranges::find(phase_names, name);
  if (found == phase_names.end()) return std::nullopt;
  return static_cast<TimedPhase>(found - phase_names.begin());
}

}  // namespace sluice
