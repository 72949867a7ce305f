#include "src/outputs/run_record.hpp"

#include <nlohmann/json.hpp>

#include "core/device/memory.hpp"
#include "core/device/timers.hpp"
#include "core/support/host_name.hpp"
#include "poisson/fft/fft.hpp"
#include "src/run/piece_report.hpp"
#include "src/run/provenance.hpp"

namespace sluice {

namespace {

nlohmann::ordered_json entries_of(const std::string& previous) {
  const auto old = nlohmann::ordered_json::parse(previous, nullptr, false);
  if (old.is_object() && old.contains("runs") && old["runs"].is_array()) return old["runs"];
  return nlohmann::ordered_json::array();
}

nlohmann::ordered_json phases_of(PhaseTimers& timers) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& phase : timers.phases())
    list.push_back({{"name", name_of(phase.phase)}, {"seconds", phase.seconds}, {"calls", phase.calls}});
  return list;
}

/// The measurements behind the layout; empty if it was given, stored, or the only one.
nlohmann::ordered_json table_of(const Tuning& tuning) {
  auto list = nlohmann::ordered_json::array();
  for (const MeasuredLayout& entry : tuning.table) {
    list.push_back({{"process_grid", {entry.layout.processes.py, entry.layout.processes.pz}},
                    {"exchange", entry.layout.exchange.text()},
                    {"milliseconds", entry.seconds * 1e3}});
  }
  return list;
}

nlohmann::ordered_json figures_of(const Accuracy& accuracy) {
  auto figures = nlohmann::ordered_json::object();
  for (std::size_t n = 0; n < key_figure_table.size(); ++n) {
    nlohmann::ordered_json& figure = figures[key_figure_table[n].name];
    figure = {{"value", accuracy.figures.values[n]}, {"half_width", accuracy.figures.half_widths[n]}};
    if (accuracy.limits[n]) figure["limit"] = *accuracy.limits[n];
  }
  return {{"blocks", accuracy.blocks}, {"reached", accuracy.reached}, {"figures", figures}};
}

}  // namespace

std::string run_record(const std::string& previous, Simulation& simulation, const Tuning& tuning, const RunTimes& times,
                       const RunEnds& ends) {
  const ProcessGrid& processes = simulation.comm.processes();
  const double work = static_cast<double>(times.steps) * static_cast<double>(simulation.grid.points());
  nlohmann::ordered_json entry{
      {"why_stopped", ends.why_stopped},
      {"version", version()},
      {"git_revision", git_revision()},
      {"compiler", compiler()},
      {"precision", precision_name},
      {"libraries", {{"mpi", mpi_library()}, {"hdf5", hdf5_library()}, {"fft", fft_library()}}},
      {"machine", {{"host", host_name()}, {"device", device::description()}}},
      {"ended", utc_now()},
      {"ranks", processes.size()},
      {"threads", 1},
      {"gpus", device::is_gpu() ? processes.size() : 0},
      {"process_grid", {processes.py, processes.pz}},
      {"exchange", simulation.exchanges.methods().text()},
      {"tuning", table_of(tuning)},
      {"pieces", piece_list(simulation.exchanges.set().piece_tuning())},
      {"z_blocks", simulation.settings.z_blocks},
      {"started_from", ends.started_from},
      {"changes", ends.changes},
      {"step", simulation.step()},
      {"time", simulation.time()},
      {"steps_taken", times.steps},
      {"wall_seconds", wall_seconds() - times.start},
      {"stepping_seconds", times.stepping},
      {"output_seconds", times.output},
      {"outputs", times.outputs},
      {"point_steps_per_second", times.stepping > 0 ? work / times.stepping : 0},
      {"ns_per_point_per_step", work > 0 ? times.stepping / work * 1e9 : 0},
      {"energy", energy_entry(times.energy, times.energy_use)},
      {"memory_bytes", times.memory},
      {"phases", phases_of(simulation.stepper.timers())},
  };
  if (ends.accuracy) entry["statistics"] = figures_of(*ends.accuracy);
  nlohmann::ordered_json record = entry;  // the latest start is at the top level, all starts are in `runs`
  record["runs"] = entries_of(previous);
  record["runs"].push_back(std::move(entry));
  // A path need not be UTF-8, but JSON must be.
  return record.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sluice
