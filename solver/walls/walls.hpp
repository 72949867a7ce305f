#pragma once
#include <mpi.h>

#include <array>
#include <optional>

#include "core/flow/field_descriptor.hpp"
#include "core/flow/parameters.hpp"
#include "solver/grid/grid.hpp"
#include "solver/walls/wall_motion.hpp"

namespace sluice {

/// The wall conditions, as values of the halo planes beyond the walls. A wall is at k = -1/2: the halo value of u and v
/// mirrors the first one about the wall's velocity (no-slip) or copies it (free-slip); w has the wall's velocity on the
/// wall itself; p and phi copy (no gradient). A wall's velocity is constant, as its WallCondition says, or moves.
/// The functions that apply conditions fill whole halo planes, y halo included; ranks without a wall do nothing. They
/// are local.
class Walls {
 public:
  enum class Side { bottom, top };
  static constexpr std::array sides{Side::bottom, Side::top};

  /// `grid` must outlive the walls.
  Walls(const Grid& grid, const Box3& box, const WallCondition& bottom, const WallCondition& top, MPI_Comm comm);

  /// From now on one component of a wall's velocity follows `motion`: u, v or w by its location, u and v of no-slip
  /// walls only. To be called on all ranks, before set_time.
  void move(Side side, Location component, WallMotion motion);
  /// Sets the velocity of moving walls to that at `time`. Collective. Throws Error(usage) where a wall lets a net
  /// volume through: the mean of w over each wall must be 0.
  void set_time(double time);

  /// What the descriptor says of the field at walls.
  void apply(const FieldDescriptor& descriptor, Field& f) const;
  /// w on the walls: the halo plane below; above, the last plane and the halo plane.
  void apply_normal(Field& w) const;
  /// Zero normal gradient.
  void apply_neumann(Field& p) const;

  const WallCondition& condition(Side side) const { return wall(side).condition; }
  bool owns(Side side) const { return wall(side).owned; }
  /// One component of a wall's velocity on the rank's points, at the time last set.
  WallVelocity velocity(Side side, Location component) const;

 private:
  struct Moving {
    WallMotion motion;
    Field plane;
  };
  struct Wall {
    WallCondition condition;
    bool owned = false;
    std::array<std::optional<Moving>, 3> moving;  ///< u, v, w
  };

  const Wall& wall(Side side) const { return walls_[static_cast<std::size_t>(side)]; }
  void apply_tangential(Field& f) const;
  void require_no_net_flux(Side side, const Field& w, double time) const;

  const Grid* grid_;
  Box3 box_;
  std::array<Wall, 2> walls_;
  MPI_Comm comm_;
};

}  // namespace sluice
