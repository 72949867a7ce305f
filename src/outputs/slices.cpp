// Snapshots of planes of cells, each field on its own points without interpolation. The plane is the one whose centres
// are nearest to the requested coordinate.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "core/decomp/field_copy.hpp"
#include "core/support/collective.hpp"
#include "core/support/nearest.hpp"
#include "io/files/gather_box.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/slice_series.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/observer.hpp"
#include "src/outputs/schedule.hpp"

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

class SliceObserver : public Observer {
 public:
  explicit SliceObserver(const RunContext& run)
      : run_(run), slices_(run.simulation.settings.output.slices), labels_(labels_of(slices_)), last_(slices_.size()) {}

  std::vector<std::string> check_files(const Start& start) override {
    std::vector<std::string> losses;
    run_on_root(run_.simulation.comm.world(), [&] {
      if (start.step == 0 || !start.in_directory) return;
      for (std::size_t n = 0; n < slices_.size(); ++n) std::ranges::move(check(n, start), std::back_inserter(losses));
    });
    return losses;
  }

  void go_back(const Start& start) override {
    run_on_root(run_.simulation.comm.world(), [&] {
      for (std::size_t n = 0; n < slices_.size(); ++n) {
        files_.emplace_back(io::SliceDescription{run_.path, labels_[n], slices_[n].normal, slices_[n].at,
                                                 provenance_of(run_.simulation), io::h5::type_of<real>},
                            start.step > 0 ? std::optional(start.step) : std::nullopt);
        for (const std::string& warning : files_.back().warnings()) run_.log.line("warning: " + warning);
        const std::int64_t last = last_file(n, start.step);
        if (last != last_[n].step) last_[n] = {last, hash_at(n, last)};
      }
      if (start.step > 0) remove_later_slices(start.step);
    });
  }

  bool due(const Moment& now) const override {
    return std::ranges::any_of(slices_, [&](const io::SliceSpec& slice) { return passed(slice, now); });
  }

  std::function<void()> observe(const Moment& now) override {
    std::vector<std::pair<std::size_t, io::SliceSnapshot>> snapshots;
    for (std::size_t n = 0; n < slices_.size(); ++n) {
      if (!passed(slices_[n], now)) continue;
      snapshots.emplace_back(n, snapshot(slices_[n]));
    }
    return [this, snapshots = std::move(snapshots)] {
      for (const auto& [number, planes] : snapshots) last_[number] = {planes.step, files_[number].write(planes)};
    };
  }

  void save(io::CheckpointWriter& checkpoint) const override {
    if (slices_.empty()) return;
    io::Values values;
    for (std::size_t n = 0; n < slices_.size(); ++n)
      last_[n].save(values, labels_[n], labels_[n] + companion_names::hash_suffix);
    checkpoint.write_values(companion_names::slices_group, values);
  }

  void restore(const io::CheckpointReader& checkpoint) override {
    const std::map<std::string, LastEntry> entries = last_entries_of(checkpoint, companion_names::slices_group);
    of_checkpoint_ = case_of(checkpoint);
    for (std::size_t n = 0; n < slices_.size(); ++n) {
      const auto stored = entries.find(labels_[n]);
      last_[n] = stored != entries.end() ? stored->second : LastEntry{};
    }
  }

 private:
  std::string path(std::size_t n, std::int64_t step) const { return io::slice_path(run_.path, labels_[n], step); }

  /// The last file of a slice at or before that step; 0 if there is none.
  std::int64_t last_file(std::size_t n, std::int64_t step) const {
    std::error_code ignored;
    std::int64_t last = 0;
    for (const std::int64_t written : io::numbered_files(run_.path, labels_[n], ignored)) {
      if (written <= step) last = written;
    }
    return last;
  }

  /// Of slices that the case has no more: those of later steps belong to an abandoned branch of the run.
  void remove_later_slices(std::int64_t step) const {
    std::error_code ignored;
    for (const std::string& label : io::numbered_prefixes(run_.path, ignored)) {
      if (std::ranges::find(labels_, label) != labels_.end()) continue;
      if (io::numbered_files(run_.path, label, ignored).back() > step)
        io::SliceSeries({run_.path, label, 'z', 0, {}, io::h5::type_of<real>}, step);
    }
  }

  /// None if the file is missing or damaged, of which SliceSeries warns: older slices are not needed to go on.
  std::optional<std::int64_t> hash_at(std::size_t n, std::int64_t step) const {
    try {
      return io::slice_hash(io::h5::File::open(path(n, step), ExitCode::restart));
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  /// On rank 0.
  std::vector<std::string> check(std::size_t n, const Start& start) const {
    const LastEntry& expected = last_[n];
    if (expected.step == 0) return {};
    const std::string file = path(n, expected.step);
    FoundEntry found{std::filesystem::exists(file), expected.step, true, hash_at(n, expected.step)};
    Mismatch mismatch = compare(file, found, expected, start.checkpoint);
    if (mismatch.kind == Mismatch::Kind::foreign) {
      const io::h5::File other = io::h5::File::open(file, ExitCode::restart);
      mismatch.text += case_difference(other.group("/").text("resolved_case"), *of_checkpoint_);
    }
    return require_agreement(mismatch, start);
  }

  static bool passed(const io::SliceSpec& slice, const Moment& now) {
    return now.occasion == Occasion::step && Schedule{slice.every}.passed(now.previous_time, now.time);
  }

  /// Complete on rank 0. Collective.
  io::SliceSnapshot snapshot(const io::SliceSpec& slice) {
    const State& state = run_.flow.state();
    const io::GridLines lines = grid_lines_of(run_.simulation.grid);
    const auto axis = static_cast<std::size_t>(slice.normal - 'x');
    const std::int64_t index = nearest_index(lines.center[axis], slice.at);
    const Box3 plane = io::plane_box(lines.shape(), axis, index);
    io::SliceSnapshot snapshot{state.step, state.time, io::plane_of(lines, axis, index), {}};
    for (const auto& [descriptor, field] : state.fields()) {
      if (std::ranges::find(slice.fields, descriptor.name) == slice.fields.end()) continue;
      const Box3 piece = intersect(plane, field.box());
      const std::vector<real> values = local_part(field, piece);
      snapshot.fields.push_back({descriptor, io::gather_box(run_.simulation.comm.world(), plane, piece,
                                                            io::h5::type_of<real>, values.data())});
    }
    return snapshot;
  }

  RunContext run_;
  const std::vector<io::SliceSpec>& slices_;
  const std::vector<std::string> labels_;
  std::vector<LastEntry> last_;  ///< the newest file of each slice; valid on rank 0
  std::optional<io::Case> of_checkpoint_;
  std::vector<io::SliceSeries> files_;  ///< on rank 0
};

}  // namespace

std::unique_ptr<Observer> make_slices(const RunContext& run) {
  std::error_code ignored;
  if (run.simulation.settings.output.slices.empty() && !std::filesystem::exists(run.path, ignored)) return nullptr;
  return std::make_unique<SliceObserver>(run);
}

}  // namespace sluice
