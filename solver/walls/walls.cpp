#include "solver/walls/walls.hpp"

#include "core/device/parallel_for.hpp"

namespace sluice {

namespace {

/// f(halo) = 2 value - f(inside): the mean of the two is the wall's value.
struct MirrorAboutValue {
  View3<real> f;
  int inside, halo;
  real twice_value;
  SLUICE_INLINE void operator()(int i, int j, int) const { f(i, j, halo) = twice_value - f(i, j, inside); }
};

/// f(halo) = f(inside): no gradient through the wall.
struct Copy {
  View3<real> f;
  int inside, halo;
  SLUICE_INLINE void operator()(int i, int j, int) const { f(i, j, halo) = f(i, j, inside); }
};

struct SetZero {
  View3<real> f;
  int plane;
  SLUICE_INLINE void operator()(int i, int j, int) const { f(i, j, plane) = 0; }
};

/// One plane with its y halo.
Box3 plane_of(const Field& f) {
  return {{0, -f.halo().y, 0}, {f.box().nx(), f.box().ny() + f.halo().y, 1}};
}

}  // namespace

Walls::Walls(const Box3& box, std::int64_t nz, const WallCondition& bottom, const WallCondition& top)
    : bottom_(bottom), top_(top), owns_bottom_(box.lo[2] == 0), owns_top_(box.hi[2] == nz) {}

void Walls::apply(const FieldDescriptor& descriptor, Field& f) const {
  switch (descriptor.at_wall) {
    case AtWall::tangential_velocity:
      return apply_tangential(f);
    case AtWall::normal_velocity:
      return apply_normal(f);
    case AtWall::no_gradient:
      return apply_neumann(f);
  }
}

void Walls::apply_tangential(Field& f) const {
  const bool along_x = f.location() == Location::x_face;
  const double bottom_value = along_x ? bottom_.u : bottom_.v;
  const double top_value = along_x ? top_.u : top_.v;
  const int last = f.box().nz() - 1;
  const auto apply_one = [&](const WallCondition& wall, double value, int inside, int halo) {
    if (wall.kind == WallKind::no_slip) {
      parallel_for("no-slip wall", plane_of(f), MirrorAboutValue{f.view(), inside, halo, static_cast<real>(2 * value)});
    } else {
      parallel_for("free-slip wall", plane_of(f), Copy{f.view(), inside, halo});
    }
  };
  if (owns_bottom_) apply_one(bottom_, bottom_value, 0, -1);
  if (owns_top_) apply_one(top_, top_value, last, last + 1);
}

void Walls::apply_normal(Field& w) const {
  const int last = w.box().nz() - 1;
  if (owns_bottom_) parallel_for("impermeable wall", plane_of(w), SetZero{w.view(), -1});
  if (owns_top_) {
    parallel_for("impermeable wall", plane_of(w), SetZero{w.view(), last});
    parallel_for("impermeable wall", plane_of(w), SetZero{w.view(), last + 1});
  }
}

void Walls::apply_neumann(Field& p) const {
  const int last = p.box().nz() - 1;
  if (owns_bottom_) parallel_for("pressure at wall", plane_of(p), Copy{p.view(), 0, -1});
  if (owns_top_) parallel_for("pressure at wall", plane_of(p), Copy{p.view(), last, last + 1});
}

}  // namespace sluice
