// A stand-alone program with Sluice's distributed Fourier transform: a template for your own.
//
//   mpirun -n 4 sluice_fft_example 64
//
// Transforms f = 2 cos(x) cos(2 y) + sin(3 z) on n x n x n points of a periodic box, checks the coefficients, and
// transforms back. Then the same with two complex fields at once, f + i f and f - i f, in place.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/device/buffer.hpp"
#include "core/device/select.hpp"
#include "poisson/fft/distributed_fft.hpp"

namespace {

using sluice::real;

double field(double x, double y, double z) {
  return 2 * std::cos(x) * std::cos(2 * y) + std::sin(3 * z);
}

/// The coefficient of this field, divided by the number of points. Along x only the wavenumbers 0 ... n / 2 are stored;
/// the others are complex conjugates.
std::complex<double> coefficient(std::int64_t kx, std::int64_t ky, std::int64_t kz, std::int64_t n) {
  if (kx == 1 && (ky == 2 || ky == n - 2) && kz == 0) return 0.5;
  if (kx == 0 && ky == 0 && kz == 3) return {0, -0.5};
  if (kx == 0 && ky == 0 && kz == n - 3) return {0, 0.5};
  return 0;
}

/// Calls action(i, j, k, at) for each point of a box, x fastest: with its global indices and its position in the array.
template <class Action>
void for_each_point(const sluice::Box3& box, const Action& action) {
  std::size_t at = 0;
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) action(i, j, k, at++);
    }
  }
}

/// The field at the points of a box.
std::vector<real> values_on(const sluice::Box3& box, std::int64_t n) {
  const double h = 2 * std::numbers::pi / static_cast<double>(n);
  std::vector<real> values(static_cast<std::size_t>(box.volume()));
  for_each_point(box, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::size_t at) {
    values[at] =
        static_cast<real>(field(h * static_cast<double>(i), h * static_cast<double>(j), h * static_cast<double>(k)));
  });
  return values;
}

/// Returns the largest error of the coefficients and of the values after the round trip.
double transform(MPI_Comm world, std::int64_t n) {
  // 1. The transform: slabs, x fastest in memory throughout.
  const auto exchange = sluice::make_exchange("auto", world);
  sluice::DistributedFft fft(world, {n, n, n}, sluice::FftDecomposition::slab_2d_1d, sluice::FftLayout::contiguous, {},
                             *exchange);

  // 2. This rank's values go to device memory.
  const std::vector<real> values = values_on(fft.real_box(), n);
  sluice::Buffer<real> space(values);
  sluice::Buffer<std::complex<real>> modes(fft.complex_elements());

  // 3. Forward: the coefficients are n^3 times those of the Fourier series.
  fft.forward(space.data(), modes.data());
  const std::vector<std::complex<real>> found = modes.download();
  const double points = static_cast<double>(n * n * n);
  double error = 0;
  for_each_point(fft.complex_box(), [&](std::int64_t kx, std::int64_t ky, std::int64_t kz, std::size_t at) {
    error = std::max(error, std::abs(std::complex<double>(found[at]) / points - coefficient(kx, ky, kz, n)));
  });

  // 4. Backward: the result is n^3 times the values.
  fft.backward(modes.data(), space.data());
  const std::vector<real> again = space.download();
  for (std::size_t at = 0; at < values.size(); ++at)
    error = std::max(error, std::abs(static_cast<double>(again[at]) / points - static_cast<double>(values[at])));
  return error;
}

/// The same for two complex fields, whose exchanges are shared: the field times 1 + i and times 1 - i. In pencils of
/// one row of ranks, with an exchange method for each of the two exchanges.
double transform_two(MPI_Comm world, std::int64_t n) {
  using Complex = std::complex<real>;
  const auto rows = sluice::make_exchange("auto", world);
  const auto columns = sluice::make_exchange("mpi_p2p", world);
  int ranks = 1;
  MPI_Comm_size(world, &ranks);
  sluice::DistributedFft fft(world, {n, n, n}, sluice::FftDecomposition::pencil, sluice::FftLayout::contiguous,
                             {ranks, 1}, {*rows, *rows, *columns}, {sluice::FftType::complex_to_complex, 2});

  // In place: arrays as large as those of coefficients. A field follows real_distance() elements after the one before.
  const std::vector<real> values = values_on(fft.real_box(), n);
  const Complex factors[] = {{1, 1}, {1, -1}};
  std::vector<Complex> fields(fft.complex_elements());
  for (std::size_t f = 0; f < 2; ++f) {
    for (std::size_t at = 0; at < values.size(); ++at) fields[f * fft.real_distance() + at] = factors[f] * values[at];
  }
  sluice::Buffer<Complex> data(fields);

  // Along x all wavenumbers 0 ... n - 1 are stored.
  fft.forward(data.data(), data.data());
  const std::vector<Complex> found = data.download();
  const double points = static_cast<double>(n * n * n);
  double error = 0;
  for (std::size_t f = 0; f < 2; ++f) {
    const std::size_t first = f * static_cast<std::size_t>(fft.complex_box().volume());
    for_each_point(fft.complex_box(), [&](std::int64_t kx, std::int64_t ky, std::int64_t kz, std::size_t at) {
      const std::complex<double> wanted =
          std::complex<double>(factors[f]) * coefficient(std::min(kx, n - kx), ky, kz, n);
      error = std::max(error, std::abs(std::complex<double>(found[first + at]) / points - wanted));
    });
  }

  fft.backward(data.data(), data.data());
  const std::vector<Complex> again = data.download();
  for (std::size_t f = 0; f < 2; ++f) {
    for (std::size_t at = f * fft.real_distance(); at < f * fft.real_distance() + values.size(); ++at)
      error = std::max(error, std::abs(std::complex<double>(again[at]) / points - std::complex<double>(fields[at])));
  }
  return error;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = EXIT_SUCCESS;
  try {
    sluice::device::select(MPI_COMM_WORLD);
    const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 32;
    double error = std::max(transform(MPI_COMM_WORLD, n), transform_two(MPI_COMM_WORLD, n));
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("%lld^3 points: largest error %.2e\n", static_cast<long long>(n), error);
    if (!(error < 40 * sluice::real_epsilon)) status = EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sluice_fft_example: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return status;
}
