#include "src/outputs/output.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "core/support/collective.hpp"
#include "io/case/names.hpp"
#include "io/files/statistics_file.hpp"
#include "io/files/time_series.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/schedule.hpp"
#include "src/outputs/slices.hpp"

namespace sluice {

namespace {

/// u_tau h / nu from a wall's mean shear, which may have either sign.
double re_tau(double shear, double viscosity) {
  return std::sqrt(std::abs(shear)) / viscosity;
}

io::StatisticsSpec statistics_spec(const Simulation& simulation, const Statistics& statistics,
                                   const std::string& directory) {
  io::StatisticsSpec spec;
  spec.path = directory + "/statistics.h5";
  spec.provenance = provenance_of(simulation);
  const Grid& grid = simulation.grid;
  const FlowParameters& flow = simulation.flow;
  io::Values& about = spec.attributes;
  about.set("title", simulation.settings.title);
  about.set("flow_type", std::string(io::name(simulation.settings.flow.type)));
  about.set("viscosity", flow.viscosity);
  about.set("length_x", grid.length_x());
  about.set("length_y", grid.length_y());
  about.set("length_z", grid.length_z());
  about.set("nx", grid.cells()[0]);
  about.set("ny", grid.cells()[1]);
  about.set("nz", grid.cells()[2]);
  about.set("wall_bottom", std::string(io::name(simulation.settings.bottom.kind)));
  about.set("wall_top", std::string(io::name(simulation.settings.top.kind)));
  about.set("wall_velocity_bottom", flow.bottom.u);
  about.set("wall_velocity_top", flow.top.u);
  about.set("wall_velocity_bottom_y", flow.bottom.v);
  about.set("wall_velocity_top_y", flow.top.v);
  spec.profiles = statistics.profiles();
  for (std::int64_t k = 0; k < grid.cells()[2]; ++k) spec.z.push_back(grid.z_center(k));
  spec.z_face = grid.z_nodes();
  return spec;
}

}  // namespace

/// The open files of rank 0.
struct Output::Files {
  std::unique_ptr<io::TimeSeries> time_series;
  std::unique_ptr<io::StatisticsFile> statistics;
};

Output::Output(const Simulation& simulation, Statistics* statistics, const std::string& directory)
    : simulation_(&simulation), statistics_(statistics), directory_(directory), files_(std::make_unique<Files>()) {}

Output::~Output() = default;

void Output::go_back() {
  const std::int64_t step = simulation_->state.step;
  const std::int64_t every = simulation_->settings.output.timeseries_every;
  // A run that ended at a step off the schedule wrote its row all the same; going on, that row was never due.
  const bool due = step % every == 0 || step == 1;
  run_on_root(simulation_->comm.world(), [&] {
    if (statistics_ != nullptr) {  // first, because a damaged file is refused, and then nothing shall have changed
      files_->statistics = std::make_unique<io::StatisticsFile>(statistics_spec(*simulation_, *statistics_, directory_),
                                                                step > 0 ? std::optional(step) : std::nullopt);
    }
    files_->time_series = std::make_unique<io::TimeSeries>(
        directory_ + "/timeseries.csv", step > 0 ? std::optional(due ? step : step - 1) : std::nullopt);
  });
  last_row_ = due ? step : -1;
  slices_.emplace(*simulation_, directory_);
}

void Output::after_step(double before) {
  const std::int64_t step = simulation_->state.step;
  if (step % simulation_->settings.output.timeseries_every == 0 || step == 1) write_row();
  sample_statistics();
  slices_->write_due(before);
}

void Output::finish() {
  if (simulation_->state.step > 0 && last_row_ != simulation_->state.step) write_row();
}

void Output::sample_statistics() {
  if (statistics_ == nullptr) return;
  const io::OutputSpec& output = simulation_->settings.output;
  const State& state = simulation_->state;
  if (state.step % output.statistics_every == 0 && state.time >= output.statistics_start)
    statistics_->sample(state, simulation_->forcing);

  const StatisticsBlock& open = statistics_->open_block();
  if (open.samples == 0) return;
  const Schedule blocks{output.statistics_block, output.statistics_start};
  const double end_of_block = blocks.origin + blocks.every * (blocks.index(open.time_begin) + 1);
  if (state.time < end_of_block) return;
  StatisticsBlock closed = statistics_->close_block();
  closed.step_end = state.step;
  run_on_root(simulation_->comm.world(), [&] { files_->statistics->append(std::move(closed)); });
}

void Output::write_row() {
  const Diagnostics& d = diagnostics();
  const Simulation& s = *simulation_;
  const double nu = s.flow.viscosity;
  run_on_root(s.comm.world(), [&] {
    files_->time_series->append({s.state.step, s.state.time, s.dt, s.dt / s.dt_limit, d.bulk_velocity, s.forcing,
                                 re_tau(d.shear_bottom, nu), re_tau(d.shear_top, nu), d.kinetic_energy,
                                 d.max_divergence});
  });
  last_row_ = s.state.step;
}

void Output::sync() {
  run_on_root(simulation_->comm.world(), [&] { files_->time_series->sync(); });
}

const Diagnostics& Output::diagnostics() {
  const State& state = simulation_->state;
  if (diagnosed_step_ == state.step) return diagnostics_;
  diagnostics_ = simulation_->stepper.diagnose(state);
  diagnosed_step_ = state.step;
  if (!diagnostics_.finite()) {
    throw Error(ExitCode::numerics, fmt::format("the flow is not finite at step {} (time {:g}): the run has blown up; "
                                                "use a smaller time.cfl or dt, or a finer grid",
                                                state.step, state.time));
  }
  return diagnostics_;
}

std::string Output::progress() {
  const Diagnostics& d = diagnostics();
  const double nu = simulation_->flow.viscosity;
  return fmt::format("Re_tau {:7.2f} {:7.2f}  U_b {:.4f}  energy {:.5f}  div {:.1e}", re_tau(d.shear_bottom, nu),
                     re_tau(d.shear_top, nu), d.bulk_velocity, d.kinetic_energy, d.max_divergence);
}

}  // namespace sluice
