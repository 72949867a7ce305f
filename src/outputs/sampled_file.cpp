#include "src/outputs/sampled_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <utility>

#include "core/support/error.hpp"
#include "io/case/case.hpp"
#include "io/case/case_file.hpp"
#include "io/files/array_dataset.hpp"
#include "io/files/hdf5.hpp"
#include "solver/physics/terms.hpp"
#include "solver/statistics/chosen_planes.hpp"
#include "src/outputs/checkpoint.hpp"

namespace sluice {

namespace {

std::vector<double> wavenumbers(std::int64_t cells, double length) {
  std::vector<double> values;
  for (std::int64_t m = 0; m <= cells / 2; ++m)
    values.push_back(2 * std::numbers::pi * static_cast<double>(m) / length);
  return values;
}

void set_forcing(io::Values& about, const std::string& name, const ForcingParameters& forcing) {
  about.set(name + "_kind", std::string(io::name(forcing.kind)));
  if (forcing.value.is_constant()) {
    about.set(name + "_value", forcing.value.constant());
  } else {
    about.set(name + "_value", forcing.value.text());
  }
}

}  // namespace

io::StatisticsSpec sampled_file_spec(const Simulation& simulation, const std::string& path, const SampledOutput& output,
                                     const std::vector<ProfileInfo>& profiles) {
  io::StatisticsSpec spec;
  spec.path = path;
  spec.provenance = provenance_of(simulation);
  const Grid& grid = simulation.grid;
  const io::Case& settings = simulation.settings;
  io::Values& about = spec.attributes;
  about.set("title", settings.title);
  about.set("flow_type", std::string(io::name(settings.flow_type)));
  about.set("viscosity", settings.flow.viscosity);
  set_forcing(about, "forcing", settings.flow.forcing);
  if (settings.flow.spanwise_forcing.kind != ForcingKind::none)
    set_forcing(about, "spanwise_forcing", settings.flow.spanwise_forcing);
  for (const auto& [side, wall] : {std::pair("bottom", settings.flow.bottom), std::pair("top", settings.flow.top)}) {
    about.set(fmt::format("wall_{}", side), std::string(io::name(wall.kind)));
    about.set(fmt::format("wall_velocity_{}", side), wall.constant_velocity(0));
    about.set(fmt::format("wall_velocity_{}_y", side), wall.constant_velocity(1));
  }
  about.set("length_x", grid.length_x());
  about.set("length_y", grid.length_y());
  about.set("length_z", grid.length_z());
  about.set("nx", grid.cells()[0]);
  about.set("ny", grid.cells()[1]);
  about.set("nz", grid.cells()[2]);
  const io::SamplingSpec& sampling = settings.output.*output.sampling;
  if (sampling.enabled) spec.profiles = profiles;
  for (std::int64_t k = 0; k < grid.cells()[2]; ++k) spec.z.push_back(grid.z_center(k));
  spec.z_face = grid.z_nodes();
  if (std::ranges::any_of(profiles, [](const ProfileInfo& profile) { return profile.modes == ModeAxis::kx; })) {
    spec.kx = wavenumbers(grid.cells()[0], grid.length_x());
    spec.ky = wavenumbers(grid.cells()[1], grid.length_y());
  }
  if (std::ranges::any_of(profiles, [](const ProfileInfo& profile) { return profile.modes == ModeAxis::phases; })) {
    spec.phase = settings.output.statistics_phases.middles();
    about.set("phase_period", settings.output.statistics_phases.period);
  }
  spec.chosen_centers.name = output.chosen_centers;
  spec.chosen_faces.name = output.chosen_faces;
  const ChosenPlanes planes = planes_nearest_to(sampling.heights, grid);
  if (!spec.chosen_centers.name.empty())
    for (const std::int64_t k : planes.centers) spec.chosen_centers.z.push_back(grid.z_center(k));
  if (!spec.chosen_faces.name.empty())
    for (const std::int64_t k : planes.faces) spec.chosen_faces.z.push_back(spec.z_face[k]);
  return spec;
}

io::Values sampled_parameters(const io::Case& settings) {
  io::Values values;
  for (const auto& [path, text] : io::sampled_keys(settings)) values.set(path, text);
  return values;
}

StatisticsContent statistics_content(const io::OutputSpec& output) {
  return {output.statistics_budgets == io::Switch::on, output.statistics_phases};
}

StatisticsFlow statistics_flow(const io::Case& settings, std::vector<double> z_face) {
  StatisticsFlow flow{settings.flow.viscosity,
                      settings.flow.bottom,
                      settings.flow.top,
                      settings.flow_type == io::FlowType::couette,
                      {},
                      std::move(z_face),
                      mean_flow(settings.flow)};
  for (std::size_t k = 0; k + 1 < flow.z_face.size(); ++k) flow.z.push_back((flow.z_face[k] + flow.z_face[k + 1]) / 2);
  return flow;
}

Accuracy stored_accuracy(const std::string& file, const io::Case& settings) {
  io::StatisticsSpec spec;
  spec.path = file;
  spec.unrecorded_parameters = sampled_parameters(settings);
  const io::h5::File stored = io::h5::File::open(file, ExitCode::restart);
  spec.z = io::read_array<double>(stored, "/grid/z");
  spec.z_face = io::read_array<double>(stored, "/grid/z_face");
  const StatisticsFlow flow = statistics_flow(settings, spec.z_face);
  const io::StatisticsFile statistics(std::move(spec), true);
  const std::span<const StatisticsBlock> blocks = statistics.latest_blocks(sampled_parameters(settings));
  if (blocks.empty()) return {};
  return assess(KeyFigures(flow, statistics.profiles()), settings.time.until, blocks);
}

}  // namespace sluice
