#include "src/bench/triad.hpp"

#include <algorithm>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/device/parallel_for.hpp"
#include "core/device/timers.hpp"

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

double triad_gb_per_s(MPI_Comm comm) {
  constexpr int row = 4096;
  const int rows = device::is_gpu() ? 32768 : 2048;  // several times the last cache
  const auto size = static_cast<std::size_t>(row) * static_cast<std::size_t>(rows);
  Buffer<double> a(size);
  Buffer<double> b(size);
  Buffer<double> c(size);
  std::vector<double> seconds;
  for (int n = 0; n < 9; ++n) {
    MPI_Barrier(comm);
    const double start = wall_seconds();
    parallel_for("triad", box_of(row, rows, 1), Triad{b.data(), c.data(), a.data(), row});
    device::synchronize();
    MPI_Barrier(comm);
    seconds.push_back(wall_seconds() - start);
  }
  std::ranges::sort(seconds);
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  return 3.0 * sizeof(double) * static_cast<double>(size) * ranks / seconds[seconds.size() / 2] * 1e-9;
}

}  // namespace sluice
