#include "solver/statistics/spectra.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <string>
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

/// Threads of a GPU that share the work of one mode or plane and read neighbouring addresses.
constexpr int lanes = loops_on_gpu ? 8 : 1;

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

/// bounds[k] = twice the largest value of plane k: more than any mode has in a spectrum along y of the coefficients of
/// one kx alone. Infinite where a value is not finite.
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

/// total[n] = the sum over the lanes of number n.
struct AddLanes {
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

}  // namespace

/// What the loops of a sample write, in device memory; `box`: the coefficients of this rank with y whole. Also the
/// chosen planes.
struct Spectra::Arrays {
  static constexpr std::size_t quantities = 6;  ///< u, v, w, p, and the sum and the difference for uw

  Arrays(const Box3& box, const std::vector<int>& own_centers, const std::vector<int>& own_faces)
      : modes_along_y(static_cast<std::size_t>(box.ny() / 2 + 1)),
        size_along_x(static_cast<std::size_t>(box.extent(0) * box.extent(2))),
        size_along_y(modes_along_y * static_cast<std::size_t>(box.nz())),
        results(quantities * (size_along_x + size_along_y)),
        bounds(static_cast<std::size_t>(box.nz())),
        largest(bounds.size() * lanes),
        of_modes(size_along_y),
        of_lanes(of_modes.size() * lanes),
        centers(own_centers),
        faces(own_faces),
        along_both(std::max(centers.size(), faces.size()) * modes_along_y * static_cast<std::size_t>(box.extent(0))),
        host(static_cast<double*>(device::allocate_host(results.bytes()))) {}

  /// The spectra of one quantity: first those along x of all quantities, then those along y.
  double* along_x(std::size_t quantity) { return results.data() + quantity * size_along_x; }
  double* along_y(std::size_t quantity) { return results.data() + quantities * size_along_x + quantity * size_along_y; }

  std::size_t modes_along_y, size_along_x, size_along_y;
  Buffer<double> results, bounds, largest;
  Buffer<FixedPointSum> of_modes, of_lanes;
  Buffer<int> centers, faces;
  Buffer<double> along_both;
  device::HostPointer<double> host;  ///< a copy of the results
};

Spectra::Spectra(const FlowParameters& flow, const Communicator& comm, const Decomposition& decomposition,
                 ChosenPlanes planes)
    : BlockSums(list_spectra(planes.centers.size()), decomposition.cells(), comm.rank() == 0),
      order_(flow.order),
      comm_(&comm),
      decomposition_(&decomposition),
      planes_(std::move(planes)) {
  const std::int64_t modes_along_x = cells()[0] / 2 + 1;
  const std::int64_t modes_along_y = cells()[1] / 2 + 1;
  const double modes = static_cast<double>(modes_along_x) * static_cast<double>(modes_along_y);
  const double largest = std::numeric_limits<int>::max();
  if (modes * static_cast<double>(planes_.centers.size()) > largest) {
    throw Error(ExitCode::resources, "output.spectra.heights: at most " +
                                         std::to_string(static_cast<int>(largest / modes)) +
                                         " on this grid, because MPI cannot count more modes: give fewer");
  }
}

Spectra::~Spectra() = default;

double Spectra::block_bytes(const std::array<std::int64_t, 3>& cells, std::size_t heights) {
  return bytes_of(list_spectra(heights), cells);
}

void Spectra::sample(const State& state, double forcing, const Workspace& workspace) {
  if (!arrays_) {
    arrays_ =
        std::make_unique<Arrays>(decomposition_->spectral_y_pencil(comm_->rank()), own_planes(false), own_planes(true));
  }
  // Numbers of profiles. Spectra in both directions are large, so each is exchanged on its own.
  std::vector<std::size_t> along_x, along_y, along_both;
  for (std::size_t n = 0; n < profiles().size(); ++n) {
    const ModeAxis modes = profiles()[n].modes;
    (modes == ModeAxis::kxky ? along_both : modes == ModeAxis::kx ? along_x : along_y).push_back(n);
  }
  const Parts in_both_directions = compute(state, workspace);
  for (std::size_t n = 0; n < along_both.size(); ++n) add_parts(in_both_directions[n], {along_both[n]});

  Arrays& arrays = *arrays_;
  device::copy(arrays.host.get(), arrays.results.data(), arrays.results.bytes());
  const std::span<const double> results(arrays.host.get(), arrays.results.size());
  add_parts(results, along_x);
  add_parts(results.subspan(Arrays::quantities * arrays.size_along_x), along_y);
  count_sample(state.time, forcing);
}

Spectra::Parts Spectra::compute(const State& state, const Workspace& workspace) {
  Arrays& arrays = *arrays_;
  Parts in_both_directions;
  const auto& [u, v, w] = state.velocity;
  std::size_t quantity = 0;
  for (const Field* field : {&u, &v, &w, &workspace.p}) {
    copy_cells(*field, workspace.work);
    transform(workspace, quantity++, field == &w, in_both_directions);
  }
  // The cospectrum Re(a conj b) of a and b, from the spectra of a + b and a - b, needs no second array.
  for (const int sign : {1, -1}) {
    op::with_order(order_, [&](auto order) {
      parallel_for("combination at edges", workspace.work.local_box(),
                   CombineAtEdge<order>{u.view(), w.view(), workspace.work.view(), static_cast<real>(sign)});
    });
    transform(workspace, quantity++, true, in_both_directions);
  }
  parallel_for("cospectrum along x", box_of(static_cast<std::int64_t>(arrays.size_along_x), 1, 1),
               Cospectrum{arrays.along_x(4), arrays.along_x(5)});
  parallel_for("cospectrum along y", box_of(static_cast<std::int64_t>(arrays.size_along_y), 1, 1),
               Cospectrum{arrays.along_y(4), arrays.along_y(5)});
  if (!in_both_directions.empty()) {
    const std::vector<double> difference = std::move(in_both_directions.back());
    in_both_directions.pop_back();
    for (std::size_t m = 0; m < difference.size(); ++m) {
      double& sum = in_both_directions.back()[m];
      sum = (sum - difference[m]) / 4;
    }
  }
  return in_both_directions;
}

void Spectra::transform(const Workspace& workspace, std::size_t quantity, bool at_faces, Parts& in_both_directions) {
  Arrays& arrays = *arrays_;
  const auto nx = static_cast<double>(cells()[0]);
  const auto ny = static_cast<double>(cells()[1]);
  const bool row_is_split = comm_->processes().py > 1;
  const auto [values, box] = workspace.poisson.transform_x(workspace.work, timers_);
  const ModePower power{values, static_cast<int>(box.lo[0]), static_cast<int>(cells()[0])};
  double* along_x = arrays.along_x(quantity);
  parallel_for("spectra along x", box_of(box.nx(), box.nz(), 1),
               AlongX{power, box.nx(), box.ny(), 1 / (nx * nx * ny), along_x});
  parallel_for("bounds of spectra", box_of(lanes, box.nz(), 1),
               LargestOfLanes{along_x, box.nx(), arrays.largest.data()});
  parallel_for("bounds of spectra", box_of(box.nz(), 1, 1),
               BoundsOfPlanes{arrays.largest.data(), arrays.bounds.data()});
  if (row_is_split) {
    std::vector<double> bounds = arrays.bounds.download();
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, bounds.data(), box.nz(), MPI_DOUBLE, MPI_MAX, comm_->row()),
              "MPI_Allreduce of bounds of spectra");
    arrays.bounds.upload(bounds);
  }

  workspace.poisson.transform_y(workspace.work, timers_);
  const auto modes = static_cast<int>(arrays.modes_along_y);
  const auto count = static_cast<int>(arrays.size_along_y);
  const double scale = 1 / (nx * nx * ny * ny);
  parallel_for("spectra along y", box_of(std::int64_t{modes} * lanes, box.nz(), 1),
               AlongY{power, box.nx(), modes, box.ny(), scale, arrays.bounds.data(), arrays.of_lanes.data()});
  parallel_for("spectra along y", box_of(count, 1, 1), AddLanes{arrays.of_lanes.data(), arrays.of_modes.data()});
  if (row_is_split) {
    std::vector<FixedPointSum> sums = arrays.of_modes.download();
    check_mpi(
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), count * FixedPointSum::digits, MPI_INT64_T, MPI_SUM, comm_->row()),
        "MPI_Allreduce of spectra");
    arrays.of_modes.upload(sums);
  }
  parallel_for("spectra along y", box_of(count, 1, 1),
               ValuesAlongY{arrays.of_modes.data(), arrays.bounds.data(), modes, arrays.along_y(quantity)});

  if (planes_.centers.empty()) return;
  const Buffer<int>& planes = at_faces ? arrays.faces : arrays.centers;
  const auto own = static_cast<std::int64_t>(planes.size());
  parallel_for("spectra in both directions", box_of(box.nx(), modes, own),
               AlongBoth{power, box.nx(), modes, box.ny(), scale, planes.data(), arrays.along_both.data()});
  in_both_directions.push_back(arrays.along_both.download());
  in_both_directions.back().resize(planes.size() * arrays.modes_along_y * static_cast<std::size_t>(box.nx()));
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

void Spectra::add_parts(std::span<const double> mine, const std::vector<std::size_t>& numbers) {
  const int ranks = comm_->processes().size();
  std::int64_t own_count = 0;
  for (const std::size_t n : numbers) own_count += box_of_part(profiles()[n], comm_->rank()).volume();
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
  check_mpi(MPI_Gatherv(mine.data(), static_cast<int>(own_count), MPI_DOUBLE, all.data(), counts.data(), places.data(),
                        MPI_DOUBLE, 0, comm_->world()),
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
