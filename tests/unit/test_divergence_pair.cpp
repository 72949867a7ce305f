// The divergence of two neighbouring cells at a time, as a GPU's transform along x forms it, against that of one cell.
#include <gtest/gtest.h>

#include <vector>

#include "core/support/random.hpp"
#include "poisson/divergence/divergence_rows.hpp"

namespace sluice {
namespace {

/// A plane of rows with two rows around them, and the plane below.
class Velocity {
 public:
  explicit Velocity(int nx, int ny) : nx_(nx), ny_(ny) {
    for (std::size_t n = 0; n < 3; ++n) {
      components_[n].resize(static_cast<std::size_t>(2 * plane()));
      for (std::size_t at = 0; at < components_[n].size(); ++at)
        components_[n][at] = static_cast<real>(uniform01(n + 1, at) - 0.5);
    }
  }

  VectorView<const real> view() const { return vector_view(component(0), component(1), component(2)); }

 private:
  std::ptrdiff_t plane() const { return std::ptrdiff_t{nx_} * (ny_ + 4); }
  View3<const real> component(std::size_t n) const {
    return contiguous_view(components_[n].data(), nx_, ny_ + 4, 2).seen_from(2, 1);
  }

  int nx_, ny_;
  std::vector<real> components_[3];
};

template <Order order>
void expect_both_cells_of_all_pairs() {
  const int nx = 16, ny = 3;
  const Velocity velocity(nx, ny);
  const real dz = real(0.7), inv_dz = 1 / dz;
  const DivergenceRows rows{velocity.view(), order, real(1.3), real(0.6), &inv_dz, &dz, real(9.1)};
  for (int j = 0; j < ny; ++j) {
    for (int p = 0; p < nx / 2; ++p) {
      const auto pair = DivergencePair<order>::read(rows.star, p, nx / 2, j, 0);
      const ComplexPair both = pair.divergence(rows, inv_dz);
      const auto left = cell_in_row<op::CellFor<order>>(2 * p, j, 0, nx);
      const auto right = cell_in_row<op::CellFor<order>>(2 * p + 1, j, 0, nx);
      EXPECT_NEAR(both.re, rows.at<order>(left), 100 * real_epsilon) << p;
      EXPECT_NEAR(both.im, rows.at<order>(right), 100 * real_epsilon) << p;
      EXPECT_EQ(pair.sum_of_u(), static_cast<double>(rows.star.u[rows.star.offset(left)]) +
                                     static_cast<double>(rows.star.u[rows.star.offset(right)]));
    }
  }
}

TEST(DivergencePair, IsThatOfBothCells) {
  expect_both_cells_of_all_pairs<Order::second>();
  expect_both_cells_of_all_pairs<Order::fourth>();
}

}  // namespace
}  // namespace sluice
