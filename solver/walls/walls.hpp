#pragma once
#include "solver/state/flow_parameters.hpp"
#include "solver/state/state.hpp"

namespace sluice {

/// The wall conditions, as values of the halo planes beyond the walls. A wall is at k = -1/2: the halo value of u and v
/// mirrors the first one about the wall value (no-slip) or copies it (free-slip); w is zero on the wall itself; p and
/// phi copy (no gradient). Every function fills whole halo planes, y halo included; ranks without a wall do nothing.
/// Local.
class Walls {
 public:
  Walls(const Box3& box, std::int64_t nz, const WallCondition& bottom, const WallCondition& top);

  /// What the descriptor says of the field at walls.
  void apply(const FieldDescriptor& descriptor, Field& f) const;
  /// w = 0 on the walls: the halo plane below, the last plane above.
  void apply_normal(Field& w) const;
  /// Zero normal gradient.
  void apply_neumann(Field& p) const;

  const WallCondition& bottom() const { return bottom_; }
  const WallCondition& top() const { return top_; }
  bool owns_bottom() const { return owns_bottom_; }
  bool owns_top() const { return owns_top_; }

 private:
  void apply_tangential(Field& f) const;

  WallCondition bottom_, top_;
  bool owns_bottom_, owns_top_;
};

}  // namespace sluice
