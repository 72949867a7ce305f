// Snapshots of planes of cells, each field on its own points without interpolation. The plane is the one whose centres
// are nearest to the requested coordinate.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/decomp/field_copy.hpp"
#include "core/support/collective.hpp"
#include "io/case/numbers.hpp"
#include "io/files/plane.hpp"
#include "io/files/slice_series.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/observer.hpp"
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

/// "z0.083"; a number is appended if two slices of a case would have the same name.
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

/// The rank's part of a plane of cells, in host memory, and its position in the plane.
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

class SliceObserver : public Observer {
 public:
  explicit SliceObserver(const RunContext& run) : run_(run), slices_(run.simulation.settings.output.slices) {}

  void go_back(const Start& start) override {
    run_on_root(run_.simulation.comm.world(), [&] {
      const std::vector<std::string> labels = labels_of(slices_);
      for (std::size_t n = 0; n < slices_.size(); ++n) {
        files_.emplace_back(io::SliceDescription{run_.directory + "/slices", labels[n], slices_[n].normal,
                                                 slices_[n].at, provenance_of(run_.simulation), io::precision_of<real>},
                            start.step > 0 ? std::optional(start.step) : std::nullopt);
      }
    });
  }

  bool due(const Moment& now) const override {
    return std::ranges::any_of(slices_, [&](const io::SliceSpec& slice) { return passed(slice, now); });
  }

  std::function<void()> observe(const Moment& now) override {
    std::vector<std::pair<std::size_t, io::SliceSnapshot>> snapshots;
    for (std::size_t n = 0; n < slices_.size(); ++n) {
      if (passed(slices_[n], now)) snapshots.emplace_back(n, snapshot(slices_[n]));
    }
    return [this, snapshots = std::move(snapshots)] {
      for (const auto& [number, planes] : snapshots) files_[number].write(planes);
    };
  }

 private:
  static bool passed(const io::SliceSpec& slice, const Moment& now) {
    return now.occasion == Occasion::step && Schedule{slice.every}.passed(now.previous_time, now.time);
  }

  /// Complete on rank 0. Collective.
  io::SliceSnapshot snapshot(const io::SliceSpec& slice) {
    const Grid& grid = run_.simulation.grid;
    const State& state = run_.flow.state();
    const io::GridLines lines = grid_lines_of(grid);
    const std::size_t axis = axis_of(slice.normal);
    const std::int64_t index = nearest_plane(lines.center[axis], slice.at);
    io::SliceSnapshot snapshot{state.step, state.time, io::plane_of(lines, slice.normal, index), {}};
    for (const auto& [descriptor, field] : state.fields()) {
      if (std::ranges::find(slice.fields, descriptor.name) == slice.fields.end()) continue;
      const auto [block, values] = local_plane(field, grid, axis, index);
      snapshot.fields.push_back(
          {descriptor, io::gather_plane(run_.simulation.comm.world(), block, io::precision_of<real>, values.data(),
                                        slice.normal, index)});
    }
    return snapshot;
  }

  RunContext run_;
  const std::vector<io::SliceSpec>& slices_;
  std::vector<io::SliceSeries> files_;  ///< on rank 0
};

}  // namespace

std::unique_ptr<Observer> make_slices(const RunContext& run) {
  if (run.simulation.settings.output.slices.empty()) return nullptr;
  return std::make_unique<SliceObserver>(run);
}

}  // namespace sluice
