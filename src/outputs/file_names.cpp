#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "io/case/case_file.hpp"
#include "io/files/grid_lines.hpp"
#include "io/files/probe_series.hpp"
#include "io/files/stored_blocks.hpp"
#include "io/files/time_series.hpp"
#include "model/field_descriptor.hpp"
#include "solver/diagnostics.hpp"
#include "solver/forcing.hpp"
#include "solver/statistics/densities.hpp"
#include "solver/statistics/spectra.hpp"
#include "solver/statistics/statistics.hpp"
#include "src/outputs/companions.hpp"
#include "src/outputs/run_files.hpp"

namespace sluice {

namespace {

/// The names in each file, or in a group of it. A name that is there twice is a conflict.
using FileNames = std::map<std::string, std::vector<std::string>>;

void append(std::vector<std::string>& names, const std::vector<std::string>& more) {
  std::ranges::copy(more, std::back_inserter(names));
}

std::vector<std::string> names_of(const std::vector<ProfileInfo>& profiles) {
  std::vector<std::string> names;
  for (const ProfileInfo& profile : profiles) names.push_back(profile.name);
  return names;
}

std::vector<std::string> names_of(const std::vector<FieldDescriptor>& fields) {
  std::vector<std::string> names;
  for (const FieldDescriptor& field : fields) names.push_back(field.name);
  return names;
}

std::string without_slash(const char* group) {
  return std::string(group).substr(1);
}

/// The flow with everything that brings names.
FlowParameters with_all_names(FlowParameters flow) {
  flow.forcing.kind = ForcingKind::power;
  flow.spanwise_forcing.kind = ForcingKind::bulk_velocity;
  return flow;
}

std::vector<std::string> checkpoint_names(const FlowParameters& flow) {
  namespace names = companion_names;
  std::vector<std::string> list = io::grid_names();
  append(list, names_of(fields_of(flow)));
  for (const char* group : {names::state_group, names::walls_group, names::program_group, names::time_series_group,
                            names::slices_group, names::probes_group})
    list.push_back(without_slash(group));
  for (const SampledOutput& output : sampled_outputs) list.push_back(without_slash(output.open_block_group));
  return list;
}

std::vector<std::string> fields_names(const FlowParameters& flow) {
  std::vector<std::string> list = io::grid_names();
  for (const CenterQuantity& quantity : center_quantities()) append(list, names_of(quantity.components));
  append(list, names_of(scalar_fields(flow)));
  return list;
}

std::vector<std::string> probe_file_names(const FlowParameters& flow) {
  std::vector<std::string> list = io::probe_names();
  append(list, names_of(fields_of(flow)));
  return list;
}

std::vector<std::string> columns(const FlowParameters& flow) {
  std::vector<std::string> further;
  for (const NamedValue& value : further_forcing(flow, {})) further.push_back(value.name);
  append(further, further_diagnostics(flow));
  std::istringstream header(io::TimeSeries::header(further));
  std::vector<std::string> list;
  for (std::string column; std::getline(header, column, ',');) list.push_back(column);
  return list;
}

/// Of a file of sums in blocks, and of the block that is not complete, in checkpoints.
void add_sampled(FileNames& files, const SampledOutput& output, const std::vector<std::string>& profiles) {
  namespace names = companion_names;
  std::vector<std::string>& in_file = files[output.file];
  in_file = io::statistics_names();
  for (const char* heights : {output.chosen_centers, output.chosen_faces}) {
    if (*heights != '\0') in_file.emplace_back(heights);
  }
  append(in_file, profiles);
  std::vector<std::string>& open = files[std::string("checkpoints, group ") + output.open_block_group];
  open = {io::Values::hash_name, names::block_samples, names::block_begin,    names::block_end,
          names::block_forcing,  names::last_block,    names::last_block_hash};
  append(open, profiles);
}

FileNames file_names(const FlowParameters& of_case, const PhaseBins& phases) {
  const FlowParameters flow = with_all_names(of_case);
  FileNames files{{"checkpoints", checkpoint_names(flow)},
                  {"the files of output.fields", fields_names(flow)},
                  {"the files of slices and probes", probe_file_names(flow)},
                  {"timeseries.csv", columns(flow)}};
  add_sampled(files, statistics_output, names_of(Statistics::list({true, phases}, flow)));
  add_sampled(files, spectra_output, names_of(Spectra::list(1, flow)));
  add_sampled(files, densities_output, names_of(Densities::list(1)));
  return files;
}

struct Conflict {
  std::string name, file;
};

/// The first name that a file has twice.
std::optional<Conflict> conflict_in(const FileNames& files) {
  for (const auto& [file, list] : files) {
    std::vector<std::string> names = list;
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice != names.end()) return Conflict{*twice, file};
    const bool has_sets = file == statistics_output.file || file == spectra_output.file;
    const auto set = std::ranges::find_if(names, io::names_parameter_set);
    if (has_sets && set != names.end()) return Conflict{*set, file};
  }
  return std::nullopt;
}

void check_scalars(const io::Case& settings, std::vector<io::KeyFault>& faults) {
  FlowParameters flow = settings.flow;
  flow.scalars.clear();
  for (std::size_t n = 0; n < settings.flow.scalars.size(); ++n) {
    flow.scalars.push_back(settings.flow.scalars[n]);
    const auto conflict = conflict_in(file_names(flow, settings.output.statistics_phases));
    if (!conflict) continue;
    const std::string& name = settings.flow.scalars[n].name;
    const std::string what = conflict->name == name
                                 ? fmt::format("'{}' is the name of something else in {}", name, conflict->file)
                                 : fmt::format("'{}' would need the name '{}' in {}, where it is already taken", name,
                                               conflict->name, conflict->file);
    faults.push_back({fmt::format("scalars[{}].name", n), what + "; allowed: other names, such as temperature"});
    flow.scalars.pop_back();
  }
}

/// Checkpoints have an attribute of each probe's name.
void check_probes(const io::Case& settings, std::vector<io::KeyFault>& faults) {
  const auto& probes = settings.output.probes;
  for (std::size_t n = 0; n < probes.size(); ++n) {
    if (probes[n].name != io::Values::hash_name) continue;
    faults.push_back(
        {fmt::format("output.probes[{}].name", n),
         fmt::format("'{}' is the name of something else in checkpoints; allowed: other names, such as line",
                     probes[n].name)});
  }
}

}  // namespace

std::vector<io::KeyFault> name_conflicts(const io::Case& settings) {
  std::vector<io::KeyFault> faults;
  check_scalars(settings, faults);
  check_probes(settings, faults);
  return faults;
}

}  // namespace sluice
