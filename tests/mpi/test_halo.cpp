// Halo exchange: after an update every halo value that another rank owns is that rank's, edges included, and
// nothing else changed.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/field.hpp"
#include "core/decomp/halo_exchange.hpp"
#include "core/support/error.hpp"
#include "tests/support/index_array.hpp"

namespace sluice {
namespace {

using Cells = std::array<std::int64_t, 3>;

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// What a field of global indices should hold: its own cells, and with `halo` also the halo, y periodic;
/// never the halo behind the walls and never the padding of the rows.
std::vector<real> field_values(const Field& field, const Cells& cells, int shift, bool halo) {
  const Box3& box = field.box();
  std::vector<real> values(field.buffer().size(), static_cast<real>(test::untouched));
  for (std::int64_t k = -1; k <= box.nz(); ++k) {
    for (std::int64_t j = -1; j <= box.ny(); ++j) {
      const bool own = j >= 0 && j < box.ny() && k >= 0 && k < box.nz();
      const std::int64_t z = box.lo[2] + k;
      if (!own && !(halo && z >= 0 && z < cells[2])) continue;
      const std::int64_t y = (box.lo[1] + j + cells[1]) % cells[1];
      for (std::int64_t i = 0; i < box.nx(); ++i) {
        const auto at = static_cast<std::size_t>(i + field.row_length() * (j + 1) + field.plane_length() * (k + 1));
        values[at] = static_cast<real>(test::index_value(cells, i, y, z, shift));
      }
    }
  }
  return values;
}

std::int64_t mismatches(const Field& field, const std::vector<real>& wanted) {
  const std::vector<real> found = field.buffer().download();
  std::int64_t count = 0;
  for (std::size_t n = 0; n < wanted.size(); ++n) count += found[n] == wanted[n] ? 0 : 1;
  return count;
}

void expect_right_halos(const Cells& cells, const ProcessGrid& grid, std::int64_t row_length) {
  SCOPED_TRACE(std::to_string(cells[0]) + " x " + std::to_string(cells[1]) + " x " + std::to_string(cells[2]) + " on " +
               std::to_string(grid.py) + " x " + std::to_string(grid.pz));
  const Decomposition decomposition(cells, grid, static_cast<int>(cells[2] / 2));
  const Communicator comm(MPI_COMM_WORLD, grid);
  const Box3 box = decomposition.x_pencil(comm.rank());
  HaloExchange exchange(comm, box, row_length, 3);
  std::vector<Field> fields;
  for (const Location location : {Location::x_face, Location::y_face, Location::z_face}) {
    fields.emplace_back(box, location, row_length);
  }
  const auto fill = [&] {
    for (int n = 0; n < 3; ++n) {
      Field& field = fields[static_cast<std::size_t>(n)];
      field.buffer().upload(field_values(field, cells, n, false));
    }
  };
  const auto expect = [&](int n, bool halo) {
    device::synchronize();
    const Field& field = fields[static_cast<std::size_t>(n)];
    EXPECT_EQ(mismatches(field, field_values(field, cells, n, halo)), 0) << "field " << n;
  };
  fill();
  exchange.update({&fields[0], &fields[1], &fields[2]});
  for (const int n : {0, 1, 2}) expect(n, true);
  fill();
  exchange.update({&fields[2]});
  expect(0, false);
  expect(1, false);
  expect(2, true);
  exchange.update({&fields[1], &fields[0]});
  for (const int n : {0, 1, 2}) expect(n, true);
}

TEST(HaloExchange, FillsEveryInteriorHaloOnEveryProcessGrid) {
  for (const Cells& cells : {Cells{9, 10, 11}, Cells{12, 13, 14}, Cells{1, 8, 13}, Cells{16, 12, 12}}) {
    for (const ProcessGrid& grid : Decomposition::candidates(cells, world_size(), static_cast<int>(cells[2] / 2))) {
      expect_right_halos(cells, grid, cells[0]);
      expect_right_halos(cells, grid, cells[0] + 7);
    }
  }
}

TEST(HaloExchange, WorksWithASingleRowARank) {
  const int size = world_size();
  expect_right_halos({12, size, 12}, {size, 1}, 16);      // every rank owns one row
  expect_right_halos({12, size + 1, 12}, {size, 1}, 16);  // all but the first
  if (size <= 6) expect_right_halos({12, 1, 12}, {1, size}, 16);
}

TEST(HaloExchange, RefusesFieldsItWasNotMadeFor) {
  const Communicator comm(MPI_COMM_WORLD, {1, world_size()});
  const Decomposition decomposition({9, 10, 12}, {1, world_size()}, 6);
  const Box3 box = decomposition.x_pencil(comm.rank());
  HaloExchange exchange(comm, box, 9, 1);
  Field first(box, Location::center);
  Field second(box, Location::center);
  EXPECT_THROW(exchange.update({&first, &second}), Error);
  Field other(box_of(9, 11, 12), Location::center);
  EXPECT_THROW(exchange.update({&other}), Error);
  EXPECT_NO_THROW(exchange.update({&first}));
}

}  // namespace
}  // namespace sluice
