#pragma once
// The loops of a sample of spectra. Coefficients have y whole; the wavenumbers kx may be split over ranks.
#include <complex>
#include <limits>

#include "core/decomp/view3.hpp"
#include "core/device/parallel_for.hpp"
#include "core/device/tuning.hpp"
#include "solver/statistics/fixed_point_sum.hpp"

namespace sluice::spectra {

using Complex = std::complex<real>;

/// Writes the values of each cell.
template <class Values>
struct WriteValues {
  using CellType = typename Values::CellType;
  Values values;
  View3<real> to;

  SLUICE_INLINE void operator()(const CellType& c) const { to(c.i, c.j, c.k) = values(c); }
};

/// Squared coefficients of real values; those with 0 < kx < nx / 2 also count for -kx, which is not stored.
struct ModePower {
  View3<const Complex> modes;
  int first_kx;  ///< of the array
  int nx;

  SLUICE_INLINE double operator()(int i, int j, int k) const {
    const auto& c = reinterpret_cast<const real(&)[2]>(modes(i, j, k));
    const auto re = static_cast<double>(c[0]);
    const auto im = static_cast<double>(c[1]);
    const int kx = first_kx + i;
    return (kx == 0 || 2 * kx == nx ? 1 : 2) * (re * re + im * im);
  }
};

/// Threads of a GPU that share the work of one mode or plane.
constexpr int lanes = loops_on_gpu ? tuning::lanes_of_spectra : 1;

/// Sums of coefficients along x over the rows of each lane: sums[k][lane][i], a loop over i, the lanes and k. y is
/// whole on every rank, so the order of the additions does not depend on the process grid.
struct AlongX {
  ModePower power;
  int modes, ny;
  double* sums;

  SLUICE_INLINE void operator()(int i, int lane, int k) const {
    double sum = 0;
    for (int j = lane; j < ny; j += lanes) sum += power(i, j, k);
    sums[(static_cast<std::ptrdiff_t>(k) * lanes + lane) * modes + i] = sum;
  }
};

/// spectrum[k][i] = scale times the sum over the lanes, a loop over i and k.
struct AddLanesAlongX {
  const double* sums;
  int modes;
  double scale;
  double* spectrum;

  SLUICE_INLINE void operator()(int i, int k, int /*unused*/) const {
    const double* of_mode = sums + static_cast<std::ptrdiff_t>(k) * lanes * modes + i;
    double sum = 0;
    for (int lane = 0; lane < lanes; ++lane) sum += of_mode[static_cast<std::ptrdiff_t>(lane) * modes];
    spectrum[static_cast<std::ptrdiff_t>(k) * modes + i] = scale * sum;
  }
};

/// The largest values of spectra along x: of those of one lane, bounds[k][lane], a loop over lanes and k.
struct LargestOfLanes {
  const double* spectrum;
  int modes;
  double* largest;

  SLUICE_INLINE void operator()(int lane, int k, int /*unused*/) const {
    const double* of_plane = spectrum + static_cast<std::ptrdiff_t>(k) * modes;
    double bound = 0;
    for (int i = lane; i < modes; i += lanes) {
      const double value = of_plane[i] * 0 == 0 ? of_plane[i] : std::numeric_limits<double>::infinity();
      bound = value > bound ? value : bound;
    }
    largest[k * lanes + lane] = bound;
  }
};

/// bounds[k] = twice the largest value in plane k of the spectrum along x. The coefficients of a single kx contribute
/// less than this to any mode of the spectrum along y. Infinite where a value is not finite.
struct BoundsOfPlanes {
  const double* largest;  ///< of lanes
  double* bounds;

  SLUICE_INLINE void operator()(int k, int /*unused*/, int /*unused*/) const {
    double bound = 0;
    for (int lane = 0; lane < lanes; ++lane) {
      const double value = largest[k * lanes + lane];
      bound = value > bound ? value : bound;
    }
    bounds[k] = 2 * bound;
  }
};

/// Sums over kx of coefficients along x and y, for ky and -ky together, times scale / bounds[k]: sums[k][m][lane], a
/// loop over m = |ky| with its lanes, and k. The wavenumbers kx are split over ranks, so the sums must not depend on
/// the order.
struct AlongY {
  ModePower power;
  int kx_count, modes, ny;
  double scale;
  const double* bounds;
  FixedPointSum* sums;

  SLUICE_INLINE void operator()(int n, int k, int /*unused*/) const {
    const int m = n / lanes;
    const int opposite = (ny - m) % ny;
    const double factor = bounds[k] < 1e-200 ? 0 : scale / bounds[k];
    const double unit = factor * (opposite == m ? 0.5 : 1.0);
    FixedPointSum sum;
    if (unit > 0) {
      for (int i = n % lanes; i < kx_count; i += lanes) sum.add(unit * (power(i, m, k) + power(i, opposite, k)));
    }
    sums[static_cast<std::ptrdiff_t>(k) * modes * lanes + n] = sum;
  }
};

/// total[n] = the sum of number n over its lanes.
struct AddLanesAlongY {
  const FixedPointSum* sums;
  FixedPointSum* total;

  SLUICE_INLINE void operator()(int n, int /*unused*/, int /*unused*/) const {
    FixedPointSum sum;
    for (int lane = 0; lane < lanes; ++lane) sum.add(sums[static_cast<std::ptrdiff_t>(n) * lanes + lane]);
    total[n] = sum;
  }
};

/// spectrum[n] = the sum for mode m of plane k, where n counts them all.
struct ValuesAlongY {
  const FixedPointSum* sums;
  const double* bounds;
  int modes;
  double* spectrum;

  SLUICE_INLINE void operator()(int n, int /*unused*/, int /*unused*/) const {
    spectrum[n] = bounds[n / modes] * sums[n].value();
  }
};

/// Turns the spectra of a + b and of a - b into the cospectrum Re(a conj b).
struct Cospectrum {
  double* sum;
  const double* difference;

  SLUICE_INLINE void operator()(int n, int /*unused*/, int /*unused*/) const { sum[n] = (sum[n] - difference[n]) / 4; }
};

/// Coefficients along x and y of some planes, for ky and -ky together: spectrum[n][m][i], a loop over i, m = |ky| and
/// the planes n.
struct AlongBoth {
  ModePower power;
  int kx_count, modes, ny;
  double scale;
  const int* planes;
  double* spectrum;

  SLUICE_INLINE void operator()(int i, int m, int n) const {
    const int opposite = (ny - m) % ny;
    const double unit = scale * (opposite == m ? 0.5 : 1.0);
    const double sum = power(i, m, planes[n]) + power(i, opposite, planes[n]);
    spectrum[(static_cast<std::ptrdiff_t>(n) * modes + m) * kx_count + i] = unit * sum;
  }
};

}  // namespace sluice::spectra
