#include "src/outputs/slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/decomp/field_copy.hpp"
#include "core/support/collective.hpp"
#include "io/case/numbers.hpp"
#include "io/files/plane.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/schedule.hpp"

namespace sluice {

namespace {

std::size_t axis_of(char normal) {
  return normal == 'x' ? 0 : normal == 'y' ? 1 : 2;
}

std::int64_t nearest_plane(const std::vector<double>& centers, double at) {
  const auto nearest = std::ranges::min_element(centers, {}, [at](double center) { return std::abs(center - at); });
  return nearest - centers.begin();
}

/// "z0.083"; a number is appended where two slices of a case would share a name.
std::vector<std::string> labels_of(const std::vector<io::SliceSpec>& slices) {
  std::vector<std::string> labels;
  std::set<std::string> used;
  for (const io::SliceSpec& slice : slices) {
    const std::string plain = slice.normal + io::format_real(slice.at);
    std::string label = plain;
    for (int n = 2; !used.insert(label).second; ++n) label = fmt::format("{}_{}", plain, n);
    labels.push_back(label);
  }
  return labels;
}

/// The rank's part of a plane of cells, in host memory, and where it lies in the whole.
std::pair<io::LocalBlock, std::vector<real>> local_plane(const Field& field, const Grid& grid, std::size_t axis,
                                                         std::int64_t index) {
  const Box3& box = field.box();
  const auto& cells = grid.cells();
  io::LocalBlock block{
      {cells[2], cells[1], cells[0]}, {box.lo[2], box.lo[1], box.lo[0]}, {box.extent(2), box.extent(1), box.extent(0)}};
  const std::size_t file_axis = 2 - axis;
  if (index < box.lo[axis] || index >= box.hi[axis]) {
    block.count[file_axis] = 0;
    return {block, {}};
  }
  block.start[file_axis] = index;
  block.count[file_axis] = 1;
  Box3 plane = field.local_box();
  plane.lo[axis] = index - box.lo[axis];
  plane.hi[axis] = plane.lo[axis] + 1;
  return {block, download(field, plane)};
}

}  // namespace

Slices::Slices(const Simulation& simulation, const std::string& directory) : simulation_(&simulation) {
  const auto& slices = simulation.settings.output.slices;
  const std::int64_t step = simulation.state.step;
  run_on_root(simulation.comm.world(), [&] {
    const std::vector<std::string> labels = labels_of(slices);
    for (std::size_t n = 0; n < slices.size(); ++n) {
      series_.emplace_back(io::SliceDescription{directory + "/slices", labels[n], slices[n].normal, slices[n].at,
                                                provenance_of(simulation), io::precision_of<real>},
                           step > 0 ? std::optional(step) : std::nullopt);
    }
  });
}

void Slices::write_due(double before) {
  const auto& slices = simulation_->settings.output.slices;
  for (std::size_t n = 0; n < slices.size(); ++n) {
    if (Schedule{slices[n].every}.passed(before, simulation_->state.time)) write(n);
  }
}

void Slices::write(std::size_t number) {
  const io::SliceSpec& slice = simulation_->settings.output.slices[number];
  const State& state = simulation_->state;
  const io::GridLines lines = grid_lines_of(simulation_->grid);
  const std::size_t axis = axis_of(slice.normal);
  const std::int64_t index = nearest_plane(lines.center[axis], slice.at);

  io::SliceSnapshot snapshot{state.step, state.time, io::plane_of(lines, slice.normal, index), {}};
  for (const auto& [descriptor, field] : state.fields()) {
    if (std::ranges::find(slice.fields, descriptor.name) == slice.fields.end()) continue;
    const auto [block, values] = local_plane(field, simulation_->grid, axis, index);
    snapshot.fields.push_back({descriptor, io::gather_plane(simulation_->comm.world(), block, io::precision_of<real>,
                                                            values.data(), slice.normal, index)});
  }
  run_on_root(simulation_->comm.world(), [&] { series_[number].write(snapshot); });
}

}  // namespace sluice
