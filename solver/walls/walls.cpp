// Conditions at the walls: sets what moves at the start of a substep, and fills the halo planes at its end.
#include "solver/walls/walls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/decomp/field_copy.hpp"
#include "core/device/parallel_for.hpp"
#include "core/device/together.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

/// Fills the halo plane at a wall. One kernel for all conditions, so that a GPU can do all fields in one launch.
struct FillHalo {
  static constexpr std::size_t most_together = 128;  ///< kernels in a launch: launch_cuda.hpp
  enum class Condition {
    value,        ///< f(halo) = 2 value - f(inside): their mean is the wall's value
    slip,         ///< f(halo) such that at the wall, f - value = slip_length df/dn
    no_gradient,  ///< f(halo) = f(inside)
    gradient,     ///< f(halo) = f(inside) +- dz value
    set,          ///< f(halo) = value
  };
  View3<real> f;
  int inside, halo;
  Condition condition;
  WallValue value = {};
  double slip_length = 0, dz = 0;  ///< dz: with the sign of the gradient's direction, for a gradient

  SLUICE_INLINE void operator()(int i, int j, int) const {
    real& to = f(i, j, halo);
    switch (condition) {
      case Condition::value:
        to = static_cast<real>(2 * value(i, j)) - f(i, j, inside);
        break;
      case Condition::slip: {
        const double sum = 2 * dz * value(i, j) + (2 * slip_length - dz) * static_cast<double>(f(i, j, inside));
        to = static_cast<real>(sum / (2 * slip_length + dz));
        break;
      }
      case Condition::no_gradient:
        to = f(i, j, inside);
        break;
      case Condition::gradient:
        to = f(i, j, inside) + static_cast<real>(dz * value(i, j));
        break;
      case Condition::set:
        to = static_cast<real>(value(i, j));
        break;
    }
  }
};

struct SetPlane {
  View3<real> f;
  int plane;
  WallValue value;
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

struct SumOfPlane {
  View3<const real> f;
  SLUICE_INLINE void operator()(Cell c, double (&value)[1]) const { value[0] = static_cast<double>(f(c.i, c.j, 0)); }
};

struct AddToPlane {
  View3<real> f;
  double value;
  SLUICE_INLINE void operator()(int i, int j, int) const { f(i, j, 0) = static_cast<real>(f(i, j, 0) + value); }
};

/// What a formula gives at a wall. x of the formula is that of the laboratory, within the box; the points are those of
/// the grid, which may move.
struct FormulaMotion {
  FormulaProgram formula;
  double divisor, z, grid_velocity, length_x;
  SLUICE_INLINE double operator()(double x, double y, double t) const {
    if (grid_velocity != 0) {
      x += grid_velocity * t;
      x -= length_x * std::floor(x / length_x);
    }
    return formula({x, y, z, t}) / divisor;
  }
};

constexpr const char* name_of_loop = "halo at a wall";

constexpr HaloWidth plane_halo{reach_of(Order::fourth), 0};  ///< as wide as any field's

Box3 plane_of(Box3 box) {
  box.lo[2] = 0;
  box.hi[2] = 1;
  return box;
}

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

ExactSum sum_of_plane(const Field& plane) {
  return reduce_planes<1>("sum over a wall", plane.local_box(), SumOfPlane{plane.view()}).front()[0];
}

bool fluxes_balance(double bottom, double top, double magnitude) {
  constexpr double tolerance = 1e-6 + 100 * real_epsilon;
  return std::abs(bottom - top) <= tolerance * magnitude;
}

Walls::Walls(const Grid& grid, const Box3& box, const WallCondition& bottom, const WallCondition& top,
             const std::vector<FieldDescriptor>& scalars, MPI_Comm comm, bool periodic_z)
    : grid_(&grid),
      box_(box),
      walls_{Wall{bottom, !periodic_z && box.lo[2] == 0, {}, {}, {}},
             Wall{top, !periodic_z && box.hi[2] == grid.cells()[2], {}, {}, {}}},
      comm_(comm) {
  for (const Side side : sides) {
    Wall& wall = walls_[static_cast<std::size_t>(side)];
    const double z = side == Side::bottom ? 0 : grid.length_z();
    const auto motion = [&](const Formula& formula, double divisor) {
      return wall_motion(FormulaMotion{formula.program(), divisor, z, grid.velocity(), grid.length_x()});
    };
    for (const Location component : components) {
      const std::size_t n = index_of(component);
      const Formula velocity = wall.condition.total_velocity(n);
      wall.constant[n] = velocity.is_constant() ? velocity.constant() : 0;
      if (!velocity.is_constant()) move(side, component, motion(velocity, 1));
    }
    for (const FieldDescriptor& scalar : scalars) {
      const GivenAtWall& given = scalar.given_at_wall[static_cast<std::size_t>(side)];
      if (!given.varies()) continue;
      wall.scalars.emplace(scalar.name, Moving{motion(given.formula, given.divisor), plane_at(scalar.location)});
    }
  }
}

double Walls::memory(const Box3& box, const WallCondition& bottom, const WallCondition& top,
                     const std::vector<FieldDescriptor>& scalars) {
  int planes = 0;
  for (const WallCondition* wall : {&bottom, &top}) {
    planes += wall->actuation.responds() ? 1 : 0;
    for (std::size_t n = 0; n < wall->velocity.size(); ++n) planes += wall->total_velocity(n).is_constant() ? 0 : 1;
  }
  for (const FieldDescriptor& scalar : scalars) {
    for (const GivenAtWall& given : scalar.given_at_wall) planes += given.varies() ? 1 : 0;
  }
  return planes * Field::memory(plane_of(box), 0, plane_halo);
}

Field Walls::plane_at(Location location) const {
  return Field(plane_of(box_), location, 0, plane_halo);
}

Walls::Moving& Walls::moving_component(Side side, Location component) {
  const std::size_t n = index_of(component);
  Wall& moved = walls_[static_cast<std::size_t>(side)];
  SLUICE_REQUIRE(component == Location::z_face || moved.condition.drags(),
                 "a free-slip wall does not drag the fluid along");
  moved.constant[n] = 0;
  return moved.moving[n].emplace(Moving{{}, plane_at(component)});
}

void Walls::move(Side side, Location component, WallMotion motion) {
  moving_component(side, component).motion = std::move(motion);
}

Field& Walls::respond(Side side) {
  return moving_component(side, Location::z_face).plane;
}

void Walls::require_prescribable(Side side, Location component) const {
  const std::size_t n = index_of(component);
  const char* const name = side == Side::bottom ? "bottom" : "top";
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::usage, fmt::format("{} of the {} wall cannot be set: {}", "uvw"[n], name, why));
  };
  if (component != Location::z_face && !condition(side).drags())
    refuse("a free-slip wall does not drag the fluid along");
  const auto& moving = wall(side).moving[n];
  if (!moving || moving->prescribed) return;
  if (moving->motion && !condition(side).velocity[n].is_constant())
    refuse(fmt::format("walls.{}.velocity[{}] of the case is a formula", name, n));
  refuse(condition(side).actuation.active() ? fmt::format("walls.{}.actuation of the case sets it", name)
                                            : "a motion sets it");
}

Field& Walls::prescribe(Side side, Location component, int halo_rows) {
  require_prescribable(side, component);
  if (Field* const known = prescribed(side, component)) return *known;
  const std::size_t n = index_of(component);
  const double uniform = wall(side).constant[n];
  Moving& moving = moving_component(side, component);
  moving.prescribed = true;
  moving.plane = Field(plane_of(box_), component, 0, {halo_rows, 0});
  if (uniform != 0)
    parallel_for("velocity of a wall", plane_of(moving.plane), SetPlane{moving.plane.view(), 0, {uniform}});
  return moving.plane;
}

Field* Walls::prescribed(Side side, Location component) {
  auto& moving = walls_[static_cast<std::size_t>(side)].moving[index_of(component)];
  return moving && moving->prescribed ? &moving->plane : nullptr;
}

const Field* Walls::prescribed(Side side, Location component) const {
  const auto& moving = wall(side).moving[index_of(component)];
  return moving && moving->prescribed ? &moving->plane : nullptr;
}

std::vector<Field*> Walls::prescribed() {
  std::vector<Field*> planes;
  for (const Side side : sides) {
    for (const Location component : components) {
      if (Field* const plane = prescribed(side, component)) planes.push_back(plane);
    }
  }
  return planes;
}

void Walls::release(Side side, Location component) {
  const std::size_t n = index_of(component);
  Wall& released = walls_[static_cast<std::size_t>(side)];
  if (prescribed(side, component) == nullptr) return;
  released.moving[n].reset();
  released.constant[n] = released.condition.total_velocity(n).constant();
}

void Walls::set_time(double time) {
  for (Wall& wall : walls_) {
    for (auto& moving : wall.moving) {
      if (moving && moving->motion) fill(*moving, time);
    }
    for (auto& [name, scalar] : wall.scalars) fill(scalar, time);
  }
  balance_fluxes(time);
}

bool Walls::pump() const {
  for (const Wall& wall : walls_) {
    if (wall.moving[2] && wall.moving[2]->motion) return true;
  }
  return false;
}

void Walls::fill(Moving& moving, double time) const {
  Field& plane = moving.plane;
  const WallPoints points{plane.location() == Location::x_face ? 1.0 : 0.5,
                          plane.location() == Location::y_face ? 1.0 : 0.5,
                          grid_->dx(),
                          grid_->dy(),
                          static_cast<int>(box_.lo[1]),
                          static_cast<int>(grid_->cells()[1])};
  moving.motion(plane, points, time);
}

Walls::Fluxes Walls::fluxes(const std::array<Field*, 2>& planes) const {
  constexpr std::size_t w = 2;
  std::array<ExactSum, 4> sums;  // of w and |w| over the bottom wall, and over the top wall
  for (std::size_t n = 0; n < planes.size(); ++n) {
    if (planes[n] == nullptr || !walls_[n].owned) continue;
    const auto here =
        reduce_planes<2>("flux through a wall", planes[n]->local_box(), NormalVelocity{planes[n]->view()}).front();
    std::ranges::copy(here, sums.begin() + static_cast<std::ptrdiff_t>(2 * n));
  }
  all_reduce(sums, comm_);
  const double points = static_cast<double>(grid_->cells()[0]) * static_cast<double>(grid_->cells()[1]);
  const auto uniform = [&](std::size_t n) { return planes[n] == nullptr ? walls_[n].constant[w] : 0; };
  return {planes, sums[0].value() / points + uniform(0), sums[2].value() / points + uniform(1),
          (sums[1].value() + sums[3].value()) / points + std::abs(uniform(0)) + std::abs(uniform(1))};
}

void Walls::remove_rest(const Fluxes& fluxes) {
  const auto varying = std::ranges::count_if(fluxes.planes, [](const Field* plane) { return plane != nullptr; });
  const double rest = (fluxes.top - fluxes.bottom) / static_cast<double>(varying);
  for (std::size_t n = 0; n < fluxes.planes.size(); ++n) {
    Field* const plane = fluxes.planes[n];
    if (plane == nullptr || rest == 0) continue;
    parallel_for("flux through a wall", plane_of(*plane), AddToPlane{plane->view(), n == 0 ? rest : -rest});
  }
}

void Walls::balance_fluxes(double time) {
  std::array<Field*, 2> planes{};
  bool any_motion = false;
  for (std::size_t n = 0; n < walls_.size(); ++n) {
    auto& moving = walls_[n].moving[2];
    if (!moving || !(moving->motion || moving->prescribed)) continue;
    planes[n] = &moving->plane;
    any_motion = any_motion || moving->motion;
  }
  if (!any_motion) {
    const bool any_prescribed = planes[0] != nullptr || planes[1] != nullptr;  // balance_prescribed() checks them
    if (any_prescribed || wall(Side::bottom).constant[2] == wall(Side::top).constant[2]) return;
  }
  Fluxes found = fluxes(planes);
  if (!found.balance())
    throw Error(ExitCode::numerics, "walls: " + text_of_unbalanced_fluxes(found.bottom, found.top, time));
  for (std::size_t n = 0; n < walls_.size(); ++n) {  // what is prescribed stays
    if (planes[n] != nullptr && walls_[n].moving[2]->prescribed) found.planes[n] = nullptr;
  }
  remove_rest(found);
}

void Walls::balance_prescribed() {
  std::array<Field*, 2> planes{};
  for (const Side side : sides) planes[static_cast<std::size_t>(side)] = prescribed(side, Location::z_face);
  accept(planes);
}

void Walls::accept(const std::array<Field*, 2>& w_of_walls) {
  if (w_of_walls[0] == nullptr && w_of_walls[1] == nullptr) return;
  std::array<Field*, 2> planes = w_of_walls;
  for (const Side side : sides) {
    auto& moving = walls_[static_cast<std::size_t>(side)].moving[2];
    Field*& plane = planes[static_cast<std::size_t>(side)];
    if (plane == nullptr && moving && (moving->motion || moving->prescribed)) plane = &moving->plane;
  }
  Fluxes found = fluxes(planes);
  if (!std::isfinite(found.magnitude))
    throw Error(ExitCode::usage, "walls: a value of w, the wall-normal velocity, is not finite");
  if (!found.balance()) {
    throw Error(
        ExitCode::usage,
        fmt::format("walls: the mean of w, the wall-normal velocity, is {:.6g} on the bottom wall and {:.6g} on "
                    "the top wall; it must be the same on both, since what enters must leave",
                    found.bottom, found.top));
  }
  for (std::size_t n = 0; n < planes.size(); ++n) found.planes[n] = w_of_walls[n] != nullptr ? w_of_walls[n] : nullptr;
  // Values from which a mean was subtracted keep their bits.
  if (std::abs(found.bottom - found.top) > 4 * real_epsilon * found.magnitude) remove_rest(found);
  for (const Side side : sides) {
    Field* const from = w_of_walls[static_cast<std::size_t>(side)];
    Field* const to = prescribed(side, Location::z_face);
    if (from == nullptr) continue;
    SLUICE_REQUIRE(to != nullptr, "w of this wall is not prescribed");
    if (from != to) copy_cells(*from, *to);
  }
}

WallValue Walls::velocity(Side side, Location component) const {
  const std::size_t n = index_of(component);
  const auto& moving = wall(side).moving[n];
  return {wall(side).constant[n], moving ? moving->plane.view() : View3<const real>{}};
}

void Walls::copy_velocity(Side side, Location component, Field& to) const {
  parallel_for("velocity of a wall", to.local_box(), SetPlane{to.view(), 0, velocity(side, component)});
}

WallValue Walls::value(Side side, const FieldDescriptor& field) const {
  switch (field.at_wall) {
    case AtWall::tangential_velocity:
      return condition(side).drags() ? velocity(side, field.location) : WallValue{};
    case AtWall::normal_velocity:
      return velocity(side, field.location);
    case AtWall::no_gradient:
      return {};
    case AtWall::given:
      break;
  }
  const GivenAtWall& given = field.given_at_wall[static_cast<std::size_t>(side)];
  if (!given.varies()) return {given.constant()};
  return {0, wall(side).scalars.at(field.name).plane.view()};
}

WallRow Walls::row(Side side, const FieldDescriptor& field) const {
  if (field.at_wall == AtWall::tangential_velocity) return row_of(condition(side));
  if (field.at_wall == AtWall::given) return row_of(field.given_at_wall[static_cast<std::size_t>(side)]);
  return WallRow::neumann;
}

void Walls::apply(const FieldDescriptor& descriptor, Field& f) const {
  const device::Independent independent;
  if (descriptor.at_wall == AtWall::normal_velocity) {
    apply_normal(f);
  } else {
    apply_at_centers(descriptor, f);
  }
}

void Walls::apply_at_centers(const FieldDescriptor& descriptor, Field& f) const {
  for (const Side side : sides) {
    if (!owns(side)) continue;
    const auto [inside, halo] = planes_at(side, f);
    const WallRow condition = row(side, descriptor);
    const WallValue given = value(side, descriptor);
    const bool top = side == Side::top;
    const double dz = grid_->dz(top ? grid_->cells()[2] - 1 : 0);
    FillHalo fill{f.view(), inside, halo, FillHalo::Condition::value, given, condition.slip_length, dz};
    if (condition == WallRow::neumann) {
      fill.condition = given.is_zero() ? FillHalo::Condition::no_gradient : FillHalo::Condition::gradient;
      fill.dz = top ? dz : -dz;
    } else if (condition != WallRow::dirichlet) {
      fill.condition = FillHalo::Condition::slip;
    }
    parallel_for(name_of_loop, plane_of(f), fill);
  }
}

void Walls::apply_normal(Field& w) const {
  const device::Independent independent;
  for (const Side side : sides) {
    if (!owns(side)) continue;
    const auto [inside, halo] = planes_at(side, w);
    const WallValue value = velocity(side, Location::z_face);
    const auto set = [&](int plane) {
      parallel_for(name_of_loop, plane_of(w), FillHalo{w.view(), inside, plane, FillHalo::Condition::set, value});
    };
    if (side == Side::top) set(inside);
    set(halo);
  }
}

}  // namespace sluice
