// Walls whose w a function of other code sets at the start of a substep, and the planes of the flow that it reads.
#include "solver/walls/wall_function.hpp"

#include <utility>
#include <vector>

#include "core/device/memory.hpp"
#include "core/device/parallel_for.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

struct CopyW {
  WToCorrect w;
  int k;
  View3<real> to;
  SLUICE_INLINE void operator()(int i, int j, int) const { to(i, j, 0) = w.at(i, j, k); }
};

struct CopyPlane {
  View3<const real> from;
  int k;
  View3<real> to;
  SLUICE_INLINE void operator()(int i, int j, int) const { to(i, j, 0) = from(i, j, k); }
};

Box3 plane_of(Box3 box) {
  box.lo[2] = 0;
  box.hi[2] = 1;
  return box;
}

}  // namespace

void WallFunctions::set(Walls::Side side, WallFunction function, int halo_rows) {
  const Field& plane = walls_->prescribe(side, Location::z_face, halo_rows);
  auto& proposal = proposals_[static_cast<std::size_t>(side)];
  if (!function) return proposal.reset();
  proposal.emplace(Proposal{std::move(function), Field(plane.box(), plane.location(), 0, plane.halo())});
}

bool WallFunctions::respond(const std::function<VelocityToCorrect()>& velocity, const Metrics& metrics) {
  std::array<Field*, 2> planes{};
  if (failure_) return false;
  try {
    for (std::size_t n = 0; n < planes.size(); ++n) {
      if (!proposals_[n]) continue;
      run_collectively(comm_->world(), [&] { proposals_[n]->function(velocity(), metrics, proposals_[n]->w); });
      planes[n] = &proposals_[n]->w;
    }
    walls_->accept(planes);
  } catch (const Error& error) {
    failure_ = error;  // thrown after the step, whose state would be incomplete now
    return false;
  }
  return planes[0] != nullptr || planes[1] != nullptr;
}

void WallFunctions::throw_failure() {
  if (const auto failure = std::exchange(failure_, std::nullopt)) throw *failure;
}

FlowPlane::FlowPlane(const Communicator& comm, const Decomposition& decomposition, Location location, std::int64_t k)
    : comm_(&comm), plane_(plane_of(decomposition.x_pencil(comm.rank())), location, 0, HaloWidth{0, 0}) {
  SLUICE_REQUIRE(k >= 0 && k < decomposition.cells()[2], "a plane of the grid");
  const std::vector<Box3> boxes = comm.column_boxes([&](int rank) { return decomposition.x_pencil(rank); });
  for (std::size_t z = 0; z < boxes.size(); ++z) {
    if (k < boxes[z].lo[2] || k >= boxes[z].hi[2]) continue;
    owner_ = static_cast<int>(z);
    k_ = static_cast<int>(k - boxes[z].lo[2]);
  }
  if (boxes.size() > 1) image_ = HostImage(plane_.buffer().data(), plane_.bytes());
}

void FlowPlane::bring(const WToCorrect& w) {
  if (is_here()) parallel_for("plane of w", plane_.local_box(), CopyW{w, k_, plane_.view()});
  broadcast();
}

void FlowPlane::bring(const Field& field) {
  if (is_here()) parallel_for("plane of a field", plane_.local_box(), CopyPlane{field.view(), k_, plane_.view()});
  broadcast();
}

void FlowPlane::broadcast() {
  if (comm_->processes().pz == 1) return;
  const std::size_t bytes = plane_.bytes();
  device::synchronize();
  if (is_here()) image_.fetch(0, bytes);
  check_mpi(MPI_Bcast(image_.data(), static_cast<int>(bytes), MPI_BYTE, owner_, comm_->column()), "MPI_Bcast");
  if (!is_here()) image_.flush(0, bytes);
}

}  // namespace sluice
