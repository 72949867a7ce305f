#pragma once
// What is given at a wall as a function of x, y and time: a component of its velocity, or a scalar there.
#include <functional>

#include "core/decomp/field.hpp"
#include "core/device/parallel_for.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// What is given at a wall, for kernels: uniform or a plane.
struct WallValue {
  double uniform = 0;
  View3<const real> plane = {};  ///< index (i, j, 0), y halo included; null address if uniform

  bool is_zero() const { return plane.origin == nullptr && uniform == 0; }
  SLUICE_INLINE double operator()(int i, int j) const {
    return plane.origin == nullptr ? uniform : static_cast<double>(plane(i, j, 0));
  }
};

/// The points of a field at a wall: point (i, j) of the rank is at x = (i + x_offset) dx, y = (j + first_j + y_offset)
/// dy within the period.
struct WallPoints {
  double x_offset, y_offset, dx, dy;
  int first_j, ny;
};

/// f(x, y, t) at every point of a plane.
template <class Function>
struct FillWall {
  View3<real> plane;
  WallPoints points;
  Function f;
  double time;
  SLUICE_INLINE void operator()(int i, int j, int) const {
    const int in_period = (j + points.first_j) % points.ny;
    const int global_j = in_period < 0 ? in_period + points.ny : in_period;  // same bits in the halo as at the owner
    plane(i, j, 0) =
        static_cast<real>(f((i + points.x_offset) * points.dx, (global_j + points.y_offset) * points.dy, time));
  }
};

/// Fills a plane, y halo included, with the values at a time.
using WallMotion = std::function<void(Field& plane, const WallPoints& points, double time)>;

/// Function: a functor with SLUICE_INLINE double operator()(double x, double y, double time) const.
template <class Function>
WallMotion wall_motion(Function function) {
  return [function](Field& plane, const WallPoints& points, double time) {
    const Box3 box{{0, -plane.halo().y, 0}, {plane.box().nx(), plane.box().ny() + plane.halo().y, 1}};
    parallel_for("wall motion", box, FillWall<Function>{plane.view(), points, function, time});
  };
}

}  // namespace sluice
