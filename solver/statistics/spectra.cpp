// Spectra along x and y on chosen planes: samples between steps, with the transforms of the Poisson solver.
#include "solver/statistics/spectra.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "core/device/event.hpp"
#include "core/device/parallel_for.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "poisson/fft/power_sums.hpp"
#include "solver/statistics/spectra_loops.hpp"
#include "solver/statistics/spectra_rows.hpp"

namespace sluice {

using namespace spectra;

namespace {

// Numbers of the quantities that are transformed: u, v, w, p, the sum for uw, then two for each scalar: c and the sum
// for wc; last the difference for all cospectra in turn.
constexpr std::size_t pressure = 3;
constexpr std::size_t cospectrum_uw = 4;
constexpr std::size_t first_of_scalars = 5;

std::size_t count_quantities(const FlowParameters& flow) {
  return first_of_scalars + 2 * flow.scalars.size() + 1;
}

/// In the order of the quantities. `heights`: number of chosen heights.
std::vector<ProfileInfo> list_spectra(std::size_t heights, const FlowParameters& flow) {
  struct Quantity {
    std::string name, long_name;
    ProfileAxis axis;
  };
  std::vector<Quantity> quantities{{"uu", "u squared", ProfileAxis::z_center},
                                   {"vv", "v squared", ProfileAxis::z_center},
                                   {"ww", "w squared, on the z faces", ProfileAxis::z_face},
                                   {"pp", "pressure squared", ProfileAxis::z_center},
                                   {"uw", "u w, the scheme's momentum flux through z faces", ProfileAxis::z_face}};
  for (const FieldDescriptor& scalar : scalar_fields(flow)) {
    quantities.push_back({scalar.name + "_squared", scalar.long_name + ", squared", ProfileAxis::z_center});
    quantities.push_back(
        {scalar.name + "_w", scalar.long_name + " times w, the scheme's flux through z faces", ProfileAxis::z_face});
  }
  std::vector<ProfileInfo> list;
  for (const auto& [name, long_name, axis] : quantities) {
    list.push_back({name + "_kx", long_name + ", by streamwise wavenumber", "1", axis, ModeAxis::kx});
    list.push_back({name + "_ky", long_name + ", by spanwise wavenumber", "1", axis, ModeAxis::ky});
    if (heights == 0) continue;
    list.push_back({name + "_kxky", long_name + ", by both wavenumbers", "1",
                    axis == ProfileAxis::z_face ? ProfileAxis::chosen_face : ProfileAxis::chosen_center, ModeAxis::kxky,
                    static_cast<std::int64_t>(heights)});
  }
  return list;
}

}  // namespace

/// What the loops of a sample write, in device memory; `box`: the coefficients of this rank with y whole. Also the
/// chosen planes.
struct Spectra::Arrays {
  Arrays(std::size_t count, std::int64_t cells_x, const Box3& box, const std::vector<int>& own_centers,
         const std::vector<int>& own_faces)
      : quantities(count),
        modes_along_y(static_cast<std::size_t>(box.ny() / 2 + 1)),
        size_along_x(static_cast<std::size_t>(box.extent(0) * box.extent(2))),
        size_along_y(modes_along_y * static_cast<std::size_t>(box.nz())),
        results(quantities * (size_along_x + size_along_y)),
        bounds(static_cast<std::size_t>(box.nz())),
        of_modes(size_along_y),
        centers(own_centers),
        faces(own_faces),
        along_both(std::max(centers.size(), faces.size()) * modes_along_y * static_cast<std::size_t>(box.extent(0))),
        host(static_cast<double*>(device::allocate_host(results.bytes()))),
        on_host(quantities),
        values_along_x(ValueTransform::make(cells_x)),
        power(PowerTransform::make(box, cells_x)) {}

  /// The spectra of one quantity: first that along x, then that along y.
  std::size_t size() const { return size_along_x + size_along_y; }
  double* along_x(std::size_t quantity) { return results.data() + quantity * size(); }
  double* along_y(std::size_t quantity) { return along_x(quantity) + size_along_x; }

  /// Issues the copy of the spectra of a quantity to the host.
  void fetch(std::size_t quantity) {
    device::copy_async(host.get() + quantity * size(), along_x(quantity), size() * sizeof(double));
    on_host[quantity].record();
  }

  std::size_t quantities, modes_along_y, size_along_x, size_along_y;
  Buffer<double> results, bounds;
  Buffer<FixedPointSum> of_modes;
  Buffer<double> largest, lanes_along_x;  ///< of coefficients that are stored, as lanes_along_y
  Buffer<FixedPointSum> lanes_along_y;
  Buffer<int> centers, faces;
  Buffer<double> along_both;
  device::HostPointer<double> host;    ///< a copy of the results
  std::vector<device::Event> on_host;  ///< of each quantity: it has been copied
  // Null if there are none; on all ranks or on none.
  std::unique_ptr<ValueTransform> values_along_x;
  std::unique_ptr<PowerTransform> power;
};

Spectra::Spectra(const FlowParameters& flow, const Communicator& comm, const Decomposition& decomposition,
                 ChosenPlanes planes)
    : BlockSums(list_spectra(planes.centers.size(), flow), decomposition.cells(), comm.rank() == 0),
      order_(flow.order),
      quantities_(count_quantities(flow)),
      periodic_z_(flow.periodic_z),
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

std::vector<ProfileInfo> Spectra::list(std::size_t heights, const FlowParameters& flow) {
  return list_spectra(heights, flow);
}

double Spectra::block_bytes(const std::array<std::int64_t, 3>& cells, std::size_t heights, const FlowParameters& flow) {
  return bytes_of(list_spectra(heights, flow), cells);
}

void Spectra::sample(const State& state, double forcing, const Workspace& workspace) {
  if (!arrays_) {
    arrays_ = std::make_unique<Arrays>(quantities_, cells()[0], decomposition_->spectral_y_pencil(comm_->rank()),
                                       own_planes(false), own_planes(true));
    // GPUs may differ in the shared memory that they offer.
    const auto ranks = static_cast<std::uint64_t>(comm_->processes().size());
    if (sum_over(comm_->world(), arrays_->values_along_x ? 1 : 0) < ranks) arrays_->values_along_x.reset();
    if (sum_over(comm_->world(), arrays_->power ? 1 : 0) < ranks) arrays_->power.reset();
  }
  // Numbers of profiles, by quantity. Spectra in both directions are large, so each is exchanged on its own.
  std::vector<std::vector<std::size_t>> in_one_direction(quantities_);
  std::vector<std::size_t> in_both;
  for (std::size_t n = 0, quantity = 0; n < profiles().size(); ++n) {
    const ModeAxis modes = profiles()[n].modes;
    if (modes == ModeAxis::kxky) in_both.push_back(n);
    if (modes == ModeAxis::kxky) continue;
    in_one_direction[quantity].push_back(n);
    if (modes == ModeAxis::ky) ++quantity;
  }
  const auto [order, in_both_directions] = compute(state, workspace);
  for (std::size_t n = 0; n < in_both.size(); ++n) add_parts(in_both_directions[n], {in_both[n]});
  // While a GPU goes on with the next quantities.
  const Arrays& arrays = *arrays_;
  for (const std::size_t quantity : order) {
    arrays.on_host[quantity].wait();
    add_parts({arrays.host.get() + quantity * arrays.size(), arrays.size()}, in_one_direction[quantity]);
  }
  count_sample(state.time, forcing);
}

Spectra::Issued Spectra::compute(const State& state, const Workspace& workspace) {
  Issued issued;
  Parts& in_both_directions = issued.in_both_directions;
  in_both_directions.resize(quantities_);
  const auto add = [&](std::size_t quantity, std::vector<double> in_both) {
    arrays_->fetch(quantity);
    issued.order.push_back(quantity);
    in_both_directions[quantity] = std::move(in_both);
  };
  const auto& [u, v, w] = state.velocity;
  // The work array holds p if p is not given: p is first.
  const Field& p = workspace.p != nullptr ? *workspace.p : workspace.work;
  add(pressure, transform(workspace, pressure, {&p}));
  std::size_t next = 0;
  for (const Field* component : {&u, &v, &w}) {
    add(next, transform(workspace, next, {component}, component == &w));
    ++next;
  }
  add(cospectrum_uw, cospectrum(workspace, cospectrum_uw, {&u, Values::sum_at_edges, &w}));
  next = first_of_scalars;
  for (const auto& [descriptor, c] : state.transported) {
    add(next, transform(workspace, next, {&c}));
    add(next + 1, cospectrum(workspace, next + 1, {&c, Values::sum_at_faces, &w}));
    next += 2;
  }
  return issued;
}

std::vector<double> Spectra::cospectrum(const Workspace& workspace, std::size_t quantity, Transformed sum) {
  Arrays& arrays = *arrays_;
  const std::size_t last = quantities_ - 1;
  std::vector<double> of_sum = transform(workspace, quantity, sum, true);
  sum.sign = -1;
  const std::vector<double> of_difference = transform(workspace, last, sum, true);
  parallel_for("cospectrum along x", box_of(static_cast<std::int64_t>(arrays.size_along_x), 1, 1),
               Cospectrum{arrays.along_x(quantity), arrays.along_x(last)});
  parallel_for("cospectrum along y", box_of(static_cast<std::int64_t>(arrays.size_along_y), 1, 1),
               Cospectrum{arrays.along_y(quantity), arrays.along_y(last)});
  for (std::size_t m = 0; m < of_sum.size(); ++m) of_sum[m] = (of_sum[m] - of_difference[m]) / 4;
  return of_sum;
}

PoissonSolver::Coefficients Spectra::transform_x(const Workspace& workspace, const Transformed& transformed) {
  Field& work = workspace.work;
  if (arrays_->values_along_x) {
    arrays_->values_along_x->run(transformed, order_, work);
    return workspace.poisson.coefficients(work, timers_);
  }
  if (transformed.u != &work) {
    with_values(transformed, order_, [&](const auto& values) {
      parallel_for("values of spectra", work.local_box(),
                   WriteValues<std::decay_t<decltype(values)>>{values, work.view()});
    });
  }
  return workspace.poisson.transform_x(work, timers_);
}

std::vector<double> Spectra::transform(const Workspace& workspace, std::size_t quantity, const Transformed& transformed,
                                       bool at_faces) {
  Arrays& arrays = *arrays_;
  const Buffer<int>& planes = at_faces ? arrays.faces : arrays.centers;
  const PowerSums sums{arrays.along_x(quantity), arrays.along_y(quantity), arrays.along_both.data(), planes.data(),
                       static_cast<int>(planes.size())};
  const PoissonSolver::Coefficients along_x = transform_x(workspace, transformed);
  if (arrays.power) {
    arrays.power->run(along_x.values, sums);
    if (comm_->processes().py > 1) add_over_row(sums.along_y, arrays.size_along_y);
  } else {
    sum_stored(workspace, along_x, sums);
  }
  if (planes_.centers.empty()) return {};
  std::vector<double> in_both_directions = arrays.along_both.download();
  in_both_directions.resize(planes.size() * arrays.modes_along_y * static_cast<std::size_t>(along_x.box.nx()));
  return in_both_directions;
}

void Spectra::add_over_row(double* values, std::size_t count) const {
  const auto ranks = static_cast<std::size_t>(comm_->processes().py);
  std::vector<double> mine(count), all(ranks * count);
  device::copy(mine.data(), values, count * sizeof(double));
  const auto n = static_cast<int>(count);
  check_mpi(MPI_Allgather(mine.data(), n, MPI_DOUBLE, all.data(), n, MPI_DOUBLE, comm_->row()),
            "MPI_Allgather of spectra");
  std::ranges::fill(mine, 0);
  for (std::size_t m = 0; m < all.size(); ++m) mine[m % count] += all[m];
  device::copy(values, mine.data(), count * sizeof(double));
}

void Spectra::sum_stored(const Workspace& workspace, const PoissonSolver::Coefficients& along_x,
                         const PowerSums& sums) {
  Arrays& arrays = *arrays_;
  const Box3& box = along_x.box;
  const auto nx = static_cast<double>(cells()[0]);
  const auto ny = static_cast<double>(cells()[1]);
  const bool row_is_split = comm_->processes().py > 1;
  const ModePower power{along_x.values, static_cast<int>(box.lo[0]), static_cast<int>(cells()[0])};
  arrays.lanes_along_x.enlarge(arrays.size_along_x * lanes);
  arrays.largest.enlarge(arrays.bounds.size() * lanes);
  arrays.lanes_along_y.enlarge(arrays.of_modes.size() * lanes);
  parallel_for("spectra along x", box_of(box.nx(), lanes, box.nz()),
               AlongX{power, box.nx(), box.ny(), arrays.lanes_along_x.data()});
  parallel_for("spectra along x", box_of(box.nx(), box.nz(), 1),
               AddLanesAlongX{arrays.lanes_along_x.data(), box.nx(), 1 / (nx * nx * ny), sums.along_x});
  parallel_for("bounds of spectra", box_of(lanes, box.nz(), 1),
               LargestOfLanes{sums.along_x, box.nx(), arrays.largest.data()});
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
               AlongY{power, box.nx(), modes, box.ny(), scale, arrays.bounds.data(), arrays.lanes_along_y.data()});
  parallel_for("spectra along y", box_of(count, 1, 1),
               AddLanesAlongY{arrays.lanes_along_y.data(), arrays.of_modes.data()});
  if (row_is_split) {
    std::vector<FixedPointSum> of_modes = arrays.of_modes.download();
    check_mpi(
        MPI_Allreduce(MPI_IN_PLACE, of_modes.data(), count * FixedPointSum::digits, MPI_INT64_T, MPI_SUM, comm_->row()),
        "MPI_Allreduce of spectra");
    arrays.of_modes.upload(of_modes);
  }
  parallel_for("spectra along y", box_of(count, 1, 1),
               ValuesAlongY{arrays.of_modes.data(), arrays.bounds.data(), modes, sums.along_y});
  if (sums.planes_count == 0) return;
  parallel_for("spectra in both directions", box_of(box.nx(), modes, sums.planes_count),
               AlongBoth{power, box.nx(), modes, box.ny(), scale, sums.planes, sums.of_planes});
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
  const auto size_of_part = [&](int rank) {
    std::int64_t size = 0;
    for (const std::size_t n : numbers) size += box_of_part(profiles()[n], rank).volume();
    return static_cast<int>(size);
  };
  std::vector<double> all;
  if (ranks > 1) {
    std::vector<int> counts, places;
    int total = 0;
    for (int rank = 0; holds_sums() && rank < ranks; ++rank) {
      counts.push_back(size_of_part(rank));
      places.push_back(total);
      total += counts.back();
    }
    all.resize(static_cast<std::size_t>(total));
    check_mpi(MPI_Gatherv(mine.data(), size_of_part(comm_->rank()), MPI_DOUBLE, all.data(), counts.data(),
                          places.data(), MPI_DOUBLE, 0, comm_->world()),
              "MPI_Gatherv of spectra");
  }
  if (!holds_sums()) return;
  const double* value = ranks > 1 ? all.data() : mine.data();
  for (int rank = 0; rank < ranks; ++rank) {
    for (const std::size_t n : numbers) {
      const ProfileInfo& spectrum = profiles()[n];
      value = add_part(spectrum, box_of_part(spectrum, rank), value, sums(n));
    }
  }
  if (!periodic_z_) return;
  for (const std::size_t n : numbers) {
    if (!profiles()[n].at_faces() || profiles()[n].is_chosen()) continue;
    // Face 0 is the uppermost.
    const auto modes = static_cast<std::ptrdiff_t>(sums(n).size()) / (cells()[2] + 1);
    std::copy_n(sums(n).end() - modes, modes, sums(n).begin());
  }
}

const double* Spectra::add_part(const ProfileInfo& spectrum, const Box3& box, const double* values,
                                std::vector<double>& sums) const {
  const std::int64_t modes_x = spectrum.modes_along_x(cells());
  const std::int64_t modes_y = spectrum.modes_along_y(cells());
  // Whole planes are one long row.
  const bool whole_planes = box.extent(0) == modes_x && box.extent(1) == modes_y;
  const std::int64_t length = whole_planes ? box.volume() : box.extent(0);
  const std::int64_t rows = whole_planes ? 1 : box.extent(1) * box.extent(2);
  for (std::int64_t row = 0; row < rows && length > 0; ++row) {
    const std::int64_t j = box.lo[1] + row % box.extent(1);
    const std::int64_t k = box.lo[2] + row / box.extent(1);
    double* const sum = sums.data() + (k * modes_y + j) * modes_x + box.lo[0];
    for (std::int64_t i = 0; i < length; ++i) sum[i] += *values++;
  }
  return values;
}

}  // namespace sluice
