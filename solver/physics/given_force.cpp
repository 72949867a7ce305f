// Forces and sources of scalars that formulas or arrays give.
#include "solver/physics/given_force.hpp"

#include <vector>

#include "core/device/parallel_for.hpp"
#include "solver/momentum/plane_ring.hpp"
#include "solver/physics/force_loops.hpp"

namespace sluice {

namespace {

template <class T>
struct CopyArray {
  StridedArray<T> from;
  View3<real> to;
  SLUICE_INLINE void operator()(int i, int j, int k) const {
    to(i, j, k) = static_cast<real>(from.data[i * from.strides[0] + j * from.strides[1] + k * from.strides[2]]);
  }
};

/// 1 where a value is not finite.
template <class Values>
struct IsNotFinite {
  Values values;
  SLUICE_INLINE double operator()(Cell c) const { return values(c.i, c.j, c.k) * 0 == 0 ? 0 : 1; }
};

/// An array as values in the build's precision.
template <class T>
struct ArrayValues {
  StridedArray<T> from;
  SLUICE_INLINE real operator()(int i, int j, int k) const {
    return static_cast<real>(from.data[i * from.strides[0] + j * from.strides[1] + k * from.strides[2]]);
  }
};

template <class Values>
bool all_finite(const Box3& box, const Values& values) {
  return reduce_max("given values", box, IsNotFinite<Values>{values}) == 0;
}

template <class Values>
struct AddGivenForce {
  Forced forced;
  Values values;
  SLUICE_INLINE void operator()(Cell c) const { forced.add(c, values(c.i, c.j, c.k)); }
};

template <class Values>
struct AddGivenSource {
  SourceArrays a;
  Values values;
  SLUICE_INLINE void operator()(Cell c) const {
    const real added = values(c.i, c.j, c.k);
    a.tendency(c.i, c.j, c.k) += added;
    a.star(c.i, c.j, c.k) += a.alpha_dt * added;
  }
};

struct Component {
  Field VectorField::*field;
  Location location;
};
constexpr std::array<Component, 3> components{
    {{&VectorField::u, Location::x_face}, {&VectorField::v, Location::y_face}, {&VectorField::w, Location::z_face}}};

Forced forced(VectorField& tendency, VectorField& star, const Component& component, double alpha_dt) {
  return {(tendency.*component.field).view(), (star.*component.field).view(), static_cast<real>(alpha_dt)};
}

std::vector<double> heights(const Grid& grid, const Box3& box, Location location) {
  std::vector<double> z;
  for (std::int64_t n = box.lo[2]; n < box.hi[2]; ++n)
    z.push_back(location == Location::z_face ? grid.z_nodes()[static_cast<std::size_t>(n) + 1] : grid.z_center(n));
  return z;
}

}  // namespace

GivenValues::GivenValues(const Grid& grid, const Box3& box, Location location)
    : box_(box),
      location_(location),
      dx_(grid.dx()),
      dy_(grid.dy()),
      length_x_(grid.length_x()),
      grid_velocity_(grid.velocity()),
      z_(heights(grid, box, location)) {}

FormulaValues GivenValues::at_points(const Formula& formula, double time) const {
  return {.formula = formula.program(),
          .t = time,
          .offset_x = location_ == Location::x_face ? 1 : 0.5,
          .dx = dx_,
          .length_x = length_x_,
          .moved = grid_velocity_ * time,
          .first_y = static_cast<double>(box_.lo[1]) + (location_ == Location::y_face ? 1 : 0.5),
          .dy = dy_,
          .z = z_.data()};
}

void GivenValues::remove() {
  formula_.reset();
  array_.reset();
}

bool GivenValues::set(const Formula& formula, double time) {
  if (!all_finite(box_.local(), at_points(formula, time))) return false;
  remove();
  formula_ = formula;
  varies_along_x_ = formula.depends_on("x");
  return true;
}

template <class T>
bool GivenValues::set(const StridedArray<T>& values) {
  if (!all_finite(box_.local(), ArrayValues<T>{values})) return false;
  if (!array_) array_.emplace(box_, location_);
  parallel_for("given array", box_.local(), CopyArray<T>{values, array_->view()});
  device::synchronize();
  formula_.reset();
  return true;
}

template bool GivenValues::set(const StridedArray<float>& values);
template bool GivenValues::set(const StridedArray<double>& values);

GivenForce::GivenForce(const Grid& grid, const Box3& box)
    : values_{GivenValues(grid, box, components[0].location), GivenValues(grid, box, components[1].location),
              GivenValues(grid, box, components[2].location)} {}

void GivenForce::add(const VelocityToCorrect& /*velocity*/, const std::vector<TransportedField>& /*scalars*/,
                     double alpha_dt, VectorField& tendency, VectorField& star) const {
  const Box3 box = star.u.local_box();
  for (std::size_t n = 0; n < values_.size(); ++n) {
    const Forced to = forced(tendency, star, components[n], alpha_dt);
    values_[n].visit([&]<class Values>(const Values& values) {
      parallel_for("given force", box, AddGivenForce<Values>{to, values});
    });
  }
}

int GivenForce::words() const {
  int sum = 0;
  for (const GivenValues& values : values_)
    if (values.given()) sum += Forced::words + values.words();
  return sum;
}

RowTask GivenForce::row_task(const std::vector<TransportedField>& /*scalars*/, double alpha_dt, VectorField& tendency,
                             VectorField& star) const {
  const std::array<Forced, 3> to{forced(tendency, star, components[0], alpha_dt),
                                 forced(tendency, star, components[1], alpha_dt),
                                 forced(tendency, star, components[2], alpha_dt)};
  const int nx = star.u.box().nx();
  return [this, to, nx](const VelocityRow& row) {
    for (std::size_t n = 0; n < values_.size(); ++n) {
      const Forced here{to[n].tendency.seen_from(row.j, row.k), to[n].star.seen_from(row.j, row.k), to[n].alpha_dt};
      values_[n].visit_row(row.j, row.k, [&]<class Values>(const Values& values) {
        detail::for_row<Cell>(nx, 0, 0, AddGivenForce<Values>{here, values});
      });
    }
  };
}

void GivenForce::set_time(double time) {
  for (GivenValues& values : values_) values.set_time(time);
}

GivenSource::GivenSource(const Grid& grid, const Box3& box) : values_(grid, box, Location::center) {}

void GivenSource::add(const Box3& box, const SourceArrays& arrays) const {
  values_.visit([&]<class Values>(const Values& values) {
    parallel_for("given source", box, AddGivenSource<Values>{arrays, values});
  });
}

RowTask GivenSource::row_task(int nx, const SourceArrays& arrays) const {
  return [this, arrays, nx](const VelocityRow& row) {
    const SourceArrays here = arrays.seen_from(row.j, row.k);
    values_.visit_row(row.j, row.k, [&]<class Values>(const Values& values) {
      detail::for_row<Cell>(nx, 0, 0, AddGivenSource<Values>{here, values});
    });
  };
}

void GivenSource::set_time(double time) {
  values_.set_time(time);
}

}  // namespace sluice
