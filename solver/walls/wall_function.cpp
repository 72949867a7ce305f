// Walls whose w a function of other code sets at the start of a substep, and the planes of the flow that it reads.
#include "solver/walls/wall_function.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "core/decomp/field_copy.hpp"
#include "core/device/memory.hpp"
#include "core/device/parallel_for.hpp"
#include "core/support/collective.hpp"
#include "solver/walls/wall_response.hpp"

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

/// In double precision, as WallResponse::oppose_fluctuation.
struct Subtract {
  View3<real> plane;
  double mean;
  SLUICE_INLINE void operator()(int i, int j, int) const {
    plane(i, j, 0) = static_cast<real>(static_cast<double>(plane(i, j, 0)) - mean);
  }
};

void subtract(Field& plane, double mean) {
  parallel_for("fluctuation of w", plane.local_box(), Subtract{plane.view(), mean});
}

Box3 plane_of(Box3 box) {
  box.lo[2] = 0;
  box.hi[2] = 1;
  return box;
}

}  // namespace

void WallFunctions::set(Walls::Side side, WallFunction function, int halo_rows, bool remove_mean) {
  const Field& plane = walls_->prescribe(side, Location::z_face, halo_rows);
  auto& proposal = proposals_[static_cast<std::size_t>(side)];
  if (!function) return proposal.reset();
  proposal.emplace(Proposal{std::move(function), Field(plane.box(), plane.location(), 0, plane.halo()), remove_mean});
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
    if (!remove_means()) walls_->accept(planes);
  } catch (const Error& error) {
    failure_ = error;  // thrown after the step, whose state would be incomplete now
    return false;
  }
  return planes[0] != nullptr || planes[1] != nullptr;
}

/// Subtracts the means where that is asked for. If nothing else flows through the walls, the fluxes are known to
/// balance: takes over the planes and returns true.
bool WallFunctions::remove_means() {
  bool all = true;
  for (const Walls::Side side : Walls::sides) {
    auto& proposal = proposals_[static_cast<std::size_t>(side)];
    if (!proposal || !proposal->remove_mean) {
      all = all && !proposal && walls_->velocity(side, Location::z_face).is_zero();
      continue;
    }
    const double mean = mean_over_wall(*walls_, side, proposal->w, *grid_, comm_->world());
    if (!std::isfinite(mean)) throw Error(ExitCode::usage, "walls: a value of w of a response is not finite");
    subtract(proposal->w, mean);
  }
  for (const Walls::Side side : Walls::sides) {
    const auto& proposal = of(side);
    if (all && proposal) copy_cells(proposal->w, *walls_->prescribed(side, Location::z_face));
  }
  return all;
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
