// In situ visualisation: hands fields at cell centres to Catalyst 2, which runs the user's scripts of ParaView on them.
// It writes no files itself, and a restart needs nothing of it.
#include "src/outputs/output_needs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>

#include "core/device/memory.hpp"
#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "solver/derived/center_fields.hpp"
#include "src/outputs/catalyst_library.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/observer.hpp"

namespace sluice {

namespace {

/// All cells of the rank.
CellChoice all_cells(const Box3& owned) {
  std::array<std::vector<int>, 3> indices;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    indices[axis].resize(owned.extent(static_cast<int>(axis)));
    std::iota(indices[axis].begin(), indices[axis].end(), 0);
  }
  return CellChoice(indices);
}

/// The faces between which the rank's cells are, along x, y and z.
std::array<std::vector<double>, 3> nodes_of(const Grid& grid, const Box3& owned) {
  std::array<std::vector<double>, 3> nodes = grid_lines_of(grid).node;
  for (std::size_t axis = 0; axis < 3; ++axis)
    nodes[axis] = {nodes[axis].begin() + owned.lo[axis], nodes[axis].begin() + owned.hi[axis] + 1};
  return nodes;
}

void require_scripts(const std::vector<std::string>& scripts) {
  for (std::size_t n = 0; n < scripts.size(); ++n) {
    std::error_code ignored;
    if (!std::filesystem::exists(scripts[n], ignored))
      throw Error(ExitCode::usage, fmt::format("output.catalyst.scripts[{}]: {} does not exist", n, scripts[n]));
  }
}

/// ParaView can be started once in a process.
bool was_started = false;

class CatalystObserver : public Observer {
 public:
  explicit CatalystObserver(const RunContext& run)
      : run_(run),
        spec_(run.simulation.settings.output.catalyst),
        fields_(run.simulation.grid, run.simulation.stepper.metrics(), run.simulation.flow.order,
                run.simulation.stepper.walls(), run.simulation.box(), run.simulation.comm.world()),
        cells_(all_cells(run.simulation.box())),
        nodes_(nodes_of(run.simulation.grid, run.simulation.box())) {
    for (const std::string& name : spec_.fields) quantities_.push_back(center_quantity(name, run.simulation.flow));
    const MPI_Comm comm = run.simulation.comm.world();
    run_on_root(comm, [&] { require_scripts(spec_.scripts); });
    run_collectively(comm, [&] { library_.emplace(spec_.library); });
  }

  /// Starts Catalyst, so that an error of it ends the run before any file changes.
  std::vector<std::string> check_files(const Start& /*start*/) override {
    run_.log.line("Catalyst: " + library_->path);
    run_collectively(run_.simulation.comm.world(), [&] { start(); });
    return {};
  }

  bool due(const Moment& now) const override { return now.occasion == Occasion::step && now.step % spec_.every == 0; }

  void observe(const Moment& /*now*/) override {
    const double start = wall_seconds();
    compute();
    run_collectively(run_.simulation.comm.world(), [&] {
      CatalystNode node(*library_);
      describe(node);
      node.pass_to(library_->execute, "catalyst_execute", ExitCode::io);
    });
    run_.times.fields = std::max(run_.times.fields, wall_seconds() - start);
  }

  void finish() override {
    run_collectively(run_.simulation.comm.world(), [&] {
      const CatalystNode node(*library_);
      node.pass_to(library_->finalize, "catalyst_finalize", ExitCode::io);
    });
  }

 private:
  void start() const {
    if (std::exchange(was_started, true))
      throw Error(ExitCode::usage,
                  "output.catalyst: an earlier run of this process has used Catalyst, which can be started once in a "
                  "process; start another process, or say output.catalyst=none");
    CatalystNode node(*library_);
    if (std::getenv("CATALYST_IMPLEMENTATION_NAME") == nullptr)
      node.set("catalyst_load/implementation", std::string("paraview"));
    for (std::size_t n = 0; n < spec_.scripts.size(); ++n)
      node.set(fmt::format("catalyst/scripts/script{}/filename", n), spec_.scripts[n]);
    const MPI_Fint comm = MPI_Comm_c2f(run_.simulation.comm.world());  // unchecked: it returns no status
    node.set("catalyst/mpi_comm", static_cast<std::int64_t>(comm));
    node.pass_to(library_->initialize, "catalyst_initialize", ExitCode::usage);
  }

  /// The fields in host memory, where they stay until the next call: what a script has made may refer to them.
  /// Collective.
  void compute() {
    values_.clear();
    for (const CenterQuantity& quantity : quantities_)
      values_.push_back(fields_.compute<real>(run_.flow.state(), quantity, cells_));
  }

  /// The Mesh Blueprint of Conduit: a rectilinear grid with values in its cells, of this rank.
  void describe(CatalystNode& node) {
    const State& state = run_.flow.state();
    node.set("catalyst/state/timestep", state.step);
    node.set("catalyst/state/cycle", state.step);
    node.set("catalyst/state/time", state.time);
    node.set("catalyst/channels/flow/type", std::string("mesh"));
    const std::string mesh = "catalyst/channels/flow/data/";
    node.set(mesh + "coordsets/coords/type", std::string("rectilinear"));
    for (std::size_t axis = 0; axis < 3; ++axis)
      node.refer(fmt::format("{}coordsets/coords/values/{}", mesh, "xyz"[axis]), nodes_[axis]);
    node.set(mesh + "topologies/mesh/type", std::string("rectilinear"));
    node.set(mesh + "topologies/mesh/coordset", std::string("coords"));
    for (std::size_t n = 0; n < quantities_.size(); ++n) {
      const std::string field = mesh + "fields/" + quantities_[n].name;
      node.set(field + "/association", std::string("element"));
      node.set(field + "/topology", std::string("mesh"));
      node.set(field + "/volume_dependent", std::string("false"));
      const std::vector<FieldDescriptor>& components = quantities_[n].components;
      for (std::size_t m = 0; m < components.size(); ++m)
        node.refer(field + "/values" + (components.size() > 1 ? "/" + components[m].name : ""), values_[n][m]);
    }
  }

  RunContext run_;
  const io::CatalystSpec& spec_;
  CenterFields fields_;
  CellChoice cells_;
  std::array<std::vector<double>, 3> nodes_;
  std::vector<CenterQuantity> quantities_;
  std::vector<std::vector<std::vector<real>>> values_;  ///< of each quantity and component
  std::optional<CatalystLibrary> library_;
};

}  // namespace

OutputNeed catalyst_need(const io::CatalystSpec& spec, const Grid& grid, const FlowParameters& flow,
                         const Box3& owned) {
  std::size_t kept = 0;
  std::size_t at_once = 0;
  for (const std::string& name : spec.fields) {
    const std::size_t components = center_quantity(name, flow).components.size();
    kept += components;
    at_once = std::max(at_once, components);
  }
  const auto per_cell = static_cast<double>(sizeof(real) * (device::is_gpu() ? at_once : kept + at_once));
  return {.memory = per_cell * static_cast<double>(grid.points()),
          .own_memory = per_cell * static_cast<double>(owned.volume())};
}

std::unique_ptr<Observer> make_catalyst(const RunContext& run) {
  if (run.simulation.settings.output.catalyst.every == 0) return nullptr;
  return std::make_unique<CatalystObserver>(run);
}

}  // namespace sluice
