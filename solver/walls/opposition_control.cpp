#include "solver/walls/opposition_control.hpp"

#include <algorithm>
#include <cmath>

#include "core/device/parallel_for.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/exact_sum.hpp"

namespace sluice {

namespace {

/// The rows of a plane one after the other, y halo included.
struct PlaneRows {
  int nx, first_j;
  SLUICE_INLINE std::ptrdiff_t operator()(int i, int j) const {
    return static_cast<std::ptrdiff_t>(j - first_j) * nx + i;
  }
};

/// w of one plane.
struct PackPlane {
  WToCorrect w;
  int plane;
  real* rows;
  PlaneRows at;
  SLUICE_INLINE void operator()(int i, int j, int) const { rows[at(i, j)] = w.at(i, j, plane); }
};

struct Sum {
  const real* rows;
  PlaneRows at;
  SLUICE_INLINE void operator()(Cell c, double (&value)[1]) const {
    value[0] = static_cast<double>(rows[at(c.i, c.j)]);
  }
};

struct Oppose {
  const real* rows;
  PlaneRows at;
  double mean, amplitude;
  View3<real> wall;
  SLUICE_INLINE void operator()(int i, int j, int) const {
    wall(i, j, 0) = static_cast<real>(amplitude * (mean - static_cast<double>(rows[at(i, j)])));
  }
};

struct UnpackPlane {
  const real* rows;
  PlaneRows at;
  View3<real> wall;
  SLUICE_INLINE void operator()(int i, int j, int) const { wall(i, j, 0) = rows[at(i, j)]; }
};

}  // namespace

std::int64_t OppositionControl::detection_face(const Grid& grid, Walls::Side side, double height) {
  const double z = side == Walls::Side::bottom ? height : grid.length_z() - height;
  const auto distance = [&](std::int64_t k) { return std::abs(grid.z_nodes()[static_cast<std::size_t>(k) + 1] - z); };
  std::int64_t nearest = 0;
  for (std::int64_t k = 1; k + 1 < grid.cells()[2]; ++k) {
    if (distance(k) < distance(nearest)) nearest = k;
  }
  return nearest;
}

OppositionControl::OppositionControl(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                                     Walls& walls)
    : comm_(&comm),
      walls_(&walls),
      box_(decomposition.x_pencil(comm.rank())),
      cells_(grid.cells()),
      points_(static_cast<double>(grid.cells()[0]) * static_cast<double>(grid.cells()[1])) {
  const std::vector<Box3> boxes = comm.column_boxes([&](int rank) { return decomposition.x_pencil(rank); });
  for (const Walls::Side side : Walls::sides) {
    const Actuation& actuation = walls.condition(side).actuation;
    if (actuation.kind != ActuationKind::opposition_control) continue;
    Control control{
        side, actuation.amplitude, detection_face(grid, side, actuation.height), 0, 0, &walls.respond(side), {}, {}};
    for (std::size_t z = 0; z < boxes.size(); ++z) {
      if (boxes[z].lo[2] <= control.face && control.face < boxes[z].hi[2]) control.detector = static_cast<int>(z);
    }
    control.actor = side == Walls::Side::bottom ? 0 : static_cast<int>(boxes.size()) - 1;
    const int here = comm.z_index();
    if (here == control.detector || here == control.actor) {
      const std::int64_t rows = box_.extent(1) + std::int64_t{2} * control.plane->halo().y;
      control.message = Buffer<real>(static_cast<std::size_t>(box_.extent(0) * rows));
      if (control.detector != control.actor) control.image = HostImage(control.message.data(), control.message.bytes());
    }
    controls_.push_back(std::move(control));
  }
}

void OppositionControl::bring(const WToCorrect& w, Control& control) const {
  const int here = comm_->z_index();
  const int halo = control.plane->halo().y;
  const PlaneRows rows{box_.nx(), -halo};
  if (here == control.detector) {
    const Box3 plane{{0, -halo, 0}, {box_.nx(), box_.ny() + halo, 1}};
    const int k = static_cast<int>(control.face - box_.lo[2]);
    parallel_for("detect w", plane, PackPlane{w, k, control.message.data(), rows});
  }
  if (control.detector == control.actor || (here != control.detector && here != control.actor)) return;
  const auto bytes =
      static_cast<std::size_t>(box_.extent(0) * (box_.extent(1) + std::int64_t{2} * halo)) * sizeof(real);
  constexpr int tag = 0;
  if (here == control.detector) {
    device::synchronize();
    control.image.fetch(0, bytes);
    check_mpi(MPI_Send(control.image.data(), static_cast<int>(bytes), MPI_BYTE, control.actor, tag, comm_->column()),
              "MPI_Send");
  } else {
    check_mpi(MPI_Recv(control.image.data(), static_cast<int>(bytes), MPI_BYTE, control.detector, tag, comm_->column(),
                       MPI_STATUS_IGNORE),
              "MPI_Recv");
    control.image.flush(0, bytes);
  }
}

const OppositionControl::Control* OppositionControl::control_of(Walls::Side side) const {
  const auto found = std::ranges::find(controls_, side, &Control::side);
  return found == controls_.end() ? nullptr : &*found;
}

void OppositionControl::restore(Walls::Side side, const std::vector<double>& whole_plane) {
  SLUICE_REQUIRE(whole_plane.size() == static_cast<std::size_t>(cells_[0] * cells_[1]), "a plane has nx ny values");
  Field& plane = *control_of(side)->plane;
  const int halo = plane.halo().y;
  std::vector<real> rows;
  for (std::int64_t j = box_.lo[1] - halo; j < box_.hi[1] + halo; ++j) {
    const std::int64_t row = ((j % cells_[1]) + cells_[1]) % cells_[1];
    for (std::int64_t i = 0; i < cells_[0]; ++i)
      rows.push_back(static_cast<real>(whole_plane[static_cast<std::size_t>(row * cells_[0] + i)]));
  }
  const Buffer<real> values(rows);
  const Box3 box{{0, -halo, 0}, {box_.nx(), box_.ny() + halo, 1}};
  parallel_for("restore w of a wall", box, UnpackPlane{values.data(), {box_.nx(), -halo}, plane.view()});
  device::synchronize();
}

void OppositionControl::respond(const WToCorrect& w) {
  for (Control& control : controls_) {
    const int halo = control.plane->halo().y;
    const PlaneRows rows{box_.nx(), -halo};
    bring(w, control);
    const bool acts = walls_->owns(control.side);
    const Box3 own{{0, 0, 0}, {box_.nx(), box_.ny(), 1}};
    ExactSum sum;
    if (acts) sum = reduce_planes<1>("mean of detected w", own, Sum{control.message.data(), rows}).front()[0];
    const double mean = total(sum, comm_->world()) / points_;
    if (!acts) continue;
    const Box3 plane{{0, -halo, 0}, {box_.nx(), box_.ny() + halo, 1}};
    parallel_for("oppose w", plane,
                 Oppose{control.message.data(), rows, mean, control.amplitude, control.plane->view()});
  }
}

}  // namespace sluice
