// Bounds of views: what debug builds refuse. Compiled with SLUICE_DEBUG in every build, so without Sluice's libraries,
// in whose release builds a view has another size.
#include <gtest/gtest.h>

#include <vector>

#include "core/decomp/vector_view.hpp"
#include "core/decomp/view3.hpp"
#include "solver/momentum/plane_ring.hpp"

#ifndef SLUICE_DEBUG
#error "these tests need SLUICE_DEBUG"
#endif

namespace sluice {
namespace {

constexpr int nx = 5, ny = 4, nz = 3;
constexpr int halo_y = 3, halo_z = 1;

/// u, v and w with halos along y and z.
class Velocity {
 public:
  View3<real> view(std::size_t component) {
    View3<real> whole = contiguous_view(values_[component].data(), nx, ny + 2 * halo_y, nz + 2 * halo_z);
    return whole.seen_from(halo_y, halo_z);
  }
  VectorView<real> views() { return vector_view(view(0), view(1), view(2)); }

 private:
  std::vector<std::vector<real>> values_ =
      std::vector<std::vector<real>>(3, std::vector<real>(std::size_t{nx} * (ny + 2 * halo_y) * (nz + 2 * halo_z)));
};

/// Expects f(i, j, k) to be refused just outside of lo <= index < hi, on each of six sides, and accepted just inside.
template <class F>
void expect_bounds(const F& f, const int (&lo)[3], const int (&hi)[3]) {
  EXPECT_NO_THROW(f(lo[0], lo[1], lo[2]));
  EXPECT_NO_THROW(f(hi[0] - 1, hi[1] - 1, hi[2] - 1));
  for (int axis = 0; axis < 3; ++axis) {
    for (const int outside : {lo[axis] - 1, hi[axis]}) {
      int at[3] = {lo[0], lo[1], lo[2]};
      at[axis] = outside;
      EXPECT_THROW(f(at[0], at[1], at[2]), Error) << "axis " << axis << ", index " << outside;
    }
  }
}

TEST(Bounds, OfAView) {
  Velocity velocity;
  const View3<real> view = velocity.view(0);
  expect_bounds(view, {0, -halo_y, -halo_z}, {nx, ny + halo_y, nz + halo_z});
  expect_bounds(View3<const real>(view), {0, -halo_y, -halo_z}, {nx, ny + halo_y, nz + halo_z});
  expect_bounds(view.seen_from(2, -1), {0, -halo_y - 2, -halo_z + 1}, {nx, ny + halo_y - 2, nz + halo_z + 1});
  EXPECT_THROW(View3<real>()(0, 0, 0), Error);
}

TEST(Bounds, OfTheNeighbourhoodOfACell) {
  Velocity velocity;
  const Around around_cell = around(View3<const real>(velocity.view(0)), cell_in_row<Cell>(1, 2, 0, nx));
  expect_bounds(around_cell, {-1, -halo_y - 2, -halo_z}, {nx - 1, ny + halo_y - 2, nz + halo_z});
}

TEST(Bounds, OfThreeComponents) {
  Velocity velocity;
  const VectorView<real> views = velocity.views();
  const auto offset = [&](int i, int j, int k) { return views.offset(cell_in_row<Cell>(i, j, k, nx)); };
  expect_bounds(offset, {0, -halo_y, -halo_z}, {nx, ny + halo_y, nz + halo_z});
  const Around around_cell = views.around(views.v, cell_in_row<WideCell>(4, -1, 2, nx));
  expect_bounds(around_cell, {-4, -halo_y + 1, -halo_z - 2}, {nx - 4, ny + halo_y + 1, nz + halo_z - 2});
}

TEST(Bounds, ComponentsHaveOneLayout) {
  Velocity velocity;
  std::vector<real> values(std::size_t{nx} * ny * nz);
  EXPECT_THROW(vector_view(velocity.view(0), velocity.view(1), contiguous_view(values.data(), nx, ny, nz)), Error);
}

TEST(Bounds, OfARowOfAPlaneRing) {
  const Box3 box{.lo = {0, 0, 0}, .hi = {nx, ny, nz}};
  const State state(make_field(base_fields()[pressure_field], box, Order::fourth), {}, Order::fourth);
  PlaneRing<Order::fourth> ring(state, Metrics{}, nx, ny);
  constexpr int reach = WideCell::reach;
  ring.begin_block(1, 3, 0);
  ring.load(1);
  expect_bounds(ring.w(2, 0), {-reach, 1 - reach - 2, -1}, {nx + reach, 3 + reach - 2, 2});
  EXPECT_THROW(PlaneRing<Order::second>(state, Metrics{}, nx, ny).begin_block(0, ny, -1), Error)
      << "a plane beyond the halo";
}

TEST(Bounds, OfAFieldAroundAPaddedRow) {
  Velocity velocity;
  const PaddedAround p = padded_around(PaddedRow(nx), velocity.view(0), 1, 2);
  const auto in_row = [&](int i) { return p(i, 0, 0); };
  EXPECT_NO_THROW(in_row(-WideCell::reach));
  EXPECT_NO_THROW(in_row(nx - 1 + WideCell::reach));
  EXPECT_THROW(in_row(-WideCell::reach - 1), Error);
  EXPECT_THROW(in_row(nx + WideCell::reach), Error);
  EXPECT_NO_THROW(p(0, -halo_y - 1, 0));
  EXPECT_THROW(p(0, -halo_y - 2, 0), Error);
  EXPECT_NO_THROW(p(0, 0, 1));
  EXPECT_THROW(p(0, 0, 2), Error);
  EXPECT_THROW(p(-1, 1, 0), Error) << "other rows have no periodic neighbours";
}

TEST(Bounds, AnAssertionNamesConditionAndPlace) {
  try {
    Velocity().view(0)(nx, 0, 0);
    FAIL() << "no error was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::internal);
    EXPECT_NE(std::string(error.what()).find("index outside of a field"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("index_bounds.hpp:"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sluice
