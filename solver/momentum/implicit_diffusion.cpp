#include "solver/momentum/implicit_diffusion.hpp"

#include "core/device/parallel_for.hpp"
#include "solver/walls/add_wall_value.hpp"

namespace sluice {

ImplicitDiffusion::ImplicitDiffusion(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                                     const Walls& walls, TridiagonalMethod method, Exchange& exchange)
    : grid_(&grid),
      walls_(&walls),
      solver_(comm, decomposition,
              {second_derivative_centers(grid.z_nodes(), row_of(walls.condition(Walls::Side::bottom)),
                                         row_of(walls.condition(Walls::Side::top))),
               second_derivative_faces(grid.z_nodes())},
              components, method, exchange) {}

void ImplicitDiffusion::prepare(double c) {
  c_ = c;
  solver_.prepare(c);
}

void ImplicitDiffusion::solve(VectorField& star) {
  add_wall_values(star.u);
  add_wall_values(star.v);
  add_wall_values(star.w);
  walls_->apply_normal(star.w);
  solver_.solve({{&star.u, at_centers}, {&star.v, at_centers}, {&star.w, at_faces}});
}

void ImplicitDiffusion::add_wall_values(Field& f) const {
  // The known wall velocity goes to the right-hand side. For u and v, Lz in a wall row is
  // (u_1 - u_0)/(dz_c dz_0) - 2 (u_0 - u_wall)/(dz_0 (dz_0 + 2 l)), where l is the slip length; for w, in the row next
  // to the wall,
  // ((w_1 - w_0)/dz_1 - (w_0 - w_wall)/dz_0)/dz_c.
  const Box3 plane = box_of(f.box().nx(), f.box().ny(), 1);
  const bool normal = f.location() == Location::z_face;
  for (const Walls::Side side : Walls::sides) {
    const WallValue value = walls_->velocity(side, f.location());
    const bool set = normal || walls_->condition(side).drags();
    if (!walls_->owns(side) || !set || value.is_zero()) continue;
    const bool bottom = side == Walls::Side::bottom;
    const std::int64_t last = grid_->cells()[2] - 1;
    const double dz = grid_->dz(bottom ? 0 : last);
    const int local_last = f.box().nz() - 1;
    if (normal) {
      const double to_next = 2 * grid_->dz_center(bottom ? 0 : last - 1);
      parallel_for("wall velocity", plane,
                   AddWallValue{f.view(), bottom ? 0 : local_last - 1, value, c_ * 2, dz * to_next});
    } else {
      parallel_for("wall velocity", plane,
                   AddWallValue{f.view(), bottom ? 0 : local_last, value, c_ * 2,
                                dz * (dz + 2 * walls_->condition(side).slip_length)});
    }
  }
}

std::vector<double> ImplicitDiffusion::response_to_uniform_force() const {
  return solver_.solve_profile(std::vector<double>(static_cast<std::size_t>(grid_->cells()[2]), 1.0));
}

}  // namespace sluice
