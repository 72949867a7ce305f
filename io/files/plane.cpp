#include "io/files/plane.hpp"

#include <limits>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice::io {

Box3 plane_box(const Extents& global, std::size_t axis, std::int64_t index) {
  Box3 box = whole_box(global);
  box.lo[axis] = index;
  box.hi[axis] = index + 1;
  return box;
}

std::vector<std::byte> gather_box(MPI_Comm comm, const Box3& box, const Box3& piece, h5::Type type, const void* data) {
  if (box.volume() > std::numeric_limits<int>::max()) throw Error(ExitCode::io, "a slice has more than 2^31 values");
  const std::size_t element_bytes = h5::bytes_of(type);
  const bool root = rank_of(comm) == 0;
  std::vector<Box3> pieces(root ? static_cast<std::size_t>(size_of(comm)) : 0);
  constexpr int words = sizeof(Box3) / sizeof(std::int64_t);
  check_mpi(MPI_Gather(&piece, words, MPI_INT64_T, pieces.data(), words, MPI_INT64_T, 0, comm), "MPI_Gather");
  std::vector<int> counts;
  std::vector<int> offsets;
  int total = 0;
  for (const Box3& part : pieces) {
    counts.push_back(static_cast<int>(part.volume()));
    offsets.push_back(total);
    total += counts.back();
  }

  std::vector<std::byte> received;
  std::vector<std::byte> result;
  run_on_root(comm, [&] {
    received.resize(static_cast<std::size_t>(total) * element_bytes);
    result.resize(received.size());
  });
  const MPI_Datatype element = type == h5::Type::float32 ? MPI_FLOAT : MPI_DOUBLE;
  check_mpi(MPI_Gatherv(data, static_cast<int>(piece.volume()), element, received.data(), counts.data(), offsets.data(),
                        element, 0, comm),
            "MPI_Gatherv");
  for (std::size_t source = 0; source < pieces.size(); ++source) {
    const std::byte* values = received.data() + static_cast<std::size_t>(offsets[source]) * element_bytes;
    copy_box(pieces[source], values, pieces[source], result.data(), box, element_bytes);
  }
  return result;
}

GridLines plane_of(const GridLines& grid, std::size_t axis, std::int64_t index) {
  GridLines plane = grid;
  const auto n = static_cast<std::size_t>(index);
  plane.center[axis] = {grid.center[axis].at(n)};
  plane.face[axis] = {grid.face[axis].at(n)};
  plane.node[axis] = {grid.node[axis].at(n), grid.node[axis].at(n + 1)};
  return plane;
}

}  // namespace sluice::io
