#include "python/bindings/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "core/decomp/field_copy.hpp"
#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "io/files/field_writer.hpp"
#include "model/schedule.hpp"
#include "solver/walls/wall_response.hpp"
#include "src/outputs/observer.hpp"
#include "src/run/formula_check.hpp"
#include "src/run/memory_estimate.hpp"
#include "src/run/setup.hpp"
#include "src/run/time_step_estimate.hpp"

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
  return parse_case(source.text, options, comm);
}

Field copy_of(const Field& field) {
  Field copy(field.box(), field.location(), field.row_length(), field.halo());
  device::copy(copy.buffer().data(), field.buffer().data(), field.bytes());
  return copy;
}

bool is_alike(const Field& one, const Field& other) {
  return one.box() == other.box() && one.halo() == other.halo() && one.row_length() == other.row_length();
}

void set(Field& field, const Field& copy) {
  device::copy(field.buffer().data(), copy.buffer().data(), field.bytes());
}

}  // namespace

Session::Session(CaseText source, MPI_Comm comm) : comm_(OwnedComm::duplicate_of(comm)) {
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  start(shared_case(std::move(source), comm_));
}

/// The steps of command_run and RunLoop::begin that do not concern the output directory.
void Session::start(const CaseInput& input) {
  const io::Case& settings = input.settings;
  const Grid grid = make_grid(settings, input.stretching_text);
  run_on_root(comm_, [&] {
    const FormulaFindings found = check_formulas(settings, grid, 0, expected_end(settings, grid));
    require_startable(found);
    for (const auto& list : {found.failures, found.warnings}) std::ranges::copy(list, std::back_inserter(warnings_));
  });
  select_device(comm_);
  device_index_ = rank_of(OwnedComm::of_host(comm_));
  const Layout layout = tune(settings, grid, settings.flow, std::nullopt, comm_).chosen;
  const Decomposition decomposition(settings.cells, layout.processes, settings.z_blocks);
  require_memory(settings.flow, decomposition, layout.exchange, comm_);
  simulation_ = std::make_unique<Simulation>(settings, grid, layout, comm_);
  start_from_initial(*simulation_);
}

Session::~Session() {
  int ended = 0;
  if (MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0) return;
  // Communicators cannot be freed any more: leave them.
  new std::unique_ptr<Simulation>(std::move(simulation_));
  new OwnedComm(std::move(comm_));
}

void Session::close() {
  if (simulation_) require_between_steps();
  walls_.clear();
  simulation_.reset();
  comm_ = OwnedComm();
  ++generation_;
}

Simulation& Session::simulation() {
  if (!simulation_) throw Error(ExitCode::usage, "the simulation is closed");
  if (std::this_thread::get_id() != thread_)
    throw Error(ExitCode::usage, "only the thread that has made a simulation may use it");
  return *simulation_;
}

void Session::require_between_steps() {
  static_cast<void>(simulation());
  if (walls_.responding())
    throw Error(ExitCode::usage, "the response of a wall cannot change the simulation or step it");
}

void Session::step() {
  settle();
  ++generation_;  // even if the step fails
  simulation().advance();
}

bool Session::at_end(std::optional<double> until) {
  const Simulation& now = simulation();
  if (until) return is_reached(*until, now.time());
  return now.at_end();
}

void Session::project() {
  require_between_steps();
  walls_.agree_on_walls();
  Simulation& now = simulation();
  now.stepper.project(now.state());
  now.state_replaced();
  change_ = none;
}

void Session::note_change(const Field& field) {
  const VectorField& vector = simulation().state().velocity;
  const bool in_velocity = &field == &vector.u || &field == &vector.v || &field == &vector.w;
  change_ = std::max(change_, in_velocity ? velocity : halos);
}

void Session::note_wall_change(Location component) {
  change_ = std::max(change_, component == Location::z_face ? velocity : halos);
}

/// A field or a wall may have been changed on some ranks alone.
void Session::settle() {
  require_between_steps();
  Simulation& now = simulation();
  int change = change_;
  walls_.agree_on_walls();
  if (now.comm.processes().size() > 1)
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce of changes");
  if (change == velocity) project();
  if (change == halos) {
    now.stepper.fill_halos(now.state());
    now.state_replaced();
  }
  change_ = none;
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
  made.prescribed = walls_.prescribed();
  made.streamwise = now.stepper.forcing().parameters();
  made.spanwise = now.stepper.spanwise_forcing().parameters();
  made.time = now.time();
  made.step = now.step();
  made.equal_steps = now.equal_steps();
  made.dt = now.dt;
  made.dt_limit = now.dt_limit;
  made.forcing = now.forcing;
  made.advective_rate = now.advective_rate();
  return made;
}

void Session::restore(const Snapshot& snapshot) {
  require_between_steps();
  Simulation& now = simulation();
  std::vector<std::pair<Field*, const Field*>> pairs;
  run_collectively(comm_, [&] {
    const auto fields = now.state().fields();
    const auto walls = now.stepper.wall_responses().state();
    bool fits = fields.size() == snapshot.fields.size() && walls.size() == snapshot.walls.size();
    for (std::size_t n = 0; fits && n < fields.size(); ++n) pairs.emplace_back(&fields[n].field, &snapshot.fields[n]);
    for (std::size_t n = 0; fits && n < walls.size(); ++n) pairs.emplace_back(walls[n].plane, &snapshot.walls[n]);
    fits = fits && std::ranges::all_of(pairs, [](const auto& pair) { return is_alike(*pair.first, *pair.second); });
    for (const PrescribedWall& wall : snapshot.prescribed)
      now.stepper.walls().require_prescribable(wall.side, wall.component);
    if (!fits) {
      throw Error(ExitCode::usage,
                  "the snapshot does not fit: it is of a simulation with another grid, other fields "
                  "or another process grid");
    }
  });
  ++generation_;
  for (const auto& [field, copy] : pairs) set(*field, *copy);
  walls_.restore(snapshot.prescribed);
  now.stepper.forcing().restore(snapshot.streamwise);
  now.stepper.spanwise_forcing().restore(snapshot.spanwise);
  State& state = now.state();
  state.time = snapshot.time;
  state.step = snapshot.step;
  state.equal_steps = snapshot.equal_steps;
  now.dt = snapshot.dt;
  now.dt_limit = snapshot.dt_limit;
  now.forcing = snapshot.forcing;
  now.stepper.fill_halos(state);
  now.restored_at(snapshot.advective_rate);
  change_ = none;
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

std::array<std::vector<double>, 3> coordinates(const Grid& grid, Location location, const Box3& box) {
  const auto place = [](std::int64_t n, bool on_face) { return static_cast<double>(n) + (on_face ? 1 : 0.5); };
  std::array<std::vector<double>, 3> found;
  auto& [z, y, x] = found;
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k)
    z.push_back(location == Location::z_face ? grid.z_nodes()[static_cast<std::size_t>(k) + 1] : grid.z_center(k));
  for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) y.push_back(place(j, location == Location::y_face) * grid.dy());
  for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) x.push_back(place(i, location == Location::x_face) * grid.dx());
  return found;
}

}  // namespace sluice::python
