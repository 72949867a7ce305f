#pragma once
// Whole arrays on every rank, for tests: x fastest, then y, then z.
#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "core/decomp/field.hpp"

namespace sluice::test {

struct GlobalArray {
  GlobalArray() = default;
  explicit GlobalArray(std::array<std::int64_t, 3> extents)
      : cells(extents), values(static_cast<std::size_t>(extents[0] * extents[1] * extents[2])) {}

  double& operator()(std::int64_t i, std::int64_t j, std::int64_t k) { return values[index(i, j, k)]; }
  double operator()(std::int64_t i, std::int64_t j, std::int64_t k) const { return values[index(i, j, k)]; }
  std::size_t index(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return static_cast<std::size_t>(i + cells[0] * (j + cells[1] * k));
  }

  std::array<std::int64_t, 3> cells{};
  std::vector<double> values;
};

/// Calls action(i, j, k, n): global indices of the rank's cells, and where the field's buffer holds them.
template <class Action>
void for_each_owned(const Field& field, const Action& action) {
  const Box3& box = field.box();
  const HaloWidth halo = field.halo();
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) {
        const std::int64_t n = (k - box.lo[2] + halo.z) * field.plane_length() +
                               (j - box.lo[1] + halo.y) * field.row_length() + i - box.lo[0];
        action(i, j, k, static_cast<std::size_t>(n));
      }
    }
  }
}

/// The rank's part of the array into the field; the rest of the field (halo, padding) becomes `elsewhere`.
inline void scatter(const GlobalArray& global, Field& field, double elsewhere) {
  std::vector<real> host(field.buffer().size(), static_cast<real>(elsewhere));
  for_each_owned(field, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::size_t n) {
    host[n] = static_cast<real>(global(i, j, k));
  });
  field.buffer().upload(host);
}

/// The whole array on every rank of `comm`. Collective.
inline GlobalArray gather(const Field& field, std::array<std::int64_t, 3> cells, MPI_Comm comm) {
  GlobalArray global(cells);
  const std::vector<real> host = field.buffer().download();
  for_each_owned(field,
                 [&](std::int64_t i, std::int64_t j, std::int64_t k, std::size_t n) { global(i, j, k) = host[n]; });
  MPI_Allreduce(MPI_IN_PLACE, global.values.data(), static_cast<int>(global.values.size()), MPI_DOUBLE, MPI_SUM, comm);
  return global;
}

}  // namespace sluice::test
