// Walls whose w follows from the flow: at the start of a substep they read it and set w of its end.
#include "solver/walls/wall_response.hpp"

#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"
#include "core/support/exact_sum.hpp"
#include "model/field_descriptor.hpp"

namespace sluice {

namespace {

struct OpposeFluctuation {
  View3<real> f;
  double mean, factor;
  SLUICE_INLINE void operator()(int i, int j, int) const {
    f(i, j, 0) = static_cast<real>(factor * (mean - static_cast<double>(f(i, j, 0))));
  }
};

/// Rows one after the other, from this one on.
struct UnpackRows {
  const real* rows;
  int first_j, nx;
  View3<real> to;
  SLUICE_INLINE void operator()(int i, int j, int) const {
    to(i, j, 0) = rows[static_cast<std::ptrdiff_t>(j - first_j) * nx + i];
  }
};

}  // namespace

double mean_over_wall(const Walls& walls, Walls::Side side, const Field& plane, const Grid& grid, MPI_Comm comm) {
  ExactSum sum;
  if (walls.owns(side)) sum = sum_of_plane(plane);
  const auto& cells = grid.cells();
  const double points = static_cast<double>(cells[0]) * static_cast<double>(cells[1]);
  return total(sum, comm) / points;
}

WallResponse::WallResponse(const ResponseSetup& setup) : setup_(setup), w_(&setup.walls.respond(setup.side)) {}

Box3 WallResponse::rows(const Box3& box, Order order) {
  const int reach = reach_of(order);
  return {{0, -reach, 0}, {box.nx(), box.ny() + reach, 1}};
}

VelocityAtWall WallResponse::at_wall(const VelocityToCorrect& velocity) const {
  const bool bottom = setup_.side == Walls::Side::bottom;
  const int last = setup_.decomposition.x_pencil(setup_.comm.rank()).nz() - 1;
  const int plane = bottom ? 0 : last;
  SLUICE_REQUIRE(!velocity.any() || !velocity.left().in_plane(plane), "the plane next to a wall is corrected at once");
  return {velocity.stored_u(), velocity.stored_v(), velocity.stored_w(), plane, bottom ? -1 : last + 1};
}

void WallResponse::oppose_fluctuation(double factor) {
  const double mean = mean_over_wall(setup_.walls, setup_.side, *w_, setup_.grid, setup_.comm.world());
  if (owns_wall()) parallel_for("fluctuation of w", rows(), OpposeFluctuation{w_->view(), mean, factor});
}

WallPlane WallResponse::named(const std::string& name, Field& plane) const {
  return {name + (setup_.side == Walls::Side::bottom ? "_bottom" : "_top"), setup_.side, &plane};
}

void restore(Field& plane, const std::vector<double>& whole_plane, const Grid& grid) {
  const auto& cells = grid.cells();
  SLUICE_REQUIRE(whole_plane.size() == static_cast<std::size_t>(cells[0] * cells[1]), "a plane has nx ny values");
  const Box3& box = plane.box();
  const int halo = plane.halo().y;
  std::vector<real> rows;
  for (std::int64_t j = box.lo[1] - halo; j < box.hi[1] + halo; ++j) {
    const std::int64_t row = ((j % cells[1]) + cells[1]) % cells[1];
    for (std::int64_t i = 0; i < cells[0]; ++i)
      rows.push_back(static_cast<real>(whole_plane[static_cast<std::size_t>(row * cells[0] + i)]));
  }
  const Buffer<real> values(rows);
  const Box3 with_halo{{0, -halo, 0}, {box.nx(), box.ny() + halo, 1}};
  parallel_for("restore a plane of a wall", with_halo, UnpackRows{values.data(), -halo, box.nx(), plane.view()});
  device::synchronize();
}

}  // namespace sluice
