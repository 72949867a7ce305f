#include "io/files/plane.hpp"

#include <limits>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice::io {

namespace {

Box3 plane_box(const Extents& global, char normal, std::int64_t index) {
  Box3 box = whole_box(global);
  box.lo[2 - file_axis(normal)] = index;
  box.hi[2 - file_axis(normal)] = index + 1;
  return box;
}

template <typename Real>
void append_piece(const Box3& piece, const Box3& held, const void* data, std::vector<double>& values) {
  std::vector<Real> elements(static_cast<std::size_t>(piece.volume()));
  copy_box(piece, static_cast<const std::byte*>(data), held, reinterpret_cast<std::byte*>(elements.data()), piece,
           sizeof(Real));
  values.assign(elements.begin(), elements.end());
}

}  // namespace

std::size_t file_axis(char normal) {
  SLUICE_REQUIRE(normal >= 'x' && normal <= 'z', "the normal of a plane is x, y or z");
  return static_cast<std::size_t>('z' - normal);
}

std::vector<double> gather_plane(MPI_Comm comm, const LocalBlock& block, Precision precision, const void* data,
                                 char normal, std::int64_t index) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const Box3 plane = plane_box(block.global, normal, index);
  if (plane.volume() > std::numeric_limits<int>::max()) throw Error(ExitCode::io, "a slice has more than 2^31 values");

  std::vector<LocalBlock> blocks(rank == 0 ? static_cast<std::size_t>(size) : 0);
  constexpr int words = sizeof(LocalBlock) / sizeof(std::int64_t);
  check_mpi(MPI_Gather(&block, words, MPI_INT64_T, blocks.data(), words, MPI_INT64_T, 0, comm), "MPI_Gather");
  std::vector<int> counts;
  std::vector<int> offsets;
  int total = 0;
  for (const LocalBlock& other : blocks) {
    counts.push_back(static_cast<int>(intersect(plane, box_of(other)).volume()));
    offsets.push_back(total);
    total += counts.back();
  }

  std::vector<double> mine;
  std::vector<double> pieces;
  run_collectively(comm, [&] {
    const Box3 held = box_of(block);
    const Box3 piece = intersect(plane, held);
    precision == Precision::single_ ? append_piece<float>(piece, held, data, mine)
                                    : append_piece<double>(piece, held, data, mine);
    pieces.resize(static_cast<std::size_t>(total));
  });
  check_mpi(MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, pieces.data(), counts.data(),
                        offsets.data(), MPI_DOUBLE, 0, comm),
            "MPI_Gatherv");

  std::vector<double> result(pieces.size());
  for (std::size_t source = 0; source < blocks.size(); ++source) {
    const Box3 piece = intersect(plane, box_of(blocks[source]));
    const double* values = pieces.data() + offsets[source];
    copy_box(piece, reinterpret_cast<const std::byte*>(values), piece, reinterpret_cast<std::byte*>(result.data()),
             plane, sizeof(double));
  }
  return result;
}

GridLines plane_of(const GridLines& grid, char normal, std::int64_t index) {
  GridLines plane = grid;
  const std::size_t axis = 2 - file_axis(normal);
  const auto n = static_cast<std::size_t>(index);
  plane.center[axis] = {grid.center[axis].at(n)};
  plane.face[axis] = {grid.face[axis].at(n)};
  plane.node[axis] = {grid.node[axis].at(n), grid.node[axis].at(n + 1)};
  return plane;
}

}  // namespace sluice::io
