#include "io/files/gather_box.hpp"

#include <limits>

#include "core/support/collective.hpp"
#include "io/files/local_block.hpp"

namespace sluice::io {

std::vector<std::byte> gather_box(MPI_Comm comm, const Box3& box, const Box3& piece, h5::Type type, const void* data,
                                  std::int64_t samples) {
  if (samples * box.volume() > std::numeric_limits<int>::max())
    throw Error(ExitCode::io, "a slice or the samples of a probe have more than 2^31 values");
  const std::size_t element_bytes = h5::bytes_of(type);
  const bool root = rank_of(comm) == 0;
  std::vector<Box3> pieces(root ? static_cast<std::size_t>(size_of(comm)) : 0);
  constexpr int words = sizeof(Box3) / sizeof(std::int64_t);
  check_mpi(MPI_Gather(&piece, words, MPI_INT64_T, pieces.data(), words, MPI_INT64_T, 0, comm), "MPI_Gather");
  std::vector<int> counts;
  std::vector<int> offsets;
  int total = 0;
  for (const Box3& part : pieces) {
    counts.push_back(static_cast<int>(samples * part.volume()));
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
  check_mpi(MPI_Gatherv(data, static_cast<int>(samples * piece.volume()), element, received.data(), counts.data(),
                        offsets.data(), element, 0, comm),
            "MPI_Gatherv");
  const std::size_t box_bytes = static_cast<std::size_t>(box.volume()) * element_bytes;
  const std::byte* values = received.data();
  for (const Box3& part : pieces) {
    for (std::int64_t n = 0; n < samples; ++n) {
      copy_box(part, values, part, result.data() + static_cast<std::size_t>(n) * box_bytes, box, element_bytes);
      values += static_cast<std::size_t>(part.volume()) * element_bytes;
    }
  }
  return result;
}

}  // namespace sluice::io
