#include "src/bench/known_field.hpp"

#include <mpi.h>

#include "core/device/parallel_for.hpp"
#include "core/support/collective.hpp"
#include "core/support/random.hpp"
#include "src/bench/place_of_error.hpp"

namespace sluice {

namespace {

/// The field at the local indices of a box.
struct KnownValue {
  std::uint64_t seed;
  std::int64_t nx, ny;  ///< of the grid
  std::int64_t x0, y0, z0;

  SLUICE_INLINE real operator()(int i, int j, int k) const {
    const std::int64_t n = x0 + i + nx * (y0 + j + ny * (z0 + k));
    return static_cast<real>(uniform01(seed, static_cast<std::uint64_t>(n)) - 0.5);
  }
};

struct WriteKnown {
  KnownValue known;
  View3<real> array;

  SLUICE_INLINE void operator()(int i, int j, int k) const { array(i, j, k) = known(i, j, k); }
};

struct ErrorOfCell {
  KnownValue known;
  View3<const real> array;
  double scale;

  SLUICE_INLINE double operator()(Cell c) const {
    const double error = static_cast<double>(array(c.i, c.j, c.k)) / scale - static_cast<double>(known(c.i, c.j, c.k));
    return error < 0 ? -error : error;
  }
};

KnownValue known_on(const Box3& box, std::uint64_t seed, const std::array<std::int64_t, 3>& cells) {
  return {seed, cells[0], cells[1], box.lo[0], box.lo[1], box.lo[2]};
}

/// An array of complex numbers as one of twice as many real numbers in x.
template <class Real, class Complex>
View3<Real> parts_of(View3<Complex> array, const Box3& box) {
  View3<Real> parts = contiguous_view(reinterpret_cast<Real*>(array.origin), 2 * box.nx(), box.ny(), box.nz());
  parts.stride_y = 2 * array.stride_y;
  parts.stride_z = 2 * array.stride_z;
  return parts;
}

Box3 twice_in_x(Box3 box) {
  box.lo[0] *= 2;
  box.hi[0] *= 2;
  return box;
}

}  // namespace

Deviation largest_of_ranks(Deviation deviation) {
  struct {
    double error;
    int rank;
  } largest{deviation.error, rank_of(MPI_COMM_WORLD)};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD), "MPI_Allreduce");
  deviation.error = largest.error;
  check_mpi(MPI_Bcast(deviation.where.data(), 3, MPI_INT64_T, largest.rank, MPI_COMM_WORLD), "MPI_Bcast");
  return deviation;
}

void KnownField::write(View3<real> array, const Box3& box) const {
  parallel_for("known field", box.local(), WriteKnown{known_on(box, seed_, cells_), array});
}

void KnownField::write(View3<std::complex<real>> array, const Box3& box) const {
  const KnownField parts(seed_, {2 * cells_[0], cells_[1], cells_[2]});
  parts.write(parts_of<real>(array, box), twice_in_x(box));
}

Deviation KnownField::local_deviation(View3<const real> array, const Box3& box, double scale) const {
  return largest_error(ErrorOfCell{known_on(box, seed_, cells_), array, scale}, box);
}

Deviation KnownField::deviation(View3<const real> array, const Box3& box, double scale) const {
  return largest_of_ranks(local_deviation(array, box, scale));
}

Deviation KnownField::deviation(View3<const std::complex<real>> array, const Box3& box, double scale) const {
  const KnownField parts(seed_, {2 * cells_[0], cells_[1], cells_[2]});
  Deviation deviation = parts.deviation(parts_of<const real>(array, box), twice_in_x(box), scale);
  deviation.where[0] /= 2;
  return deviation;
}

}  // namespace sluice
