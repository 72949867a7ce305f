// Three-dimensional fields at cell centres, for pictures: a file for each time, written by all ranks, and an XDMF file
// that makes them a series. A restart needs none of them.
#include "src/outputs/output_needs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/device/memory.hpp"
#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "core/support/nearest.hpp"
#include "io/files/file_format.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/snapshot.hpp"
#include "io/files/xdmf.hpp"
#include "model/schedule.hpp"
#include "solver/derived/center_fields.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/observer.hpp"

namespace sluice {

namespace {

/// The cells that are written, and those of them that a rank owns.
struct ChosenCells {
  ChosenCells(const io::FieldsSpec& spec, const io::GridLines& lines, const Box3& owned) {
    const std::array<const std::optional<std::array<double, 2>>*, 3> ranges{&spec.x, &spec.y, &spec.z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::vector<std::int64_t> cells = cells_along(lines.center[axis], *ranges[axis], spec.stride[axis]);
      for (const std::int64_t cell : cells) {
        const std::size_t n = cell;
        grid.center[axis].push_back(lines.center[axis][n]);
        grid.face[axis].push_back(lines.face[axis][n]);
        grid.node[axis].push_back(lines.node[axis][n]);
        if (cell >= owned.lo[axis] && cell < owned.hi[axis])
          local[axis].push_back(static_cast<int>(cell - owned.lo[axis]));
      }
      grid.node[axis].push_back(grid.face[axis].back());
      block.box.lo[axis] = std::ranges::lower_bound(cells, owned.lo[axis]) - cells.begin();
      block.box.hi[axis] = block.box.lo[axis] + std::ssize(local[axis]);
    }
    block.global = grid.shape();
  }

  io::GridLines grid;
  std::array<std::vector<int>, 3> local;  ///< indices of the rank's own
  io::LocalBlock block;

 private:
  /// Every stride-th cell whose centre is in the range; the one nearest to its middle if there is none.
  static std::vector<std::int64_t> cells_along(const std::vector<double>& centers,
                                               const std::optional<std::array<double, 2>>& range, std::int64_t stride) {
    const double low = range ? range->front() : centers.front();
    const double high = range ? range->back() : centers.back();
    const auto first = std::ranges::lower_bound(centers, low) - centers.begin();
    const auto end = std::ranges::upper_bound(centers, high) - centers.begin();
    std::vector<std::int64_t> cells;
    for (std::int64_t n = first; n < end; n += stride) cells.push_back(n);
    if (cells.empty()) cells.push_back(nearest_index(centers, (low + high) / 2));
    return cells;
  }
};

std::vector<CenterQuantity> quantities_of(const io::FieldsSpec& spec, const FlowParameters& flow) {
  std::vector<CenterQuantity> list;
  for (const std::string& name : spec.fields) list.push_back(center_quantity(name, flow));
  return list;
}

std::vector<io::XdmfVector> all_vectors() {
  std::vector<io::XdmfVector> vectors;
  for (const CenterQuantity& quantity : center_quantities()) {
    const auto& list = quantity.components;
    if (list.size() == 3) vectors.push_back({quantity.name, {list[0].name, list[1].name, list[2].name}});
  }
  return vectors;
}

/// The files of a series: FOLDER/NAME_NNNNNNN.h5 and FOLDER/NAME.xdmf. On rank 0, but for path_of().
class SeriesFiles {
 public:
  SeriesFiles(std::string folder, std::string name, RunLog& log)
      : folder_(std::move(folder)), name_(std::move(name)), log_(log) {}

  std::string path_of(std::int64_t step) const { return folder_ + "/" + io::numbered_name(name_, step); }

  bool empty() const {
    std::error_code ignored;
    const std::vector<std::int64_t> steps = io::numbered_files(folder_, name_, ignored);
    return std::ranges::none_of(steps,
                                [&](std::int64_t step) { return io::is_ours(path_of(step), {io::format::fields}); });
  }

  /// Keeps the files up to this step, at step 0 none. Files of others stay.
  void go_back(std::int64_t step) {
    std::error_code ignored;
    for (const std::int64_t written : io::numbered_files(folder_, name_, ignored)) {
      if (!io::is_ours(path_of(written), {io::format::fields})) continue;
      if (written > step || step == 0) {
        io::remove_file(path_of(written));
      } else {
        take_existing(written);
      }
    }
    write_xdmf();
  }

  void add(std::int64_t step, double time, io::StoredFields stored) {
    std::ranges::sort(stored.names);  // as a restarted run finds them in the file, so that it writes the same text
    snapshots_.push_back({io::numbered_name(name_, step), time, std::move(stored)});
    write_xdmf();
  }

 private:
  void take_existing(std::int64_t step) {
    try {
      const io::CheckpointReader file(MPI_COMM_SELF, path_of(step), io::format::fields);
      snapshots_.push_back({io::numbered_name(name_, step), file.time(), file.fields()});
    } catch (const Error& error) {
      log_.line(fmt::format("warning: a file is left out of {}.xdmf: {}", name_, error.what()));
    }
  }

  void write_xdmf() const {
    io::write_xdmf(folder_ + "/" + name_ + ".xdmf", io::xdmf_points_series(name_, snapshots_, all_vectors()));
  }

  std::string folder_, name_;
  RunLog& log_;
  std::vector<io::XdmfSnapshot> snapshots_;
};

/// A series of files.
class FieldSeries {
 public:
  FieldSeries(const io::FieldsSpec& spec, const RunContext& run)
      : spec_(spec),
        run_(run),
        cells_(spec, grid_lines_of(run.simulation.grid), run.simulation.box()),
        choice_(cells_.local),
        files_(run.path, spec.name, run.log) {}

  bool due(const Moment& now) const {
    return now.occasion == Occasion::step && Schedule{spec_.every, spec_.start}.passed(now.previous_time, now.time);
  }

  /// On rank 0.
  void go_back(std::int64_t step) {
    io::make_directories(run_.path);
    files_.go_back(step);
  }

  /// Collective.
  void write(CenterFields& fields) {
    const State& state = run_.flow.state();
    const bool single = spec_.precision == "single";
    const io::h5::Type type = single ? io::h5::Type::float32 : io::h5::Type::float64;
    io::SnapshotWriter writer(
        run_.simulation.comm.world(),
        {files_.path_of(state.step), io::format::fields, state.step, state.time, provenance_of(run_.simulation),
         cells_.grid, type, run_.simulation.settings.output.writer},
        cells_.block);
    for (const CenterQuantity& quantity : quantities_of(spec_, run_.simulation.flow)) {
      if (single) {
        write_quantity<float>(writer, quantity, fields);
      } else {
        write_quantity<double>(writer, quantity, fields);
      }
    }
    writer.commit();
    run_on_root(run_.simulation.comm.world(), [&] { files_.add(state.step, state.time, writer.stored()); });
  }

 private:
  template <class T>
  void write_quantity(io::SnapshotWriter& writer, const CenterQuantity& quantity, CenterFields& fields) const {
    const auto components = fields.compute<T>(run_.flow.state(), quantity, choice_);
    for (std::size_t n = 0; n < components.size(); ++n)
      writer.write_field(quantity.components[n], components[n].data());
  }

  const io::FieldsSpec& spec_;
  RunContext run_;
  ChosenCells cells_;
  CellChoice choice_;
  SeriesFiles files_;
};

class FieldsObserver : public Observer {
 public:
  explicit FieldsObserver(const RunContext& run)
      : run_(run),
        fields_(run.simulation.grid, run.simulation.stepper.metrics(), run.simulation.flow.order,
                run.simulation.stepper.walls(), run.simulation.box(), run.simulation.comm.world()) {
    double bytes = 0;
    for (const io::FieldsSpec& spec : run.simulation.settings.output.fields) {
      series_.emplace_back(spec, run);
      bytes += fields_need(spec, run.simulation.grid, run.simulation.flow, {}).size;
    }
    constexpr double bytes_per_second = 2e8;  // of a slow disk, until the first output is timed
    run_.times.fields = bytes / bytes_per_second;
  }

  void go_back(const Start& start) override {
    run_on_root(run_.simulation.comm.world(), [&] {
      for (FieldSeries& series : series_) series.go_back(start.step);
      remove_later_files(start.step);
    });
  }

  bool due(const Moment& now) const override {
    return std::ranges::any_of(series_, [&](const FieldSeries& series) { return series.due(now); });
  }

  void observe(const Moment& now) override {
    const double start = wall_seconds();
    for (FieldSeries& series : series_) {
      if (series.due(now)) series.write(fields_);
    }
    run_.times.fields = std::max(run_.times.fields, wall_seconds() - start);
  }

 private:
  /// Of series that the case has no more: files of later steps belong to an abandoned branch of the run.
  void remove_later_files(std::int64_t step) const {
    const auto& specs = run_.simulation.settings.output.fields;
    std::error_code ignored;
    for (const std::string& name : io::numbered_prefixes(run_.path, ignored)) {
      SeriesFiles files(run_.path, name, run_.log);
      if (std::ranges::find(specs, name, &io::FieldsSpec::name) == specs.end() && !files.empty()) files.go_back(step);
    }
  }

  RunContext run_;
  CenterFields fields_;
  std::vector<FieldSeries> series_;
};

}  // namespace

OutputNeed fields_need(const io::FieldsSpec& spec, const Grid& grid, const FlowParameters& flow, const Box3& owned) {
  const ChosenCells cells(spec, grid_lines_of(grid), owned);
  const double bytes = spec.precision == "single" ? sizeof(float) : sizeof(double);
  const auto points = static_cast<double>(io::whole_box(cells.block.global).volume());
  const auto own_points = static_cast<double>(cells.block.box.volume());
  double components = 0;
  double at_once = 0;
  for (const CenterQuantity& quantity : quantities_of(spec, flow)) {
    const auto count = static_cast<double>(quantity.components.size());
    components += count;
    at_once = std::max(at_once, count);
  }
  const double copies = device::is_gpu() ? 1 : 2;  // on a CPU the copy for the file counts, too
  return {.size = components * points * bytes,
          .memory = copies * at_once * points * bytes,
          .own_memory = copies * at_once * own_points * bytes};
}

OutputNeed outputs_need(const io::Case& settings, const Grid& grid, const Box3& owned) {
  OutputNeed all;
  for (const io::FieldsSpec& fields : settings.output.fields) {
    const OutputNeed need = fields_need(fields, grid, settings.flow, owned);
    all.size += need.size;
    all.memory = std::max(all.memory, need.memory);
    all.own_memory = std::max(all.own_memory, need.own_memory);
  }
  for (const io::ProbeSpec& probe : settings.output.probes) {
    const OutputNeed need = probe_need(probe, grid, settings.flow, owned);
    all.memory += need.memory;
    all.own_memory += need.own_memory;
  }
  const OutputNeed catalyst = catalyst_need(settings.output.catalyst, grid, settings.flow, owned);
  all.memory += catalyst.memory;
  all.own_memory += catalyst.own_memory;
  return all;
}

std::unique_ptr<Observer> make_fields(const RunContext& run) {
  if (run.simulation.settings.output.fields.empty() && !has_files(run)) return nullptr;
  return std::make_unique<FieldsObserver>(run);
}

}  // namespace sluice
