#include "solver/transport/scalar_diffusion.hpp"

#include "core/device/parallel_for.hpp"
#include "solver/walls/add_wall_value.hpp"

namespace sluice {

namespace {

WallRow row_of(const GivenAtWall& wall) {
  return wall.is_value ? WallRow::dirichlet : WallRow::neumann;
}

}  // namespace

ScalarDiffusion::ScalarDiffusion(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                                 const Walls& walls, const FieldDescriptor& scalar, TridiagonalMethod method,
                                 Exchange& exchange)
    : grid_(&grid),
      walls_(&walls),
      scalar_(scalar),
      solver_(
          comm, decomposition,
          second_derivative_centers(grid.z_nodes(), row_of(scalar.given_at_wall[0]), row_of(scalar.given_at_wall[1])),
          method, exchange) {}

void ScalarDiffusion::solve(Field& star, double c) {
  // What is given at a wall goes to the right-hand side. Lz in the bottom row is
  // (c_1 - c_0)/(dz_c dz_0) - 2 (c_0 - c_wall)/dz_0^2, or (c_1 - c_0)/(dz_c dz_0) - (dc/dz)_wall/dz_0.
  const Box3& box = star.box();
  const Box3 plane = box_of(box.nx(), box.ny(), 1);
  for (const Walls::Side side : Walls::sides) {
    const WallValue value = walls_->given(side, scalar_);
    if (!walls_->owns(side) || value.is_zero()) continue;
    const bool top = side == Walls::Side::top;
    const bool is_value = scalar_.given_at_wall[static_cast<std::size_t>(side)].is_value;
    const double dz = grid_->dz(top ? grid_->cells()[2] - 1 : 0);
    const double factor = is_value ? 2 * c : top ? c : -c;
    parallel_for("scalar at wall", plane,
                 AddWallValue{star.view(), top ? box.nz() - 1 : 0, value, factor, is_value ? dz * dz : dz});
  }
  solver_.prepare(c);
  solver_.solve(star);
}

std::vector<double> ScalarDiffusion::response_to_uniform_source() const {
  return solver_.solve_profile(std::vector<double>(static_cast<std::size_t>(grid_->cells()[2]), 1.0));
}

}  // namespace sluice
