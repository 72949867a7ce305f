#include "solver/statistics/spectra.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "core/decomp/field_copy.hpp"
#include "core/device/parallel_for.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "solver/momentum/operators.hpp"
#include "solver/statistics/fixed_point_sum.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

/// `heights`: number of chosen heights.
std::vector<ProfileInfo> list_spectra(std::size_t heights) {
  struct Quantity {
    const char *name, *long_name;
    ProfileAxis axis;
  };
  std::vector<ProfileInfo> list;
  for (const auto& [name, long_name, axis] :
       {Quantity{"uu", "u squared", ProfileAxis::z_center}, Quantity{"vv", "v squared", ProfileAxis::z_center},
        Quantity{"ww", "w squared, on the z faces", ProfileAxis::z_face},
        Quantity{"pp", "pressure squared", ProfileAxis::z_center},
        Quantity{"uw", "u w, the scheme's momentum flux through z faces", ProfileAxis::z_face}}) {
    list.push_back(
        {std::string(name) + "_kx", std::string(long_name) + ", by streamwise wavenumber", "1", axis, ModeAxis::kx});
    list.push_back(
        {std::string(name) + "_ky", std::string(long_name) + ", by spanwise wavenumber", "1", axis, ModeAxis::ky});
    if (heights == 0) continue;
    list.push_back({std::string(name) + "_kxky", std::string(long_name) + ", by both wavenumbers", "1",
                    axis == ProfileAxis::z_face ? ProfileAxis::chosen_face : ProfileAxis::chosen_center, ModeAxis::kxky,
                    static_cast<std::int64_t>(heights)});
  }
  return list;
}

/// ubar^z + sign wbar^x at the edges above the cells, where the scheme forms its flux uw.
template <Order order>
struct CombineAtEdge {
  using CellType = op::CellFor<order>;
  op::In u, w;
  View3<real> to;
  real sign;

  SLUICE_INLINE void operator()(CellType c) const {
    const real u_sum = u(c.i, c.j, c.k) + u(c.i, c.j, c.k + 1);
    const real w_sum = op::sum_above<order>(op::along_x(w, c, c.j, c.k), 0);
    to(c.i, c.j, c.k) = real(0.5) * (u_sum + sign * w_sum);
  }
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

/// Mean over the rows of coefficients along x: spectrum[k][i], a loop over i and k. y is whole on every rank, so the
/// order of the additions does not depend on the process grid.
struct AlongX {
  ModePower power;
  int modes, ny;
  double scale;
  double* spectrum;

  SLUICE_INLINE void operator()(int i, int k, int /*unused*/) const {
    double sum = 0;
    for (int j = 0; j < ny; ++j) sum += power(i, j, k);
    spectrum[static_cast<std::ptrdiff_t>(k) * modes + i] = scale * sum;
  }
};

/// Sums over kx of coefficients along x and y, for ky and -ky together, times factor[k]: sums[k][m][lane], a loop over
/// m = |ky| with its lanes, and k. The wavenumbers kx are split over ranks, so the sums must not depend on the order.
struct AlongY {
  static constexpr int lanes = loops_on_gpu ? 8 : 1;  ///< threads that read neighbouring addresses

  ModePower power;
  int kx_count, modes, ny;
  const double* factor;
  FixedPointSum* sums;

  SLUICE_INLINE void operator()(int n, int k, int /*unused*/) const {
    const int m = n / lanes;
    const int opposite = (ny - m) % ny;
    const double unit = factor[k] * (opposite == m ? 0.5 : 1.0);
    FixedPointSum sum;
    if (unit > 0) {
      for (int i = n % lanes; i < kx_count; i += lanes) sum.add(unit * (power(i, m, k) + power(i, opposite, k)));
    }
    sums[static_cast<std::ptrdiff_t>(k) * modes * lanes + n] = sum;
  }
};

/// total[n] = the sum over the lanes of number n.
struct AddLanes {
  const FixedPointSum* sums;
  FixedPointSum* total;

  SLUICE_INLINE void operator()(int n, int /*unused*/, int /*unused*/) const {
    FixedPointSum sum;
    for (int lane = 0; lane < AlongY::lanes; ++lane)
      sum.add(sums[static_cast<std::ptrdiff_t>(n) * AlongY::lanes + lane]);
    total[n] = sum;
  }
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

/// For each plane, twice its largest value of the spectrum along x: more than any mode has in a spectrum along y of the
/// coefficients of one kx alone. Infinite where a value is not finite. Collective over a row of ranks.
std::vector<double> bounds_of_planes(const std::vector<double>& along_x, const Box3& box, MPI_Comm row) {
  const auto modes = static_cast<std::size_t>(box.nx());
  std::vector<double> bounds(static_cast<std::size_t>(box.nz()));
  for (std::size_t n = 0; n < along_x.size(); ++n) {
    const double value = std::isfinite(along_x[n]) ? 2 * along_x[n] : std::numeric_limits<double>::infinity();
    bounds[n / modes] = std::max(bounds[n / modes], value);
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, bounds.data(), static_cast<int>(bounds.size()), MPI_DOUBLE, MPI_MAX, row),
            "MPI_Allreduce of bounds of spectra");
  return bounds;
}

}  // namespace

/// What loops write for one quantity, in device memory; `box`: the coefficients of this rank with y whole. Also the
/// chosen planes.
struct Spectra::Arrays {
  Arrays(const Box3& box, const std::vector<int>& own_centers, const std::vector<int>& own_faces)
      : modes_along_y(static_cast<std::size_t>(box.ny() / 2 + 1)),
        along_x(static_cast<std::size_t>(box.extent(0) * box.extent(2))),
        factors(static_cast<std::size_t>(box.nz())),
        of_modes(modes_along_y * factors.size()),
        of_lanes(of_modes.size() * AlongY::lanes),
        centers(own_centers),
        faces(own_faces),
        along_both(std::max(centers.size(), faces.size()) * modes_along_y * static_cast<std::size_t>(box.extent(0))) {}

  std::size_t modes_along_y;
  Buffer<double> along_x, factors;
  Buffer<FixedPointSum> of_modes, of_lanes;
  Buffer<int> centers, faces;
  Buffer<double> along_both;
};

Spectra::Spectra(const FlowParameters& flow, const Communicator& comm, const Decomposition& decomposition,
                 ChosenPlanes planes)
    : BlockSums(list_spectra(planes.centers.size()), decomposition.cells(), comm.rank() == 0),
      order_(flow.order),
      comm_(&comm),
      decomposition_(&decomposition),
      planes_(std::move(planes)) {}

double Spectra::block_bytes(const std::array<std::int64_t, 3>& cells, std::size_t heights) {
  return bytes_of(list_spectra(heights), cells);
}

void Spectra::sample(const State& state, double forcing, const Workspace& workspace) {
  const Parts parts = spectra_of(state, workspace);
  // Spectra in both directions are large, so each is exchanged on its own.
  std::vector<std::size_t> together;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    if (profiles()[n].modes == ModeAxis::kxky) {
      add_parts(parts, {n});
    } else {
      together.push_back(n);
    }
  }
  add_parts(parts, together);
  count_sample(state.time, forcing);
}

Spectra::Parts Spectra::spectra_of(const State& state, const Workspace& workspace) {
  Parts parts;
  Arrays arrays(decomposition_->spectral_y_pencil(comm_->rank()), own_planes(false), own_planes(true));
  const auto& [u, v, w] = state.velocity;
  for (const Field* field : {&u, &v, &w, &workspace.p}) {
    copy_cells(*field, workspace.work);
    append_spectra(workspace, field == &w, arrays, parts);
  }
  // The cospectrum Re(a conj b) of a and b, from the spectra of a + b and a - b, needs no second array.
  for (const int sign : {1, -1}) {
    op::with_order(order_, [&](auto order) {
      parallel_for("combination at edges", workspace.work.local_box(),
                   CombineAtEdge<order>{u.view(), w.view(), workspace.work.view(), static_cast<real>(sign)});
    });
    append_spectra(workspace, true, arrays, parts);
  }
  const std::size_t count = parts.size() - profiles().size();
  for (std::size_t n = profiles().size() - count; n < profiles().size(); ++n) {
    std::vector<double>& sum = parts[n];
    const std::vector<double>& difference = parts[n + count];
    for (std::size_t m = 0; m < sum.size(); ++m) sum[m] = (sum[m] - difference[m]) / 4;
  }
  parts.resize(profiles().size());
  return parts;
}

void Spectra::append_spectra(const Workspace& workspace, bool at_faces, Arrays& arrays, Parts& parts) {
  const auto nx = static_cast<double>(cells()[0]);
  const auto ny = static_cast<double>(cells()[1]);
  const auto [values, box] = workspace.poisson.transform_x(workspace.work, timers_);
  const ModePower power{values, static_cast<int>(box.lo[0]), static_cast<int>(cells()[0])};
  parallel_for("spectra along x", box_of(box.nx(), box.nz(), 1),
               AlongX{power, box.nx(), box.ny(), 1 / (nx * nx * ny), arrays.along_x.data()});
  parts.push_back(arrays.along_x.download());

  const std::vector<double> bounds = bounds_of_planes(parts.back(), box, comm_->row());
  std::vector<double> factors;
  for (const double bound : bounds) factors.push_back(bound < 1e-200 ? 0 : 1 / (nx * nx * ny * ny) / bound);
  arrays.factors.upload(factors);

  workspace.poisson.transform_y(workspace.work, timers_);
  const auto modes = static_cast<int>(arrays.modes_along_y);
  const auto count = static_cast<int>(arrays.of_modes.size());
  parallel_for("spectra along y", box_of(std::int64_t{modes} * AlongY::lanes, box.nz(), 1),
               AlongY{power, box.nx(), modes, box.ny(), arrays.factors.data(), arrays.of_lanes.data()});
  parallel_for("spectra along y", box_of(count, 1, 1), AddLanes{arrays.of_lanes.data(), arrays.of_modes.data()});
  std::vector<FixedPointSum> sums = arrays.of_modes.download();
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums.data(), count * FixedPointSum::digits, MPI_INT64_T, MPI_SUM, comm_->row()),
            "MPI_Allreduce of spectra");
  std::vector<double> along_y(comm_->y_index() == 0 ? sums.size() : 0);
  for (std::size_t n = 0; n < along_y.size(); ++n) along_y[n] = bounds[n / arrays.modes_along_y] * sums[n].value();
  parts.push_back(along_y);

  if (planes_.centers.empty()) return;
  const Buffer<int>& planes = at_faces ? arrays.faces : arrays.centers;
  const auto own = static_cast<std::int64_t>(planes.size());
  parallel_for(
      "spectra in both directions", box_of(box.nx(), modes, own),
      AlongBoth{power, box.nx(), modes, box.ny(), 1 / (nx * nx * ny * ny), planes.data(), arrays.along_both.data()});
  parts.push_back(arrays.along_both.download());
  parts.back().resize(planes.size() * arrays.modes_along_y * static_cast<std::size_t>(box.nx()));
}

Box3 Spectra::box_of_part(const ProfileInfo& spectrum, int rank) const {
  Box3 box = decomposition_->spectral_y_pencil(rank);  // over kx, y and z
  box.lo[1] = 0;
  box.hi[1] = spectrum.modes_along_y(cells());
  if (spectrum.modes == ModeAxis::ky) {
    box.lo[0] = 0;
    box.hi[0] = decomposition_->processes().y_index(rank) == 0 ? 1 : 0;
  }
  for (std::int64_t* z : {&box.lo[2], &box.hi[2]}) {
    // What is on faces is zero on the bottom wall; the upper face of cell k is number k + 1.
    if (spectrum.at_faces()) ++*z;
    const std::vector<std::int64_t>& planes = spectrum.at_faces() ? planes_.faces : planes_.centers;
    if (spectrum.is_chosen()) *z = std::ranges::lower_bound(planes, *z) - planes.begin();
  }
  return box;
}

std::vector<int> Spectra::own_planes(bool at_faces) const {
  const Box3 box = decomposition_->spectral_y_pencil(comm_->rank());
  std::vector<int> own;
  for (const std::int64_t plane : at_faces ? planes_.faces : planes_.centers) {
    const std::int64_t k = at_faces ? plane - 1 : plane;
    if (k >= box.lo[2] && k < box.hi[2]) own.push_back(static_cast<int>(k - box.lo[2]));
  }
  return own;
}

void Spectra::add_parts(const Parts& parts, const std::vector<std::size_t>& numbers) {
  const int ranks = comm_->processes().size();
  std::vector<double> mine;
  for (const std::size_t n : numbers) mine.insert(mine.end(), parts[n].begin(), parts[n].end());
  std::vector<int> counts;
  std::vector<int> places;
  std::size_t total = 0;
  if (holds_sums()) {
    for (int rank = 0; rank < ranks; ++rank) {
      std::int64_t count = 0;
      for (const std::size_t n : numbers) count += box_of_part(profiles()[n], rank).volume();
      counts.push_back(static_cast<int>(count));
      places.push_back(static_cast<int>(total));
      total += static_cast<std::size_t>(count);
    }
  }
  std::vector<double> all(total);
  check_mpi(MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(), counts.data(),
                        places.data(), MPI_DOUBLE, 0, comm_->world()),
            "MPI_Gatherv of spectra");
  if (!holds_sums()) return;
  const double* value = all.data();
  for (int rank = 0; rank < ranks; ++rank) {
    for (const std::size_t n : numbers) {
      const ProfileInfo& spectrum = profiles()[n];
      const Box3 box = box_of_part(spectrum, rank);
      for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
        for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
          double* row = sums(n).data() + (k * spectrum.modes_along_y(cells()) + j) * spectrum.modes_along_x(cells());
          for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) row[i] += *value++;
        }
      }
    }
  }
}

}  // namespace sluice
