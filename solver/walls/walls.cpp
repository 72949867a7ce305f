#include "solver/walls/walls.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"
#include "core/support/exact_sum.hpp"

namespace sluice {

namespace {

/// f(halo) = 2 value - f(inside): their mean is the wall's value.
struct MirrorAboutValue {
  View3<real> f;
  int inside, halo;
  WallVelocity value;
  SLUICE_INLINE void operator()(int i, int j, int) const {
    f(i, j, halo) = static_cast<real>(2 * value(i, j)) - f(i, j, inside);
  }
};

/// f(halo) = f(inside): no gradient through the wall.
struct Copy {
  View3<real> f;
  int inside, halo;
  SLUICE_INLINE void operator()(int i, int j, int) const { f(i, j, halo) = f(i, j, inside); }
};

/// f(halo) = f(inside) + change: a given gradient at the wall.
struct CopyPlus {
  View3<real> f;
  int inside, halo;
  real change;
  SLUICE_INLINE void operator()(int i, int j, int) const { f(i, j, halo) = f(i, j, inside) + change; }
};

struct SetPlane {
  View3<real> f;
  int plane;
  WallVelocity value;
  SLUICE_INLINE void operator()(int i, int j, int) const { f(i, j, plane) = static_cast<real>(value(i, j)); }
};

/// w and |w|.
struct NormalVelocity {
  View3<const real> w;
  SLUICE_INLINE void operator()(Cell c, double (&value)[2]) const {
    value[0] = static_cast<double>(w(c.i, c.j, 0));
    value[1] = std::abs(value[0]);
  }
};

/// One plane with its y halo.
Box3 plane_of(const Field& f) {
  return {{0, -f.halo().y, 0}, {f.box().nx(), f.box().ny() + f.halo().y, 1}};
}

std::size_t index_of(Location component) {
  SLUICE_REQUIRE(component != Location::center, "a component of the velocity lives on a face");
  return component == Location::x_face ? 0 : component == Location::y_face ? 1 : 2;
}

/// The planes next to a wall.
struct Planes {
  int inside, halo;
};
Planes planes_at(Walls::Side side, const Field& f) {
  const int last = f.box().nz() - 1;
  return side == Walls::Side::bottom ? Planes{0, -1} : Planes{last, last + 1};
}

}  // namespace

Walls::Walls(const Grid& grid, const Box3& box, const WallCondition& bottom, const WallCondition& top, MPI_Comm comm)
    : grid_(&grid),
      box_(box),
      walls_{Wall{bottom, box.lo[2] == 0, {}}, Wall{top, box.hi[2] == grid.cells()[2], {}}},
      comm_(comm) {}

void Walls::move(Side side, Location component, WallMotion motion) {
  const std::size_t n = index_of(component);
  Wall& moved = walls_[static_cast<std::size_t>(side)];
  SLUICE_REQUIRE(component == Location::z_face || moved.condition.kind == WallKind::no_slip,
                 "a free-slip wall does not drag the fluid along");
  Box3 plane = box_;
  plane.lo[2] = 0;
  plane.hi[2] = 1;
  // The halo is as wide as any field's.
  moved.moving[n].emplace(Moving{std::move(motion), Field(plane, component, 0, HaloWidth{reach_of(Order::fourth), 0})});
}

void Walls::set_time(double time) {
  for (const Side side : sides) {
    for (auto& moving : walls_[static_cast<std::size_t>(side)].moving) {
      if (!moving) continue;
      Field& plane = moving->plane;
      const WallPoints points{plane.location() == Location::x_face ? 1.0 : 0.5,
                              plane.location() == Location::y_face ? 1.0 : 0.5,
                              grid_->dx(),
                              grid_->dy(),
                              static_cast<int>(box_.lo[1]),
                              static_cast<int>(grid_->cells()[1])};
      moving->motion(plane, points, time);
      if (plane.location() == Location::z_face) require_no_net_flux(side, plane, time);
    }
  }
}

void Walls::require_no_net_flux(Side side, const Field& w, double time) const {
  std::array<ExactSum, 2> sums;
  if (owns(side)) sums = reduce_planes<2>("flux through a wall", w.local_box(), NormalVelocity{w.view()}).front();
  all_reduce(sums, comm_);
  constexpr double rounding = 100 * real_epsilon;
  if (std::abs(sums[0].value()) <= rounding * sums[1].value()) return;
  throw Error(ExitCode::usage, std::string(side == Side::bottom ? "bottom" : "top") +
                                   " wall: the mean of its wall-normal velocity is not 0 at time " +
                                   std::to_string(time) + "; it must be, since no net volume can pass a wall");
}

WallVelocity Walls::velocity(Side side, Location component) const {
  const std::size_t n = index_of(component);
  const auto& moving = wall(side).moving[n];
  return {condition(side).velocity[n], moving ? moving->plane.view() : View3<const real>{}};
}

void Walls::apply(const FieldDescriptor& descriptor, Field& f) const {
  switch (descriptor.at_wall) {
    case AtWall::tangential_velocity:  // u, v
      return apply_tangential(f);
    case AtWall::normal_velocity:  // w
      return apply_normal(f);
    case AtWall::no_gradient:  // p
      return apply_neumann(f);
    case AtWall::given:  // scalars
      return apply_given(descriptor, f);
  }
}

void Walls::apply_tangential(Field& f) const {
  for (const Side side : sides) {
    if (!owns(side)) continue;
    const auto [inside, halo] = planes_at(side, f);
    if (condition(side).kind == WallKind::no_slip) {
      parallel_for("no-slip wall", plane_of(f), MirrorAboutValue{f.view(), inside, halo, velocity(side, f.location())});
    } else {
      parallel_for("free-slip wall", plane_of(f), Copy{f.view(), inside, halo});
    }
  }
}

void Walls::apply_normal(Field& w) const {
  for (const Side side : sides) {
    if (!owns(side)) continue;
    const auto [inside, halo] = planes_at(side, w);
    const WallVelocity value = velocity(side, Location::z_face);
    if (side == Side::top) parallel_for("wall-normal velocity", plane_of(w), SetPlane{w.view(), inside, value});
    parallel_for("wall-normal velocity", plane_of(w), SetPlane{w.view(), halo, value});
  }
}

void Walls::apply_given(const FieldDescriptor& descriptor, Field& f) const {
  for (const Side side : sides) {
    if (!owns(side)) continue;
    const auto [inside, halo] = planes_at(side, f);
    const GivenAtWall& wall = descriptor.given_at_wall[static_cast<std::size_t>(side)];
    const bool top = side == Side::top;
    const double change = (top ? 1 : -1) * wall.value * grid_->dz(top ? grid_->cells()[2] - 1 : 0);
    if (wall.is_value) {
      parallel_for("value at wall", plane_of(f), MirrorAboutValue{f.view(), inside, halo, {wall.value}});
    } else {
      parallel_for("gradient at wall", plane_of(f), CopyPlus{f.view(), inside, halo, static_cast<real>(change)});
    }
  }
}

void Walls::apply_neumann(Field& p) const {
  for (const Side side : sides) {
    const auto [inside, halo] = planes_at(side, p);
    if (owns(side)) parallel_for("no gradient at wall", plane_of(p), Copy{p.view(), inside, halo});
  }
}

}  // namespace sluice
