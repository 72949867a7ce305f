#include <mpi.h>

#include "core/device/buffer.hpp"
#include "core/device/parallel_for.hpp"
#include "core/support/collective.hpp"
#include "src/bench/measure.hpp"

namespace sluice {

namespace {

struct Triad {
  const double *b, *c;
  double* a;
  int row;
  SLUICE_INLINE void operator()(int i, int j, int /*k*/) const {
    const long n = static_cast<long>(j) * row + i;
    a[n] = b[n] + 0.5 * c[n];
  }
};

}  // namespace

double triad_gb_per_s() {
  constexpr int row = 4096;
  const int rows = device::is_gpu() ? 32768 : 2048;  // several times the last cache
  const std::size_t size = std::size_t{row} * rows;
  Buffer<double> a(size);
  Buffer<double> b(size);
  Buffer<double> c(size);
  const Spread seconds = spread_of_repeats(0, 9, [&] {
    return seconds_of([&] { parallel_for("triad", box_of(row, rows, 1), Triad{b.data(), c.data(), a.data(), row}); });
  });
  return 3.0 * sizeof(double) * static_cast<double>(size) * size_of(MPI_COMM_WORLD) / seconds.median * 1e-9;
}

}  // namespace sluice
