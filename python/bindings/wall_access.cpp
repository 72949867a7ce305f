#include "python/bindings/wall_access.hpp"

#include "core/device/together.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/decomp/field_copy.hpp"
#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "python/bindings/session.hpp"
#include "solver/walls/wall_response.hpp"

namespace sluice::python {

namespace {

int halo_rows(Simulation& simulation) {
  return reach_of(simulation.flow.order);
}

int bit_of(Walls::Side side, Location component) {
  const int n = component == Location::x_face ? 0 : component == Location::y_face ? 1 : 2;
  return 1 << (side == Walls::Side::bottom ? n : 3 + n);
}

}  // namespace

void copy_to(Field& plane, const GivenPlane& given) {
  SLUICE_REQUIRE(plane.row_length() == plane.box().nx() && plane.box().nz() == 1, "a plane whose rows have no gaps");
  const auto* const values = reinterpret_cast<const real*>(given.address);  // NOLINT(performance-no-int-to-ptr)
  const auto bytes = static_cast<std::size_t>(plane.box().volume()) * sizeof(real);
  if (given.on_device) {
    device::copy_async(plane.view().origin, values, bytes);
  } else {
    device::copy(plane.view().origin, values, bytes);
  }
}

Walls& WallAccess::walls() {
  Simulation& simulation = session_->simulation();
  if (simulation.flow.periodic_z) throw Error(ExitCode::usage, "this flow has no walls: it is periodic in z");
  return simulation.stepper.walls();
}

Field WallAccess::new_plane(Location location) {
  Box3 box = session_->simulation().box();
  box.lo[2] = 0;
  box.hi[2] = 1;
  return Field(box, location, 0, HaloWidth{0, 0});
}

Field& WallAccess::scratch() {
  if (!scratch_) scratch_.emplace(new_plane(Location::center));
  return *scratch_;
}

int WallAccess::agree(Stage here) {
  int stages = here;
  const Communicator& comm = session_->simulation().comm;
  if (comm.processes().size() > 1)
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &stages, 1, MPI_INT, MPI_BOR, comm.world()), "MPI_Allreduce of stages");
  return stages;
}

void WallAccess::run_response(const std::function<void()>& action) {
  session_->end_views();
  const device::KeepTurn keep;  // Python: its frames must not be interleaved, and it may use the device itself
  responding_ = true;
  agreed_ = failed_elsewhere_ = false;
  std::optional<Error> error;
  try {
    run_collectively(MPI_COMM_SELF, action);
  } catch (const Error& thrown) {
    error = thrown;  // thrown again when all processes know
  }
  if (!agreed_) agree(error ? failed : finished);
  responding_ = false;
  session_->end_views();
  if (error && !failed_elsewhere_) throw *error;
}

void WallAccess::enter_collective() {
  if (!responding_) return;
  const int stages = agreed_ ? failed : agree(calling);
  agreed_ = stages != calling;
  failed_elsewhere_ = failed_elsewhere_ || (stages & failed) != 0;
  if (failed_elsewhere_) throw Error(ExitCode::usage, "the response of a wall has failed on another process");
  if (agreed_) {
    throw Error(ExitCode::usage,
                "a response of a wall has called a collective function on some processes alone; call it on all");
  }
}

void WallAccess::agree_on_walls() {
  if (!agree_on_planes())
    throw Error(ExitCode::usage, "the response of a wall is set on some processes alone; set it on all");
}

bool WallAccess::agree_on_planes() {
  Simulation& simulation = session_->simulation();
  if (simulation.comm.processes().size() == 1) return true;
  Walls& all = simulation.stepper.walls();
  std::array<int, 2> bits{0, 0};  // what is set, what is not set
  const auto add = [&](int n, bool here) { bits[here ? 0 : 1] |= 1 << n; };
  int n = 0;
  for (const Walls::Side side : Walls::sides) {
    for (const Location component : Walls::components)
      add(n++, all.prescribed(side, component) != nullptr || waiting(side, component) != nullptr);
  }
  const int first_response = n;
  for (const Walls::Side side : Walls::sides) add(n++, simulation.stepper.has_response(side));
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, bits.data(), 2, MPI_INT, MPI_BOR, simulation.comm.world()), "MPI_Allreduce");
  n = 0;
  for (const Walls::Side side : Walls::sides) {
    for (const Location component : Walls::components) {
      if (((bits[0] >> n++) & 1) != 0) all.prescribe(side, component, halo_rows(simulation));
    }
  }
  return ((bits[0] & bits[1]) >> first_response) == 0;
}

void WallAccess::require_settable(Walls::Side side, Location component) {
  session_->require_between_steps();
  if (component == Location::z_face && session_->simulation().stepper.has_response(side))
    throw Error(ExitCode::usage, "w of this wall is set by its response; remove that first: response(None)");
  walls().require_prescribable(side, component);
}

bool WallAccess::set(Walls::Side side, Location component, const GivenPlane& values) {
  require_settable(side, component);
  Field& given = scratch();
  copy_to(given, values);
  if (!std::isfinite(sum_of_plane(given).value())) return false;
  copy_cells(given, next_velocity(side, component));
  return true;
}

Field& WallAccess::next_velocity(Walls::Side side, Location component) {
  Next& next = next_[{side, component}];
  if (next.velocity.bytes() == 0) next.velocity = new_plane(component);
  next.waits = true;
  session_->note_wall_change();
  return next.velocity;
}

WallAccess::Next* WallAccess::waiting(Walls::Side side, Location component) {
  const auto found = next_.find({side, component});
  return found != next_.end() && found->second.waits ? &found->second : nullptr;
}

void WallAccess::forget_next() {
  for (auto& [place, next] : next_) next.waits = false;
}

void WallAccess::with_next(const std::function<void()>& action) {
  std::vector<std::pair<Field*, Next*>> changed;
  for (auto& [place, next] : next_) {
    if (!next.waits) continue;
    Field& plane = walls().prescribe(place.first, place.second, halo_rows(session_->simulation()));
    if (next.before.bytes() == 0) next.before = new_plane(place.second);
    copy_cells(plane, next.before);
    copy_cells(next.velocity, plane);
    changed.emplace_back(&plane, &next);
  }
  try {
    action();
  } catch (const Error&) {
    for (const auto& [plane, next] : changed) copy_cells(next->before, *plane);
    throw;
  }
  forget_next();
}

Field& WallAccess::velocity(Walls::Side side, Location component) {
  if (component != Location::z_face && !walls().condition(side).drags())
    throw Error(ExitCode::usage, "a free-slip wall has no u and v: it does not drag the fluid along");
  const auto found = velocities_.try_emplace({side, component});
  if (found.second) found.first->second = new_plane(component);
  Field& plane = found.first->second;
  if (const Next* const next = waiting(side, component)) {
    copy_cells(next->velocity, plane);
  } else {
    walls().copy_velocity(side, component, plane);
  }
  return plane;
}

double WallAccess::mean(Walls::Side side, const GivenPlane& values) {
  if (walls().owns(side)) copy_to(scratch(), values);
  return mean_of_scratch(side);
}

double WallAccess::mean_of_scratch(Walls::Side side) {
  const Walls& all = walls();
  Simulation& simulation = session_->simulation();
  enter_collective();
  return mean_over_wall(all, side, scratch(), simulation.grid, simulation.comm.world());
}

real* WallAccess::packed(std::size_t size) {
  packed_.enlarge(size);
  return packed_.data();
}

std::pair<Field*, std::int64_t> WallAccess::plane(const std::string& name, double z) {
  Simulation& simulation = session_->simulation();
  const Grid& grid = simulation.grid;
  if (!(z >= 0 && z <= grid.length_z()))
    throw Error(ExitCode::usage, fmt::format("z = {:g} is outside of the flow, from 0 to {:g}", z, grid.length_z()));
  if (name != "w") static_cast<void>(session_->field(name));
  const Location location = name == "w" ? Location::z_face : session_->field(name).field.location();
  const auto distance = [&](std::int64_t k) {
    const double at = location == Location::z_face ? grid.z_nodes()[static_cast<std::size_t>(k) + 1] : grid.z_center(k);
    return std::abs(at - z);
  };
  std::int64_t nearest = 0;
  for (std::int64_t k = 1; k < grid.cells()[2]; ++k) {
    if (distance(k) < distance(nearest)) nearest = k;
  }
  auto found = planes_.find({name, nearest});
  if (found == planes_.end()) {
    found = planes_.try_emplace({name, nearest}, simulation.comm, simulation.decomposition, location, nearest).first;
  }
  FlowPlane& plane = found->second;
  enter_collective();
  if (name == "w") {
    plane.bring(simulation.velocity().w(simulation.stepper.metrics()));  // a correction that is pending stays so
  } else {
    plane.bring(session_->field(name).field);
  }
  return {&plane.plane(), nearest};
}

bool WallAccess::any_waits() const {
  return std::ranges::any_of(next_, [](const auto& entry) { return entry.second.waits; });
}

std::vector<PrescribedWall> WallAccess::next() {
  Simulation& simulation = session_->simulation();
  int waits = 0;
  for (const auto& [place, next] : next_)
    if (next.waits) waits |= bit_of(place.first, place.second);
  if (simulation.comm.processes().size() > 1)
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &waits, 1, MPI_INT, MPI_BOR, simulation.comm.world()), "MPI_Allreduce");
  std::vector<PrescribedWall> found;
  for (const Walls::Side side : Walls::sides) {
    for (const Location component : Walls::components) {
      if ((waits & bit_of(side, component)) == 0) continue;
      found.push_back({side, component, new_plane(component)});
      const Next* const next = waiting(side, component);
      copy_cells(next != nullptr ? next->velocity : *walls().prescribed(side, component), found.back().plane);
    }
  }
  return found;
}

void WallAccess::restore_next(const std::vector<PrescribedWall>& walls_then) {
  forget_next();
  for (const PrescribedWall& wall : walls_then) {
    Next& next = next_[{wall.side, wall.component}];
    next.velocity = new_plane(wall.component);
    copy_cells(wall.plane, next.velocity);
    next.waits = true;
  }
}

void WallAccess::clear() {
  scratch_.reset();
  packed_ = Buffer<real>();
  velocities_.clear();
  next_.clear();
  planes_.clear();
}

}  // namespace sluice::python
