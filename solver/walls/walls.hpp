#pragma once
#include <mpi.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/decomp/field.hpp"
#include "core/support/exact_sum.hpp"
#include "model/field_descriptor.hpp"
#include "model/parameters.hpp"
#include "poisson/tridiagonal/tridiagonal_rows.hpp"
#include "solver/grid/grid.hpp"
#include "solver/walls/wall_motion.hpp"

namespace sluice {

/// The rows of u and v next to a wall in matrices along z.
inline WallRow row_of(const WallCondition& wall) {
  return wall.drags() ? WallRow{wall.slip_length} : WallRow::neumann;
}

/// Those of a scalar.
inline WallRow row_of(const GivenAtWall& given) {
  return given.is_value ? WallRow::dirichlet : WallRow::neumann;
}

/// Whether what enters through one wall leaves through the other, but for rounding: the means of w over the walls are
/// equal. `magnitude`: the mean of |w| over the bottom wall plus that over the top wall.
bool fluxes_balance(double bottom, double top, double magnitude);

/// Sum over the rank's own cells of a plane; its value is NaN if any is not finite. Local.
ExactSum sum_of_plane(const Field& plane);

/// Applies the wall conditions by filling the halo planes beyond the walls. A wall is at k = -1/2. The halo value of u
/// and v mirrors the first one about the wall's velocity (no-slip), copies it (free-slip) or is between (slip length);
/// w on the wall has the wall's velocity; p and phi are copied (no gradient). A wall's velocity is constant or varies,
/// as its WallCondition says, or follows a motion set by `move`; w may also respond to the flow; other code may
/// prescribe values that stay until it changes them. What is given for scalars is constant or varies, as their
/// descriptors say. The functions that apply conditions fill whole halo planes, y halo included, and do nothing on
/// ranks without a wall. They are local.
class Walls {
 public:
  enum class Side { bottom, top };
  static constexpr std::array sides{Side::bottom, Side::top};
  static constexpr std::array components{Location::x_face, Location::y_face, Location::z_face};

  /// `grid` must outlive the walls. `scalars`: those whose conditions `apply` will be asked for. `periodic_z`: there
  /// are no walls; no rank owns one.
  Walls(const Grid& grid, const Box3& box, const WallCondition& bottom, const WallCondition& top,
        const std::vector<FieldDescriptor>& scalars, MPI_Comm comm, bool periodic_z = false);

  /// Bytes of the planes of such walls on a rank that owns `box`; motions set by `move` are left out.
  static double memory(const Box3& box, const WallCondition& bottom, const WallCondition& top,
                       const std::vector<FieldDescriptor>& scalars);

  /// Makes one component of a wall's velocity follow `motion`. Its location selects u, v or w; u and v of no-slip walls
  /// only. Call on all ranks, before set_time.
  void move(Side side, Location component, WallMotion motion);
  /// Sets the velocity of moving walls, and scalars that vary on a wall, to those at `time`; w that responds to the
  /// flow stays. Collective. Throws Error(numerics) if inflow and outflow through the walls differ: the mean of w must
  /// be the same on both.
  void set_time(double time);
  /// Whether a motion sets w on a wall, so that set_time may find that inflow and outflow differ.
  bool pump() const;
  /// Makes w on a wall the values that are put into this plane, y halo included; at first 0. Their mean must be 0.
  Field& respond(Side side);

  /// Makes one component of a wall's velocity the values that other code puts into this plane: the rank's part in x and
  /// y, in units of U, in device memory; at first the velocity that the wall has. They stay until they are changed.
  /// Call it on all ranks, and write the rank's own cells there; those of ranks without the wall are not read.
  /// TimeStepper::project, and TimeStepper::fill_halos if no w was changed, then bring the flow up to date; they fill
  /// the y halo and check the fluxes. `halo_rows`: as the flow's fields have them. Throws Error(usage) for u and v of a
  /// free-slip wall, and where the case sets this component by a formula or an actuation. Local.
  Field& prescribe(Side side, Location component, int halo_rows);
  /// Throws like prescribe(), and changes nothing. Local.
  void require_prescribable(Side side, Location component) const;
  /// The plane of prescribe(); null without one. Local.
  Field* prescribed(Side side, Location component);
  const Field* prescribed(Side side, Location component) const;
  std::vector<Field*> prescribed();
  /// Returns to the velocity of the case. Call it on all ranks, then as after changes of the plane. Local.
  void release(Side side, Location component);
  /// Throws Error(usage) with both means if w is prescribed and the means over the walls differ, or are not finite, and
  /// removes what rounding has left of their difference. Collective.
  void balance_prescribed();
  /// Puts these planes, null for a wall that keeps its own, into prescribed w after the same checks. If it throws, no
  /// wall has changed. Collective.
  void accept(const std::array<Field*, 2>& w_of_walls);

  /// Applies the condition that the descriptor gives for the field at walls.
  void apply(const FieldDescriptor& descriptor, Field& f) const;
  /// Sets w on the walls: below, the halo plane; above, the last plane and the halo plane.
  void apply_normal(Field& w) const;

  const WallCondition& condition(Side side) const { return wall(side).condition; }
  bool owns(Side side) const { return wall(side).owned; }
  /// One component of a wall's velocity on the rank's points at the last set_time.
  WallValue velocity(Side side, Location component) const;
  /// The same, into the own cells of a plane like the rank's x pencil. Does not wait for it.
  void copy_velocity(Side side, Location component, Field& to) const;
  /// What is known of a field at a wall: the velocity of a wall that drags it along or that it cannot pass, the value
  /// of a scalar or its derivative along z, likewise.
  WallValue value(Side side, const FieldDescriptor& field) const;
  /// The condition on a field at centres in z.
  WallRow row(Side side, const FieldDescriptor& field) const;

 private:
  struct Moving {
    WallMotion motion;  ///< none: the plane is set from outside
    Field plane;
    bool prescribed = false;  ///< by prescribe()
  };
  /// Planes of w on both walls, null where it is uniform or responds with the mean 0; their means, and the sum of the
  /// means of |w|.
  struct Fluxes {
    std::array<Field*, 2> planes;
    double bottom, top, magnitude;
    bool balance() const { return fluxes_balance(bottom, top, magnitude); }
  };
  struct Wall {
    WallCondition condition;
    bool owned = false;
    std::array<double, 3> constant;               ///< u, v, w; 0 where the velocity varies
    std::array<std::optional<Moving>, 3> moving;  ///< u, v, w
    std::map<std::string, Moving> scalars;        ///< those that vary, by name
  };

  const Wall& wall(Side side) const { return walls_[static_cast<std::size_t>(side)]; }
  void apply_at_centers(const FieldDescriptor& descriptor, Field& f) const;
  Moving& moving_component(Side side, Location component);
  Field plane_at(Location location) const;
  void fill(Moving& moving, double time) const;
  void balance_fluxes(double time);
  Fluxes fluxes(const std::array<Field*, 2>& planes) const;
  /// Removes what rounding has left over of the difference. Without it, (2) has a solution to round-off.
  static void remove_rest(const Fluxes& fluxes);

  const Grid* grid_;
  Box3 box_;
  std::array<Wall, 2> walls_;
  MPI_Comm comm_;
};

/// A component of a wall's velocity that is prescribed: Walls::prescribe.
struct PrescribedWall {
  Walls::Side side;
  Location component;
  Field plane;
};

}  // namespace sluice
