// Halo exchange: after an update every halo value that another rank owns is that rank's, edges included, and
// nothing else changed, by every exchange method.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/field.hpp"
#include "core/decomp/halo_exchange.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "tests/support/exchange_methods.hpp"
#include "tests/support/index_array.hpp"

namespace sluice {
namespace {

using Cells = std::array<std::int64_t, 3>;

int world_size() {
  return size_of(MPI_COMM_WORLD);
}

/// Whether a local place in y and z is to be filled.
using Place = std::function<bool(std::int64_t j, std::int64_t k)>;

/// What a field of global indices should hold: its own cells, and of the halo what `halo` says, y periodic; the halo
/// beyond the ends of z only if that is periodic; never the padding of the rows.
std::vector<real> field_values(const Field& field, const Cells& cells, int shift, const Place& halo,
                               bool periodic_z = false) {
  const Box3& box = field.box();
  const auto [hy, hz] = field.halo();
  std::vector<real> values(field.buffer().size(), static_cast<real>(test::untouched));
  for (std::int64_t k = -hz; k < box.nz() + hz; ++k) {
    for (std::int64_t j = -hy; j < box.ny() + hy; ++j) {
      const bool own = j >= 0 && j < box.ny() && k >= 0 && k < box.nz();
      const std::int64_t z = box.lo[2] + k;
      if (!own && !(halo(j, k) && (periodic_z || (z >= 0 && z < cells[2])))) continue;
      const std::int64_t y = (box.lo[1] + j + hy * cells[1]) % cells[1];
      for (std::int64_t i = 0; i < box.nx(); ++i) {
        const auto at = static_cast<std::size_t>(i + field.row_length() * (j + hy) + field.plane_length() * (k + hz));
        values[at] = static_cast<real>(test::index_value(cells, i, y, (z + hz * cells[2]) % cells[2], shift));
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

bool everywhere(std::int64_t /*j*/, std::int64_t /*k*/) {
  return true;
}
bool nowhere(std::int64_t /*j*/, std::int64_t /*k*/) {
  return false;
}

std::string label(const Cells& cells, const ProcessGrid& grid) {
  return std::to_string(cells[0]) + " x " + std::to_string(cells[1]) + " x " + std::to_string(cells[2]) + " on " +
         std::to_string(grid.py) + " x " + std::to_string(grid.pz);
}

/// Fields on one pencil, each filled with values of its own.
class FieldSet {
 public:
  FieldSet(const Cells& cells, const Box3& box, std::int64_t row_length, int count)
      : FieldSet(cells, box, row_length, std::vector<HaloWidth>(static_cast<std::size_t>(count))) {}
  FieldSet(const Cells& cells, const Box3& box, std::int64_t row_length, const std::vector<HaloWidth>& halos,
           bool periodic_z = false)
      : cells_(cells), periodic_z_(periodic_z) {
    const std::array<Location, 4> locations{Location::x_face, Location::y_face, Location::z_face, Location::center};
    for (const HaloWidth& halo : halos) fields_.emplace_back(box, locations[fields_.size() % 4], row_length, halo);
    fill();
  }
  Field* operator[](int n) { return &fields_[static_cast<std::size_t>(n)]; }

  void fill() {
    int n = 0;
    for (Field& field : fields_) field.buffer().upload(field_values(field, cells_, n++, nowhere));
  }
  /// Expects of field n that its halo was exchanged, or was left alone.
  void expect(int n, bool halo) const { expect_filled(n, halo ? Place(everywhere) : Place(nowhere)); }
  void expect_filled(int n, const Place& halo) const {
    device::synchronize();
    const Field& field = fields_[static_cast<std::size_t>(n)];
    EXPECT_EQ(mismatches(field, field_values(field, cells_, n, halo, periodic_z_)), 0) << "field " << n;
  }

 private:
  Cells cells_;
  bool periodic_z_;
  std::vector<Field> fields_;
};

void expect_right_halos(const Cells& cells, const ProcessGrid& grid, std::int64_t row_length, Exchange& exchange) {
  SCOPED_TRACE(label(cells, grid));
  const Decomposition decomposition(cells, grid, static_cast<int>(cells[2] / 2));
  const Communicator comm(MPI_COMM_WORLD, grid);
  const Box3 box = decomposition.x_pencil(comm.rank());
  HaloExchange halo(comm, box, exchange);
  FieldSet fields(cells, box, row_length, 4);
  halo.update({fields[0], fields[1], fields[2], fields[3]});
  for (const int n : {0, 1, 2, 3}) fields.expect(n, true);
  fields.fill();
  halo.update({fields[2]});
  for (const int n : {0, 1, 2, 3}) fields.expect(n, n == 2);
  halo.update({fields[1], fields[0]});
  for (const int n : {0, 1, 2, 3}) fields.expect(n, n != 3);
  halo.update({});
  for (const int n : {0, 1, 2, 3}) fields.expect(n, n != 3);
}

/// Fields of halos of several widths in a box that is periodic along z; by the update of all and that of z alone.
void expect_right_periods(const Cells& cells, const ProcessGrid& grid, Exchange& exchange) {
  SCOPED_TRACE(label(cells, grid));
  const Decomposition decomposition(cells, grid, static_cast<int>(cells[2] / 2));
  const Communicator comm(MPI_COMM_WORLD, grid);
  const Box3 box = decomposition.x_pencil(comm.rank());
  HaloExchange halo(comm, box, exchange, true);
  const std::vector<HaloWidth> widths{{1, 1}, {2, 1}, {1, 2}, {1, 1}};
  FieldSet fields(cells, box, cells[0], widths, true);
  halo.update({fields[0], fields[1], fields[2]});
  for (const int n : {0, 1, 2, 3}) fields.expect(n, n != 3);
  halo.update_z(*fields[3], HaloExchange::Layers{1, 1});
  const std::int64_t ny = box.ny();
  fields.expect_filled(3, [=](std::int64_t j, std::int64_t /*k*/) { return j >= 0 && j < ny; });
}

/// One layer of each of four fields, and two and one of a wider halo; then the layers in z after those in y, which
/// bring the edges.
void expect_right_layers(const Cells& cells, const ProcessGrid& grid, Exchange& exchange) {
  SCOPED_TRACE(label(cells, grid));
  using Layers = HaloExchange::Layers;
  constexpr Layers lower{1, 0};
  constexpr Layers upper{0, 1};
  const Decomposition decomposition(cells, grid, static_cast<int>(cells[2] / 2));
  const Communicator comm(MPI_COMM_WORLD, grid);
  const Box3 box = decomposition.x_pencil(comm.rank());
  const std::int64_t ny = box.ny();
  const std::int64_t nz = box.nz();
  const auto inside = [](std::int64_t n, std::int64_t count) { return n >= 0 && n < count; };
  HaloExchange halo(comm, box, exchange);
  FieldSet fields(cells, box, cells[0], 4);
  halo.update_y(*fields[0], lower);
  halo.update_y(*fields[1], upper);
  halo.update_z(*fields[2], lower);
  halo.update_z(*fields[3], upper);
  fields.expect_filled(0, [&](std::int64_t j, std::int64_t k) { return j == -1 && inside(k, nz); });
  fields.expect_filled(1, [&](std::int64_t j, std::int64_t k) { return j == ny && inside(k, nz); });
  fields.expect_filled(2, [&](std::int64_t j, std::int64_t k) { return k == -1 && inside(j, ny); });
  fields.expect_filled(3, [&](std::int64_t j, std::int64_t k) { return k == nz && inside(j, ny); });
  for (const Layers side : {lower, upper}) halo.update_y(*fields[0], side);
  for (const Layers side : {lower, upper}) halo.update_z(*fields[0], side);
  fields.expect_filled(0, everywhere);
  if (cells[1] / grid.py < 3) return;
  FieldSet wide(cells, box, cells[0], {HaloWidth{3, 1}});
  halo.update_y(*wide[0], {2, 1});
  wide.expect_filled(0, [&](std::int64_t j, std::int64_t k) { return j >= -2 && j <= ny && inside(k, nz); });
}

/// z halos of two fields, while a third one is exchanged; then y halos in all planes, which bring the edges. Afterwards
/// the planes beyond the z halo of a fourth field, on both sides or above only. Returns whether there are such planes.
bool expect_right_halos_ahead(const Cells& cells, const ProcessGrid& grid, Exchange& exchange) {
  SCOPED_TRACE(label(cells, grid));
  const Decomposition decomposition(cells, grid, static_cast<int>(cells[2] / 2));
  const Communicator comm(MPI_COMM_WORLD, grid);
  const Box3 box = decomposition.x_pencil(comm.rank());
  HaloExchange halo(comm, box, exchange);
  if (!halo.neighbours_own_two_planes()) {
    EXPECT_TRUE(grid.pz == 1 || cells[2] / grid.pz < 2);
    return false;
  }
  EXPECT_THROW(halo.finish_z(), Error);
  EXPECT_EQ(halo.has_lower(), box.lo[2] > 0);
  EXPECT_EQ(halo.has_upper(), box.hi[2] < cells[2]);
  FieldSet fields(cells, box, cells[0] + 2, 4);
  for (int repeat = 0; repeat < 2; ++repeat) {
    fields.fill();
    halo.start_z({fields[0], fields[1]});
    EXPECT_THROW(halo.start_z({fields[0]}), Error);
    halo.update({fields[2]});
    halo.finish_z();
    for (const int n : {0, 1})
      fields.expect_filled(n, [&](std::int64_t j, std::int64_t /*k*/) { return j >= 0 && j < box.ny(); });
    halo.update_y({fields[0], fields[1]});
    for (const int n : {0, 1, 2, 3}) fields.expect(n, n != 3);
  }

  const auto plane = [&](std::int64_t k) {
    return Field({{0, box.lo[1], k}, {box.hi[0], box.hi[1], k + 1}}, Location::center, 0, HaloWidth{0, 0});
  };
  const auto expect_plane = [&](const Field& found, bool filled) {
    const std::vector<real> wanted =
        filled ? field_values(found, cells, 3, nowhere) : std::vector<real>(found.buffer().size());
    EXPECT_EQ(mismatches(found, wanted), 0);
  };
  for (const bool both : {true, false}) {
    Field below = plane(box.lo[2] - 2);
    Field above = plane(box.hi[2] + 1);
    fields.fill();
    halo.update_y(*fields[3], HaloExchange::Layers{1, 1});
    halo.update_z(*fields[3], {both ? &below : nullptr, &above});
    fields.expect(3, true);
    expect_plane(below, both && halo.has_lower());
    expect_plane(above, halo.has_upper());
  }
  Field narrow({{0, box.lo[1], 0}, {box.hi[0] + 1, box.hi[1], 1}}, Location::center, 0, HaloWidth{0, 0});
  EXPECT_THROW(halo.update_z(*fields[3], {nullptr, &narrow}), Error);
  return true;
}

class HaloExchangeBy : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!test::method_works(GetParam())) GTEST_SKIP() << GetParam() << " does not work between these ranks";
  }
};

TEST_P(HaloExchangeBy, FillsEveryInteriorHaloOnEveryProcessGrid) {
  const std::unique_ptr<Exchange> exchange = test::make_tested(GetParam());
  int ahead = 0;
  for (const Cells& cells : {Cells{9, 10, 11}, Cells{12, 13, 14}, Cells{1, 8, 13}, Cells{16, 12, 12}}) {
    for (const ProcessGrid& grid : Decomposition::candidates(cells, world_size(), static_cast<int>(cells[2] / 2))) {
      expect_right_halos(cells, grid, cells[0], *exchange);
      expect_right_halos(cells, grid, cells[0] + 7, *exchange);
      expect_right_layers(cells, grid, *exchange);
      ahead += expect_right_halos_ahead(cells, grid, *exchange) ? 1 : 0;
    }
  }
  if (world_size() > 1 && world_size() <= 6) EXPECT_GT(ahead, 0);
}

TEST_P(HaloExchangeBy, WorksWithASingleRowARank) {
  const std::unique_ptr<Exchange> exchange = test::make_tested(GetParam());
  const int size = world_size();
  expect_right_halos({12, size, 12}, {size, 1}, 16, *exchange);      // every rank owns one row
  expect_right_halos({12, size + 1, 12}, {size, 1}, 16, *exchange);  // all but the first
  expect_right_layers({12, size, 12}, {size, 1}, *exchange);
  if (size <= 6) expect_right_halos({12, 1, 12}, {1, size}, 16, *exchange);
}

/// The fewest rows and planes that any rank owns, as wide as a halo may be; any width where an axis is not split.
HaloWidth widest_halo(const Decomposition& decomposition) {
  HaloWidth widest{1000, 1000};
  const ProcessGrid& grid = decomposition.processes();
  for (int rank = 0; rank < grid.size(); ++rank) {
    const Box3 box = decomposition.x_pencil(rank);
    if (grid.py > 1) widest.y = std::min(widest.y, box.ny());
    if (grid.pz > 1) widest.z = std::min(widest.z, box.nz());
  }
  return widest;
}

// Widths of 1 to 3 layers: fields one by one, and all of them at once. Where some rank owns fewer rows or planes than
// that, an error on all ranks.
TEST_P(HaloExchangeBy, FillsAsManyLayersAsEachFieldHas) {
  const std::unique_ptr<Exchange> exchange = test::make_tested(GetParam());
  const std::vector<HaloWidth> halos{{1, 1}, {2, 1}, {3, 1}, {1, 2}, {3, 2}, {1, 1}, {2, 3}, {3, 3}, {3, 1}, {0, 1}};
  int refused = 0;
  for (const Cells& cells : {Cells{9, 10, 11}, Cells{5, 19, 24}, Cells{4, 2, 36}, Cells{3, 18, 6}}) {
    const int z_blocks = static_cast<int>(cells[2] / 2);
    for (const ProcessGrid& grid : Decomposition::candidates(cells, world_size(), z_blocks)) {
      SCOPED_TRACE(label(cells, grid));
      const Decomposition decomposition(cells, grid, z_blocks);
      const Communicator comm(MPI_COMM_WORLD, grid);
      const Box3 box = decomposition.x_pencil(comm.rank());
      const HaloWidth widest = widest_halo(decomposition);
      HaloExchange halo(comm, box, *exchange);
      FieldSet fields(cells, box, cells[0] + 2, halos);
      std::vector<Field*> all;
      std::vector<int> updated;
      for (int n = 0; n < static_cast<int>(halos.size()); ++n) {
        const HaloWidth& width = halos[static_cast<std::size_t>(n)];
        if (width.y <= widest.y && width.z <= widest.z) {
          halo.update({fields[n]});
          all.push_back(fields[n]);
          updated.push_back(n);
        } else {
          EXPECT_THROW(halo.update({fields[n]}), Error);
          ++refused;
        }
        fields.expect(n, width.y <= widest.y && width.z <= widest.z);
      }
      fields.fill();
      halo.update(all);
      for (const int n : updated) fields.expect(n, true);
    }
  }
  EXPECT_EQ(refused > 0, world_size() > 1);
}

TEST_P(HaloExchangeBy, WrapsAroundAPeriodicZ) {
  const std::unique_ptr<Exchange> exchange = test::make_tested(GetParam());
  for (const Cells& cells : {Cells{12, 13, 14}, Cells{1, 12, 13}, Cells{16, 12, 12}}) {
    for (const ProcessGrid& grid : Decomposition::candidates(cells, world_size(), static_cast<int>(cells[2] / 2)))
      expect_right_periods(cells, grid, *exchange);
  }
}

// Many updates of different fields, issued without waiting and by some ranks later than by others.
TEST_P(HaloExchangeBy, KeepsUpdatesApartThatFollowEachOtherAtOnce) {
  const std::unique_ptr<Exchange> exchange = test::make_tested(GetParam());
  const Cells cells{40, 30, 28};
  for (const ProcessGrid& grid : Decomposition::candidates(cells, world_size(), 14)) {
    SCOPED_TRACE(label(cells, grid));
    const Decomposition decomposition(cells, grid, 14);
    const Communicator comm(MPI_COMM_WORLD, grid);
    const Box3 box = decomposition.x_pencil(comm.rank());
    HaloExchange halo(comm, box, *exchange);
    constexpr int count = 60;
    FieldSet fields(cells, box, 40, count);
    for (int n = 0; n < count; n += 6) {
      if (n / 6 % 4 == comm.rank() % 4) usleep(2000);
      halo.update({fields[n]});
      halo.update({fields[n + 1], fields[n + 2], fields[n + 3]});
      halo.update({fields[n + 4], fields[n + 5]});
    }
    for (int n = 0; n < count; ++n) fields.expect(n, true);
  }
}

TEST_P(HaloExchangeBy, RefusesFieldsItWasNotMadeFor) {
  const std::unique_ptr<Exchange> exchange = test::make_tested(GetParam());
  const Communicator comm(MPI_COMM_WORLD, {1, world_size()});
  const Decomposition decomposition({9, 10, 12}, {1, world_size()}, 6);
  const Box3 box = decomposition.x_pencil(comm.rank());
  HaloExchange halo(comm, box, *exchange);
  Field first(box, Location::center);
  Field other(box_of(9, 11, 12), Location::center);
  EXPECT_THROW(halo.update({&other}), Error);
  EXPECT_THROW(halo.update_y(other, HaloExchange::Layers{1, 0}), Error);
  EXPECT_THROW(halo.update_z(other, HaloExchange::Layers{0, 1}), Error);
  EXPECT_NO_THROW(halo.update({&first}));
}

std::string name_of(const testing::TestParamInfo<std::string>& method) {
  return method.param;
}

INSTANTIATE_TEST_SUITE_P(Methods, HaloExchangeBy, testing::ValuesIn(exchange_methods()), name_of);
INSTANTIATE_TEST_SUITE_P(OnHosts, HaloExchangeBy, testing::ValuesIn(test::methods_on_hosts()), name_of);
INSTANTIATE_TEST_SUITE_P(SmallCounts, HaloExchangeBy, testing::ValuesIn(test::small_count_methods()), name_of);

}  // namespace
}  // namespace sluice
