#include "solver/momentum/implicit_diffusion.hpp"

#include "core/device/parallel_for.hpp"

namespace sluice {

namespace {

struct AddToPlane {
  View3<real> f;
  int plane;
  real value;
  SLUICE_INLINE void operator()(int i, int j, int) const { f(i, j, plane) += value; }
};

WallRow row_of(const WallCondition& wall) {
  return wall.kind == WallKind::no_slip ? WallRow::dirichlet : WallRow::neumann;
}

}  // namespace

ImplicitDiffusion::ImplicitDiffusion(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                                     const Walls& walls, TridiagonalMethod method, Exchange& exchange)
    : grid_(&grid),
      walls_(&walls),
      tangential_(comm, decomposition,
                  second_derivative_centers(grid.z_nodes(), row_of(walls.bottom()), row_of(walls.top())), method,
                  exchange),
      normal_(comm, decomposition, second_derivative_faces(grid.z_nodes()), method, exchange) {}

void ImplicitDiffusion::prepare(double c) {
  c_ = c;
  tangential_.prepare(c);
  normal_.prepare(c);
}

void ImplicitDiffusion::solve(VectorField& star) {
  add_wall_values(star.u, walls_->bottom().u, walls_->top().u);
  add_wall_values(star.v, walls_->bottom().v, walls_->top().v);
  walls_->apply_normal(star.w);
  tangential_.solve(star.u);
  tangential_.solve(star.v);
  normal_.solve(star.w);
}

void ImplicitDiffusion::add_wall_values(Field& f, double bottom_value, double top_value) const {
  // Lz in a wall row is (u_1 - u_0)/(dz_c dz_0) - 2 (u_0 - u_wall)/dz_0^2: the known u_wall goes to the right-hand
  // side.
  const Box3 plane = box_of(f.box().nx(), f.box().ny(), 1);
  const auto add = [&](const WallCondition& wall, double value, std::int64_t k, int local_k) {
    if (wall.kind != WallKind::no_slip || value == 0) return;
    const double dz = grid_->dz(k);
    parallel_for("wall velocity", plane, AddToPlane{f.view(), local_k, static_cast<real>(c_ * 2 * value / (dz * dz))});
  };
  if (walls_->owns_bottom()) add(walls_->bottom(), bottom_value, 0, 0);
  if (walls_->owns_top()) add(walls_->top(), top_value, grid_->cells()[2] - 1, f.box().nz() - 1);
}

std::vector<double> ImplicitDiffusion::response_to_uniform_force() const {
  return tangential_.solve_profile(std::vector<double>(static_cast<std::size_t>(grid_->cells()[2]), 1.0));
}

}  // namespace sluice
