// Snapshots of planes of cells, each field on its own points without interpolation. The plane is the one whose centres
// are nearest to the requested coordinate.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "core/decomp/field_copy.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/nearest.hpp"
#include "io/files/file_format.hpp"
#include "io/files/posix_file.hpp"
#include "model/schedule.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/observer.hpp"
#include "src/outputs/series_files.hpp"

namespace sluice {

namespace {

/// "z0.083", with four digits; a number is appended if two slices of a case would have the same name.
std::vector<std::string> labels_of(const std::vector<io::SliceSpec>& slices) {
  std::vector<std::string> labels;
  std::set<std::string> used;
  for (const io::SliceSpec& slice : slices) {
    const std::string plain = fmt::format("{}{:.4g}", slice.normal, slice.at);
    std::string label = plain;
    for (int n = 2; !used.insert(label).second; ++n) label = fmt::format("{}_{}", plain, n);
    labels.push_back(label);
  }
  return labels;
}

/// The cells of a box that the rank has, in host memory.
std::vector<real> local_part(const Field& field, const Box3& piece) {
  return piece.empty() ? std::vector<real>() : download(field, piece.relative_to(field.box().lo));
}

/// A plane of cells.
struct Plane {
  Plane(const io::SliceSpec& slice, const io::GridLines& lines)
      : axis(slice.normal - 'x'), index(nearest_index(lines.center[axis], slice.at)) {
    box = io::whole_box(lines.shape());
    box.lo[axis] = index;
    box.hi[axis] = index + 1;
  }

  /// The coordinates of its cells' centres or faces.
  std::vector<double> points(const std::array<std::vector<double>, 3>& lines, std::size_t along) const {
    return along == axis ? std::vector{lines[along].at(index)} : lines[along];
  }

  std::size_t axis;
  std::int64_t index;
  Box3 box;
};

bool has_field(const io::SliceSpec& slice, const FieldDescriptor& field) {
  return std::ranges::find(slice.fields, field.name) != slice.fields.end();
}

std::vector<io::ProbeDescription> descriptions_of(const RunContext& run) {
  const std::vector<io::SliceSpec>& slices = run.simulation.settings.output.slices;
  const std::vector<std::string> labels = labels_of(slices);
  const io::GridLines lines = grid_lines_of(run.simulation.grid);
  std::vector<io::ProbeDescription> descriptions;
  for (std::size_t n = 0; n < slices.size(); ++n) {
    const Plane plane(slices[n], lines);
    io::ProbeDescription& series = descriptions.emplace_back(series_description(run, labels[n]));
    series.slice = {slices[n].normal, slices[n].at};
    series.every = slices[n].every;
    for (const auto& [descriptor, field] : run.flow.state().fields()) {
      if (!has_field(slices[n], descriptor)) continue;
      series.fields.push_back(descriptor);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::string name = io::coordinate_names(descriptor)[2 - axis];
        series.coordinates[name] = plane.points(name.size() == 1 ? lines.center : lines.face, axis);
      }
    }
  }
  return descriptions;
}

class SliceObserver : public Observer {
 public:
  explicit SliceObserver(const RunContext& run)
      : run_(run),
        slices_(run.simulation.settings.output.slices),
        files_(run, companion_names::slices_group, descriptions_of(run)) {}

  std::vector<std::string> check_files(const Start& start) override {
    run_on_root(run_.simulation.comm.world(), [&] {
      if (start.step > 0 && start.in_directory) refuse_old_files();
    });
    return files_.check(start);
  }

  void go_back(const Start& start) override {
    run_on_root(run_.simulation.comm.world(), [&] {
      if (start.step == 0) remove_old_files();
    });
    files_.go_back(start);
  }
  void save(io::ValueGroups& checkpoint) const override { files_.save(checkpoint); }
  void restore(const io::CheckpointReader& checkpoint) override { files_.restore(checkpoint); }

  bool due(const Moment& now) const override {
    return std::ranges::any_of(slices_, [&](const io::SliceSpec& slice) { return passed(slice, now); });
  }

  void observe(const Moment& now) override {
    for (std::size_t n = 0; n < slices_.size(); ++n) {
      if (!passed(slices_[n], now)) continue;
      files_.append(n, sample(slices_[n]));
    }
  }

 private:
  /// Earlier versions wrote a file for each time.
  std::vector<std::string> old_files() const {
    std::vector<std::string> files;
    std::error_code ignored;
    for (const std::string& label : io::numbered_prefixes(run_.path, ignored)) {
      for (const std::int64_t step : io::numbered_files(run_.path, label, ignored)) {
        const std::string file = run_.path + "/" + io::numbered_name(label, step);
        if (io::is_ours(file, {io::format::slice})) files.push_back(file);
      }
    }
    return files;
  }

  void refuse_old_files() const {
    const std::vector<std::string> files = old_files();
    if (files.empty()) return;
    const std::string name = std::filesystem::path(files.front()).filename().string();
    throw Error(
        ExitCode::restart,
        fmt::format("{0}/{1}_*.h5: an earlier version of Sluice wrote one file for each time; this one writes "
                    "all times of a slice to {0}/{1}.h5. Move {0} elsewhere, where its files can still be read, "
                    "and restart: new slices begin after the checkpoint",
                    run_.path, io::parse_numbered_name(name)->prefix));
  }

  /// Those of a run that begins again.
  void remove_old_files() const {
    for (const std::string& file : old_files()) io::remove_file(file);
  }

  static bool passed(const io::SliceSpec& slice, const Moment& now) {
    return now.occasion == Occasion::step && Schedule{slice.every}.passed(now.previous_time, now.time);
  }

  /// Collective.
  SeriesSamples sample(const io::SliceSpec& slice) {
    const State& state = run_.flow.state();
    const Plane plane(slice, grid_lines_of(run_.simulation.grid));
    SeriesSamples samples{{{state.step}, {state.time}, {}}, {}, {}};
    for (const auto& [descriptor, field] : state.fields()) {
      if (!has_field(slice, descriptor)) continue;
      const Box3 piece = intersect(plane.box, field.box());
      samples.add_field(run_.simulation.comm.world(), plane.box, piece, local_part(field, piece));
    }
    return samples;
  }

  RunContext run_;
  const std::vector<io::SliceSpec>& slices_;
  SeriesFiles files_;
};

}  // namespace

std::unique_ptr<Observer> make_slices(const RunContext& run) {
  if (run.simulation.settings.output.slices.empty() && !has_files(run)) return nullptr;
  return std::make_unique<SliceObserver>(run);
}

}  // namespace sluice
