#pragma once
#include <array>
#include <complex>
#include <cstddef>

#include "core/device/timers.hpp"
#include "core/support/box3.hpp"
#include "poisson/fft/batched_fft.hpp"

namespace sluice {

/// The axes of an array from the fastest to the slowest in memory: {0, 1, 2} is x, y, z.
using AxisOrder = std::array<std::size_t, 3>;

inline constexpr AxisOrder x_fastest{0, 1, 2};
inline constexpr AxisOrder y_fastest{1, 2, 0};
inline constexpr AxisOrder z_fastest{2, 0, 1};

/// The box with its axes in memory order.
Box3 in_memory(const Box3& box, const AxisOrder& order);

/// Transforms along one axis of a contiguous array, from one memory order to another: forward changes the order from
/// `before` to `after`, backward changes it back. Works in place if the two are the same.
class AxisFft {
 public:
  AxisFft() = default;
  /// Between the real values in `box`, x whole and fastest, and nx / 2 + 1 coefficients per row. `timers` must outlive
  /// this object: transforms are timed as "fft".
  static AxisFft along_x(const Box3& box, const AxisOrder& after, PhaseTimers& timers);
  /// Between complex coefficients in `box`, in which the axis is whole.
  static AxisFft along(std::size_t axis, const Box3& box, const AxisOrder& before, const AxisOrder& after,
                       PhaseTimers& timers);

  /// From real to complex numbers (along_x), or from complex to complex ones (along).
  template <class In>
  void forward(In* in, std::complex<real>* out) {
    const PhaseTimers::Scope scope(*timers_, "fft");
    forward_.run(in, out);
  }
  /// The inverse, except for the factor of the length. Destroys `in` if `out` is real.
  template <class Out>
  void backward(std::complex<real>* in, Out* out) {
    const PhaseTimers::Scope scope(*timers_, "fft");
    backward_.run(in, out);
  }

  std::size_t work_bytes() const { return forward_.work_bytes() + backward_.work_bytes(); }

 private:
  BatchedFft forward_, backward_;
  PhaseTimers* timers_ = nullptr;
};

}  // namespace sluice
