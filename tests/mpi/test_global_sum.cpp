// Sums over the whole grid are the same to the bit on every process grid.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/field.hpp"
#include "core/device/parallel_for.hpp"
#include "core/support/random.hpp"

namespace sluice {
namespace {

using Cells = std::array<std::int64_t, 3>;

struct CubeOfValue {
  View3<const real> value;
  SLUICE_INLINE void operator()(Cell c, double (&sum)[1]) const {
    const double a = value(c.i, c.j, c.k);
    sum[0] = a * a * value(c.east, c.j, c.k);
  }
};

/// A field over `box` whose values, of very different sizes, depend on the global index alone.
Field random_field(const Cells& cells, const Box3& box) {
  Field field(box, Location::center);
  std::vector<real> values(field.buffer().size(), 0);
  for (std::int64_t k = 0; k < box.nz(); ++k) {
    for (std::int64_t j = 0; j < box.ny(); ++j) {
      for (std::int64_t i = 0; i < box.nx(); ++i) {
        const auto global = static_cast<std::uint64_t>(i + cells[0] * (box.lo[1] + j + cells[1] * (box.lo[2] + k)));
        const auto at = static_cast<std::size_t>(i + field.row_length() * (j + 1) + field.plane_length() * (k + 1));
        values[at] = static_cast<real>(std::ldexp(uniform01(3, global) - 0.5, static_cast<int>(global % 16) - 8));
      }
    }
  }
  field.buffer().upload(values);
  return field;
}

TEST(GlobalSum, DoesNotDependOnTheProcessGrid) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const Cells& cells : {Cells{9, 10, 11}, Cells{12, 13, 14}, Cells{33, 6, 12}}) {
    const Field whole = random_field(cells, box_of(cells[0], cells[1], cells[2]));
    const double expected = reduce_sum("whole", whole.local_box(), CubeOfValue{whole.view()}).value();
    const int z_blocks = static_cast<int>(cells[2] / 2);
    for (const ProcessGrid& grid : Decomposition::candidates(cells, size, z_blocks)) {
      const Communicator comm(MPI_COMM_WORLD, grid);
      const Field part = random_field(cells, Decomposition(cells, grid, z_blocks).x_pencil(comm.rank()));
      const ExactSum local = reduce_sum("part", part.local_box(), CubeOfValue{part.view()});
      EXPECT_EQ(total(local, comm.world()), expected) << grid.py << " x " << grid.pz;
    }
  }
}

TEST(GlobalSum, OfSeveralSumsAtOnceKeepsThemApart) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<ExactSum> sums(3);
  sums[0].add(1.0);
  sums[1].add(rank == 0 ? 0x1p200 : rank == size - 1 ? -0x1p-200 : 0.0);
  if (rank == size - 1) sums[2].add(std::nan(""));
  all_reduce(sums, MPI_COMM_WORLD);
  EXPECT_EQ(sums[0].value(), size);
  EXPECT_EQ(sums[1].value(), 0x1p200);
  EXPECT_TRUE(std::isnan(sums[2].value()));
}

}  // namespace
}  // namespace sluice
