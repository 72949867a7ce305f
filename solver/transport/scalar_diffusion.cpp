#include "solver/transport/scalar_diffusion.hpp"

#include "core/device/parallel_for.hpp"

namespace sluice {

namespace {

/// f += value on one plane.
struct AddToPlane {
  View3<real> f;
  int plane;
  real value;
  SLUICE_INLINE void operator()(int i, int j, int) const { f(i, j, plane) += value; }
};

WallRow row_of(const GivenAtWall& wall) {
  return wall.is_value ? WallRow::dirichlet : WallRow::neumann;
}

}  // namespace

ScalarDiffusion::ScalarDiffusion(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                                 const FieldDescriptor& scalar, TridiagonalMethod method, Exchange& exchange)
    : grid_(&grid),
      at_wall_(scalar.given_at_wall),
      solver_(comm, decomposition, second_derivative_centers(grid.z_nodes(), row_of(at_wall_[0]), row_of(at_wall_[1])),
              method, exchange) {}

void ScalarDiffusion::solve(Field& star, double c) {
  // What is given at a wall goes to the right-hand side. Lz in the bottom row is
  // (c_1 - c_0)/(dz_c dz_0) - 2 (c_0 - c_wall)/dz_0^2, or (c_1 - c_0)/(dz_c dz_0) - (dc/dz)_wall/dz_0.
  const Box3& box = star.box();
  const std::int64_t last = grid_->cells()[2] - 1;
  const Box3 plane = box_of(box.nx(), box.ny(), 1);
  for (const bool top : {false, true}) {
    const GivenAtWall& wall = at_wall_[top ? 1 : 0];
    const bool owned = top ? box.hi[2] == last + 1 : box.lo[2] == 0;
    if (!owned || wall.value == 0) continue;
    const double dz = grid_->dz(top ? last : 0);
    const double change = wall.is_value ? 2 * c * wall.value / (dz * dz) : (top ? c : -c) * wall.value / dz;
    parallel_for("scalar at wall", plane, AddToPlane{star.view(), top ? box.nz() - 1 : 0, static_cast<real>(change)});
  }
  solver_.prepare(c);
  solver_.solve(star);
}

std::vector<double> ScalarDiffusion::response_to_uniform_source() const {
  return solver_.solve_profile(std::vector<double>(static_cast<std::size_t>(grid_->cells()[2]), 1.0));
}

}  // namespace sluice
