#include "python/bindings/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include "core/decomp/field_copy.hpp"
#include "core/device/memory.hpp"
#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "io/files/field_writer.hpp"
#include "io/files/hdf5_parallel.hpp"
#include "model/schedule.hpp"
#include "solver/walls/wall_response.hpp"
#include "src/outputs/observer.hpp"
#include "src/run/arrival.hpp"

namespace sluice::python {

namespace {

/// The case of rank 0 on all ranks.
CaseInput shared_case(CaseText source, MPI_Comm comm) {
  CaseOptions& options = source.options;
  std::vector<std::int64_t> count{std::ssize(options.settings)};
  broadcast(count, comm);
  options.settings.resize(static_cast<std::size_t>(count.front()));
  broadcast(source.text, comm);
  broadcast(options.file, comm);
  for (std::string& setting : options.settings) broadcast(setting, comm);
  CaseInput input = parse_case(source.text, options, comm);
  if (input.settings.ensemble.members > 0)
    throw Error(ExitCode::usage,
                "the case is of an ensemble, and a simulation is one run: use sluice.Ensemble, or remove the section: "
                "case[\"ensemble\"] = \"none\"");
  return input;
}

/// The options of rank 0 on all ranks.
StartOptions shared_options(OutputText output, MPI_Comm comm) {
  StartOptions options;
  options.embedded = true;
  options.wall_seconds = wall_seconds();
  DirectoryOptions& directory = output.options;
  std::vector<std::int64_t> switches{output.wanted, directory.allow_change, directory.overwrite};
  broadcast(switches, comm);
  broadcast(directory.restart, comm);
  broadcast(directory.case_file, comm);
  directory.allow_change = switches[1] != 0;
  directory.overwrite = switches[2] != 0;
  if (switches[0] != 0) options.directory = std::move(directory);
  return options;
}

bool is_alike(const Field& one, const Field& other) {
  return one.box() == other.box() && one.halo() == other.halo() && one.row_length() == other.row_length();
}

}  // namespace

Field copy_of(const Field& field) {
  Field copy(field.box(), field.location(), field.row_length(), field.halo());
  device::copy(copy.buffer().data(), field.buffer().data(), field.bytes());
  return copy;
}

void set(Field& field, const Field& copy) {
  device::copy(field.buffer().data(), copy.buffer().data(), field.bytes());
}

Session::Session(CaseText source, OutputText output, MPI_Comm comm)
    : comm_(OwnedComm::duplicate_of(comm)), closing_(OwnedComm::duplicate_of(comm_)) {
  for (const MPI_Comm own : {MPI_Comm(comm_), MPI_Comm(closing_)})
    check_mpi(MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  output.options.case_file = source.options.file;
  const StartOptions options = shared_options(std::move(output), comm_);
  run_ = std::make_unique<RunLoop>(shared_case(std::move(source), comm_), options, guard_, comm_);
  device_index_ = rank_of(OwnedComm::of_host(comm_));
  run_->load();
  if (simulation().next_walls) walls_.restore_next(simulation().next_walls());
  simulation().next_walls = [this] { return walls_.next(); };
  if (walls_.any_waits() || !simulation().stepper.walls().prescribed().empty()) walls_changed_ = 1;
}

void Session::begin() {
  require_between_steps();
  run_->begin();
  began_ = true;
}

Session::~Session() {
  int ended = 0;
  if (MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0) return;
  // Communicators cannot be freed any more: leave them.
  new std::unique_ptr<RunLoop>(std::move(run_));
  new std::unique_ptr<MemoryStatistics>(std::move(statistics_));
  new OwnedComm(std::move(closing_));
  new OwnedComm(std::move(comm_));
}

void Session::close() {
  struct Freeing {
    Session& session;
    ~Freeing() { session.free(); }
  };
  if (closed()) return;
  require_between_steps();
  const Freeing at_return{*this};
  if (!began_ || !run_->writes_files() || run_->ended()) return;
  try {
    walls_.agree_on_planes();
    try {
      update_flow();
    } catch (const Error&) {  // velocities of walls that do not balance: they go on waiting
      const std::vector<PrescribedWall> next = walls_.next();
      walls_.forget_next();
      update_flow();
      walls_.restore_next(next);
      walls_changed_ = 1;
    }
    if (walls_changed_ != 0) run_->flow_changed();
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}; so the last checkpoint and run.json were not written: the run goes on "
                                          "from its newest checkpoint",
                                          error.what()));
  }
  run_->finish(StopReason::closed);
}

bool Session::all_close(double seconds) {
  require_between_steps();
  return all_arrive(closing_, seconds);
}

void Session::abort(int code) {
  MPI_Abort(comm_, code);  // unchecked: the run is ending
}

void end_if_hdf5_is_stuck() {
  if (io::h5::is_stuck()) MPI_Abort(MPI_COMM_WORLD, static_cast<int>(ExitCode::io));  // unchecked: the run is ending
}

void Session::free() {
  walls_.clear();
  statistics_.reset();
  run_.reset();
  guard_.watchdog.reset();
  guard_.lock.release();
  closing_ = OwnedComm();
  comm_ = OwnedComm();
  ++generation_;
}

Simulation& Session::simulation() {
  if (!run_) throw Error(ExitCode::usage, "the simulation is closed");
  if (std::this_thread::get_id() != thread_)
    throw Error(ExitCode::usage, "only the thread that has made a simulation may use it");
  return run_->simulation();
}

void Session::require_between_steps() {
  static_cast<void>(simulation());
  if (walls_.responding())
    throw Error(ExitCode::usage, "the response of a wall cannot change the simulation or step it");
}

void Session::step() {
  settle();
  if (walls_changed_ != 0) {
    if (run_->writes_files() && !run_->attended()) run_->attend();  // a checkpoint has the walls that the flow has
    walls_.with_next([&] { simulation().stepper.accept_prescribed_walls(); });
  }
  walls_changed_ = 0;
  ++generation_;  // even if the step fails
  TimeStepper& stepper = simulation().stepper;
  try {
    run_->step();
    if (statistics_) statistics_->after_step();
  } catch (const Error&) {
    try {
      stepper.throw_failed_response();
    } catch (const Error&) {  // the first error counts
    }
    throw;
  }
  stepper.throw_failed_response();
}

bool Session::at_end(std::optional<double> until) {
  const Simulation& now = simulation();
  if (until ? is_reached(*until, now.time()) : now.at_end()) return true;
  if (!run_->writes_files()) return false;
  settle();
  return run_->attend() != StopReason::none;
}

void Session::project() {
  require_between_steps();
  walls_.agree_on_walls();
  project_now();
}

void Session::project_now() {
  Simulation& now = simulation();
  walls_.with_next([&] { now.stepper.project(now.state()); });
  now.state_replaced();
  walls_changed_ = 0;
  replaced();
}

void Session::replaced() {
  change_ = none;
  run_->flow_changed();
}

void Session::note_change(const Field& field) {
  const VectorField& vector = simulation().state().velocity;
  const bool in_velocity = &field == &vector.u || &field == &vector.v || &field == &vector.w;
  change_ = std::max(change_, in_velocity ? velocity : halos);
}

void Session::settle() {
  require_between_steps();
  walls_.agree_on_walls();
  update_flow();
}

void Session::update_flow() {
  Simulation& now = simulation();
  if (now.comm.processes().size() > 1) {
    std::array<int, 2> changes{change_, walls_changed_};
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, changes.data(), 2, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce of changes");
    change_ = static_cast<Change>(changes[0]);
    walls_changed_ = changes[1];
  }
  if (change_ == velocity) {
    project_now();
  } else if (change_ == halos) {
    now.stepper.fill_halos(now.state());
    now.state_replaced();
    replaced();
  }
}

Diagnostics Session::diagnostics() {
  settle();
  return FlowView(simulation()).diagnostics();
}

Snapshot Session::snapshot() {
  settle();
  Simulation& now = simulation();
  Snapshot made;
  for (const auto& [descriptor, field] : now.state().fields()) made.fields.push_back(copy_of(field));
  for (const WallPlane& wall : now.stepper.wall_responses().state()) made.walls.push_back(copy_of(*wall.plane));
  made.settings = program_settings(now);
  made.next_walls = walls_.next();
  made.time = now.time();
  made.step = now.step();
  made.equal_steps = now.equal_steps();
  made.dt = now.dt;
  made.dt_limit = now.dt_limit;
  made.forcing = now.forcing;
  made.advective_rate = now.advective_rate();
  if (statistics_) made.statistics = statistics_->samples();
  return made;
}

void Session::restore(const Snapshot& snapshot) {
  require_between_steps();
  Simulation& now = simulation();
  if (run_->writes_files() && (snapshot.step < now.step() || snapshot.time < now.time())) {
    throw Error(ExitCode::usage,
                fmt::format("the snapshot is of step {}, before the present step {}: the files of a simulation with an "
                            "output directory cannot go back; close it and start again with restart, or give no output",
                            snapshot.step, now.step()));
  }
  std::vector<std::pair<Field*, const Field*>> pairs;
  run_collectively(comm_, [&] {
    const auto fields = now.state().fields();
    const auto walls = now.stepper.wall_responses().state();
    bool fits = fields.size() == snapshot.fields.size() && walls.size() == snapshot.walls.size();
    for (std::size_t n = 0; fits && n < fields.size(); ++n) pairs.emplace_back(&fields[n].field, &snapshot.fields[n]);
    for (std::size_t n = 0; fits && n < walls.size(); ++n) pairs.emplace_back(walls[n].plane, &snapshot.walls[n]);
    fits = fits && std::ranges::all_of(pairs, [](const auto& pair) { return is_alike(*pair.first, *pair.second); });
    for (const auto* const walls_then : {&snapshot.settings.walls, &snapshot.next_walls})
      for (const PrescribedWall& wall : *walls_then)
        now.stepper.walls().require_prescribable(wall.side, wall.component);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const auto& set_then = snapshot.settings.forcing[axis];
      fits = fits && (!set_then || can_drive(now, axis, set_then->kind));
    }
    if (!fits) {
      throw Error(ExitCode::usage,
                  "the snapshot does not fit: it is of a simulation with another grid, other fields "
                  "or another process grid");
    }
  });
  ++generation_;
  for (const auto& [field, copy] : pairs) set(*field, *copy);
  sluice::restore(now, snapshot.settings);
  State& state = now.state();
  state.time = snapshot.time;
  state.step = snapshot.step;
  state.equal_steps = snapshot.equal_steps;
  now.dt = snapshot.dt;
  now.dt_limit = snapshot.dt_limit;
  now.forcing = snapshot.forcing;
  now.stepper.walls().set_time(state.time);
  now.restored_at(snapshot.advective_rate);
  replaced();
  walls_.restore_next(snapshot.next_walls);
  walls_changed_ = snapshot.settings.walls.empty() && snapshot.next_walls.empty() ? 0 : 1;
  if (statistics_) statistics_->set(snapshot.statistics.value_or(MemoryStatistics::Samples()));
}

Forcing& Session::forcing(std::size_t direction) {
  TimeStepper& stepper = simulation().stepper;
  return direction == 0 ? stepper.forcing() : stepper.spanwise_forcing();
}

void Session::set_forcing(std::size_t direction, double value) {
  require_between_steps();
  check_mpi(MPI_Bcast(&value, 1, MPI_DOUBLE, 0, comm_), "MPI_Bcast");
  forcing(direction).set(value);
  run_->flow_changed();
}

MemoryStatistics& Session::statistics() {
  Simulation& now = simulation();
  if (!statistics_) statistics_ = std::make_unique<MemoryStatistics>(now);
  return *statistics_;
}

void Session::sample_statistics() {
  settle();
  statistics().sample();
}

Described<Field> Session::field(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& described : simulation().state().fields()) {
    if (described.descriptor.name == name) return described;
    names.push_back(described.descriptor.name);
  }
  throw Error(ExitCode::usage, fmt::format("there is no field '{}'; there are: {}", name, fmt::join(names, ", ")));
}

std::vector<real> Session::gather(const std::string& name) {
  const Field& own = field(name).field;
  walls_.enter_collective();
  const auto& cells = simulation().grid.cells();
  const std::vector<std::byte> bytes = io::gather_box(comm_, box_of(cells[0], cells[1], cells[2]), own.box(),
                                                      io::h5::type_of<real>, download(own).data());
  std::vector<real> values(bytes.size() / sizeof(real));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<double> uniform_line(std::int64_t begin, std::int64_t end, bool on_faces, double spacing) {
  std::vector<double> line;
  for (std::int64_t n = begin; n < end; ++n) line.push_back((static_cast<double>(n) + (on_faces ? 1 : 0.5)) * spacing);
  return line;
}

std::array<std::vector<double>, 3> coordinates(const Grid& grid, Location location, const Box3& box) {
  std::array<std::vector<double>, 3> found;
  auto& [z, y, x] = found;
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k)
    z.push_back(location == Location::z_face ? grid.z_nodes()[static_cast<std::size_t>(k) + 1] : grid.z_center(k));
  y = uniform_line(box.lo[1], box.hi[1], location == Location::y_face, grid.dy());
  x = uniform_line(box.lo[0], box.hi[0], location == Location::x_face, grid.dx());
  return found;
}

}  // namespace sluice::python
