#include "poisson/fft/axis_fft.hpp"

#include <utility>

namespace sluice {

namespace {

/// The stride along each axis.
std::array<std::int64_t, 3> strides(const Box3& box, const AxisOrder& order) {
  std::array<std::int64_t, 3> distance{};
  std::int64_t elements = 1;
  for (const std::size_t axis : order) {
    distance[axis] = elements;
    elements *= box.extent(static_cast<int>(axis));
  }
  return distance;
}

FftBatch batch_along(std::size_t axis, const Box3& box, const std::array<std::int64_t, 3>& in,
                     const std::array<std::int64_t, 3>& out) {
  const std::size_t first = axis == 0 ? 1 : 0;
  const std::size_t second = axis == 2 ? 1 : 2;
  const auto loop = [&](std::size_t over) { return FftLoop{box.extent(static_cast<int>(over)), in[over], out[over]}; };
  return {box.extent(static_cast<int>(axis)), in[axis], out[axis], {loop(first), loop(second)}};
}

}  // namespace

Box3 in_memory(const Box3& box, const AxisOrder& order) {
  Box3 reordered;
  for (std::size_t n = 0; n < 3; ++n) {
    reordered.lo[n] = box.lo[order[n]];
    reordered.hi[n] = box.hi[order[n]];
  }
  return reordered;
}

AxisFft AxisFft::along_x(const Box3& box, const AxisOrder& after, PhaseTimers& timers) {
  Box3 coefficients = box;
  coefficients.hi[0] = box.hi[0] / 2 + 1;
  const auto in = strides(box, x_fastest);
  const auto out = strides(coefficients, after);
  AxisFft fft;
  fft.timers_ = &timers;
  fft.forward_ = BatchedFft(FftKind::real_to_complex, batch_along(0, box, in, out));
  fft.backward_ = BatchedFft(FftKind::complex_to_real, batch_along(0, box, out, in));
  return fft;
}

AxisFft AxisFft::along(std::size_t axis, const Box3& box, const AxisOrder& before, const AxisOrder& after,
                       PhaseTimers& timers) {
  const auto in = strides(box, before);
  const auto out = strides(box, after);
  AxisFft fft;
  fft.timers_ = &timers;
  fft.forward_ = BatchedFft(FftKind::forward, batch_along(axis, box, in, out));
  fft.backward_ = BatchedFft(FftKind::backward, batch_along(axis, box, out, in));
  return fft;
}

}  // namespace sluice
