// statistics.h5: horizontally averaged sums in blocks of time. Checkpoints store the open block.
#include "solver/statistics/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>

#include "core/support/collective.hpp"
#include "io/case/case_file.hpp"
#include "io/case/names.hpp"
#include "io/files/statistics_file.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/observer.hpp"
#include "src/outputs/schedule.hpp"

namespace sluice {

namespace {

constexpr const char* open_block_group = "/statistics_open";

/// The parameters that a block of statistics is stored with.
io::Values parameters_of(const io::Case& settings) {
  io::Values values;
  for (const auto& [path, text] : io::sampled_keys(settings)) values.set(path, text);
  return values;
}

io::StatisticsSpec file_spec(const RunContext& run, const std::vector<ProfileInfo>& profiles) {
  const Simulation& simulation = run.simulation;
  io::StatisticsSpec spec;
  spec.path = run.path;
  spec.provenance = provenance_of(simulation);
  const Grid& grid = simulation.grid;
  const io::Case& settings = simulation.settings;
  io::Values& about = spec.attributes;
  about.set("title", settings.title);
  about.set("flow_type", std::string(io::name(settings.flow_type)));
  about.set("viscosity", settings.flow.viscosity);
  about.set("forcing_kind", std::string(io::name(settings.flow.forcing.kind)));
  about.set("forcing_value", settings.flow.forcing.value);
  for (const auto& [side, wall] : {std::pair("bottom", settings.flow.bottom), std::pair("top", settings.flow.top)}) {
    about.set(fmt::format("wall_{}", side), std::string(io::name(wall.kind)));
    about.set(fmt::format("wall_velocity_{}", side), wall.velocity[0]);
    about.set(fmt::format("wall_velocity_{}_y", side), wall.velocity[1]);
  }
  about.set("length_x", grid.length_x());
  about.set("length_y", grid.length_y());
  about.set("length_z", grid.length_z());
  about.set("nx", grid.cells()[0]);
  about.set("ny", grid.cells()[1]);
  about.set("nz", grid.cells()[2]);
  spec.profiles = profiles;
  for (std::int64_t k = 0; k < grid.cells()[2]; ++k) spec.z.push_back(grid.z_center(k));
  spec.z_face = grid.z_nodes();
  return spec;
}

class StatisticsObserver : public Observer {
 public:
  explicit StatisticsObserver(const RunContext& run)
      : run_(run),
        blocks_{run.simulation.settings.output.statistics_block, run.simulation.settings.output.statistics_start},
        sums_(run.simulation.grid, run.simulation.stepper.metrics(), run.simulation.flow,
              run.simulation.stepper.walls(), run.simulation.state.p.box(), run.simulation.comm.world()),
        parameters_(parameters_of(run.simulation.settings)) {}

  void check_files(const Start& start) override {
    run_on_root(run_.simulation.comm.world(), [&] {
      io::StatisticsSpec spec = file_spec(run_, sums_.profiles());
      spec.unrecorded_parameters = open_parameters_;
      file_ = std::make_unique<io::StatisticsFile>(std::move(spec), start.step > 0);
      if (start.step > 0 && std::filesystem::exists(run_.path))
        require_reached({run_.path, last_block(start.step), expected_block_}, start);
    });
  }

  /// Closes an open block that was sampled under other parameters. If an earlier start has closed it already, the file
  /// contains it, and its copy is removed first.
  void go_back(const Start& start) override {
    const StatisticsBlock& open = sums_.open_block();
    const double open_begin = open.samples > 0 ? open.time_begin : std::numeric_limits<double>::infinity();
    run_on_root(run_.simulation.comm.world(), [&] { file_->truncate_after(start.step, open_begin); });
    if (open.samples == 0 || open_parameters_ == parameters_) return;
    run_.log.line(
        fmt::format("statistics: the block of {} samples taken under other parameters is closed", open.samples));
    const StatisticsBlock closed = sums_.close_block(start.step);
    run_on_root(run_.simulation.comm.world(), [&] { file_->append(closed, open_parameters_); });
  }

  bool due(const Moment& now) const override {
    return now.occasion == Occasion::step && (sample_due(now) || block_ends(now));
  }

  /// A sample that is due at the end of a block is the block's last.
  std::function<void()> observe(const Moment& now) override {
    if (sample_due(now)) sums_.sample(run_.flow.state(), run_.simulation.forcing);
    if (!block_ends(now)) return {};
    return [this, closed = sums_.close_block(now.step)] { file_->append(closed, parameters_); };
  }

  void save(io::CheckpointWriter& checkpoint) const override {
    const StatisticsBlock& block = sums_.open_block();
    io::Values values;
    values.set("samples", block.samples);
    values.set("time_begin", block.time_begin);
    values.set("time_end", block.time_end);
    values.set("forcing", block.forcing);
    values.set("last_block", last_block(run_.simulation.state.step));
    for (std::size_t n = 0; n < block.sums.size(); ++n) values.set(sums_.profiles()[n].name, block.sums[n]);
    checkpoint.write_values(open_block_group, values);
  }

  void restore(const io::CheckpointReader& checkpoint) override {
    const io::Case stored = case_of(checkpoint);
    open_parameters_ = parameters_of(stored);
    if (!checkpoint.has_values(open_block_group)) {
      if (!stored.output.statistics) return;
      throw Error(ExitCode::restart, fmt::format("{}: the file is damaged: the group {} is missing, although the run "
                                                 "took statistics",
                                                 checkpoint.path(), open_block_group));
    }
    const io::Values values = checkpoint.values(open_block_group);
    StatisticsBlock block;
    block.samples = values.integer("samples");
    block.time_begin = values.real("time_begin");
    block.time_end = values.real("time_end");
    block.forcing = values.real("forcing");
    if (values.has("last_block")) expected_block_ = values.integer("last_block");
    check(block, checkpoint.path());
    const std::int64_t nz = run_.simulation.grid.cells()[2];
    for (const ProfileInfo& profile : sums_.profiles()) {
      block.sums.push_back(values.reals(profile.name));
      const std::int64_t expected = profile.axis == ProfileAxis::z_center ? nz : nz + 1;
      if (std::ssize(block.sums.back()) == expected) continue;
      throw Error(ExitCode::restart,
                  fmt::format("{}: the dataset {}/{} is damaged: it has {} values, not {}", checkpoint.path(),
                              open_block_group, profile.name, block.sums.back().size(), expected));
    }
    sums_.set_open_block(std::move(block));
  }

 private:
  /// The end of the last block in the file that ended at or before that step; 0 if there is none. On rank 0.
  std::int64_t last_block(std::int64_t step) const {
    std::int64_t last = 0;
    if (!file_) return last;
    for (const StatisticsBlock& block : file_->blocks()) {
      if (block.step_end <= step) last = std::max(last, block.step_end);
    }
    return last;
  }

  /// Refuses an open block that no run has stored.
  static void check(const StatisticsBlock& block, const std::string& path) {
    if (block.samples >= 0 && std::isfinite(block.time_begin) && std::isfinite(block.time_end) &&
        std::isfinite(block.forcing))
      return;
    throw Error(ExitCode::restart,
                fmt::format("{}: the group {} is damaged: it has {} samples from time {} to {}, with the force {}",
                            path, open_block_group, block.samples, block.time_begin, block.time_end, block.forcing));
  }

  bool sample_due(const Moment& now) const {
    return now.step % run_.simulation.settings.output.statistics_every == 0 && now.time >= blocks_.origin;
  }

  /// Whether the open block, or the block that a sample due now starts, ends at or before now.
  bool block_ends(const Moment& now) const {
    const StatisticsBlock& open = sums_.open_block();
    return open.samples > 0 && now.time >= blocks_.origin + blocks_.every * (blocks_.index(open.time_begin) + 1);
  }

  RunContext run_;
  Schedule blocks_;
  Statistics sums_;
  const io::Values parameters_;
  std::int64_t expected_block_ = 0;           ///< end of the last block that the checkpoint expects in the file
  io::Values open_parameters_;                ///< of the checkpoint's case: of its open block
  std::unique_ptr<io::StatisticsFile> file_;  ///< on rank 0
};

}  // namespace

std::unique_ptr<Observer> make_statistics(const RunContext& run) {
  if (!run.simulation.settings.output.statistics) return nullptr;
  return std::make_unique<StatisticsObserver>(run);
}

}  // namespace sluice
