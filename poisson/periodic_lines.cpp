#include "poisson/periodic_lines.hpp"

#include <cmath>

#include "core/device/parallel_for.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

/// The first and the last value of each line, as far as the rank has them; otherwise 0.
struct TakeEnds {
  View3<Complex> lines;
  Complex* ends;
  int nx, count, last;  ///< last: local index of the last plane
  bool has_first, has_last;
  SLUICE_INLINE void operator()(int i, int j, int /*k*/) const {
    const int line = j * nx + i;
    ends[line] = has_first ? lines(i, j, 0) : Complex(0, 0);
    ends[count + line] = has_last ? lines(i, j, last) : Complex(0, 0);
  }
};

/// Adds the homogeneous solution to one line of one z block. Each of its two parts decays with the distance from one
/// end, and is left out where it is negligible.
struct AddHomogeneous {
  View3<Complex> lines;
  const Complex* ends;
  const double* rate;
  const int* bounds;
  int nx, count, nz, first_plane;

  SLUICE_INLINE void add(int i, int j, int k, double factor, double re, double im) const {
    real* const x = reinterpret_cast<real*>(&lines(i, j, k - first_plane));
    x[0] = static_cast<real>(static_cast<double>(x[0]) + factor * re);
    x[1] = static_cast<real>(static_cast<double>(x[1]) + factor * im);
  }
  SLUICE_INLINE void operator()(int i, int j, int block) const {
    constexpr double negligible = 100;  // e^-100
    const int line = j * nx + i;
    const real* const first = reinterpret_cast<const real*>(ends + line);
    const real* const last = reinterpret_cast<const real*>(ends + count + line);
    // + 0 makes -0 that of the sums over several ranks.
    double re = (static_cast<double>(first[0]) + 0.0) - (static_cast<double>(last[0]) + 0.0);
    double im = (static_cast<double>(first[1]) + 0.0) - (static_cast<double>(last[1]) + 0.0);
    const double a = rate[line];
    const int begin = bounds[block];
    const int end = bounds[block + 1];
    if (a == 0) {
      for (int k = begin; k < end; ++k) add(i, j, k, -((nz - 1) / 2.0 - k) / nz, re, im);
      return;
    }
    const double r = std::exp(-a);
    const double scale = r / ((1 + r) * std::expm1(-nz * a));
    re *= scale;
    im *= scale;
    if (begin * a < negligible) {
      double factor = std::exp(-begin * a);
      for (int k = begin; k < end; ++k, factor *= r) add(i, j, k, factor, re, im);
    }
    if ((nz - end) * a < negligible) {
      double factor = std::exp(-(nz - end) * a);
      for (int k = end - 1; k >= begin; --k, factor *= r) add(i, j, k, -factor, re, im);
    }
  }
};

/// Sets -log r of each line.
struct SetRate {
  const double* shift_x;
  const double* shift_y;
  double* rate;
  int nx;
  double dz;
  SLUICE_INLINE void operator()(int i, int j, int /*k*/) const {
    rate[j * nx + i] = 2 * std::asinh(std::sqrt(-(shift_x[i] + shift_y[j])) * dz / 2);
  }
};

}  // namespace

PeriodicLines::PeriodicLines(const Communicator& comm, const Decomposition& decomposition,
                             const std::vector<double>& z_nodes)
    : comm_(&comm),
      box_(decomposition.spectral_y_pencil(comm.rank())),
      nz_(static_cast<int>(decomposition.cells()[2])),
      dz_((z_nodes.back() - z_nodes.front()) / nz_),
      shifts_(static_cast<std::size_t>(box_.extent(0) + box_.extent(1))),
      upload_(shifts_.size()),
      rate_(static_cast<std::size_t>(box_.extent(0) * box_.extent(1))) {
  for (std::size_t k = 0; k + 1 < z_nodes.size(); ++k)
    SLUICE_REQUIRE(std::abs(z_nodes[k + 1] - z_nodes[k] - dz_) <= 1e-10 * dz_,
                   "periodic in z: the grid must be uniform");
  ends_ = Buffer<Complex>(2 * rate_.size());
  const auto [first, end] = decomposition.block_range(comm.z_index());
  for (int block = first; block <= end; ++block)
    host_bounds_.push_back(static_cast<int>(decomposition.z_blocks().bounds()[static_cast<std::size_t>(block)]));
  bounds_ = Buffer<int>(host_bounds_);
  if (comm.processes().pz > 1) image_ = HostImage(ends_.data(), ends_.bytes());
}

void PeriodicLines::set(const std::vector<double>& shift_x, const std::vector<double>& shift_y) {
  std::vector<double> shifts(shift_x.begin() + box_.lo[0], shift_x.begin() + box_.hi[0]);
  shifts.insert(shifts.end(), shift_y.begin() + box_.lo[1], shift_y.begin() + box_.hi[1]);
  upload_(shifts, shifts_);
  parallel_for("rates of lines", box_of(box_.nx(), box_.ny(), 1),
               SetRate{shifts_.data(), shifts_.data() + box_.nx(), rate_.data(), box_.nx(), dz_});
}

double PeriodicLines::memory(const Decomposition& decomposition, int rank) {
  const Box3 box = decomposition.spectral_y_pencil(rank);
  return static_cast<double>(box.extent(0) * box.extent(1)) * (sizeof(double) + 2 * sizeof(Complex));
}

void PeriodicLines::correct(View3<Complex> lines) {
  const int count = box_.nx() * box_.ny();
  const Box3 plane = box_of(box_.nx(), box_.ny(), 1);
  parallel_for("ends of lines", plane,
               TakeEnds{lines, ends_.data(), box_.nx(), count, box_.nz() - 1, box_.lo[2] == 0, box_.hi[2] == nz_});
  if (comm_->processes().pz > 1) {  // sums of one value and zeros
    device::synchronize();
    image_.fetch(0, ends_.bytes());
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, image_.data(), 4 * count, sizeof(real) == 8 ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM,
                            comm_->column()),
              "MPI_Allreduce");
    image_.flush(0, ends_.bytes());
  }
  parallel_for("periodic lines", box_of(box_.nx(), box_.ny(), static_cast<std::int64_t>(host_bounds_.size()) - 1),
               AddHomogeneous{lines, ends_.data(), rate_.data(), bounds_.data(), box_.nx(), count, nz_,
                              static_cast<int>(box_.lo[2])});
}

}  // namespace sluice
