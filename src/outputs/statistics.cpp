// statistics.h5: horizontally averaged sums in blocks of time. The open block travels in the checkpoints.
#include "solver/statistics/statistics.hpp"

#include "core/support/collective.hpp"
#include "io/case/names.hpp"
#include "io/files/statistics_file.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/observer.hpp"
#include "src/outputs/schedule.hpp"

namespace sluice {

namespace {

constexpr const char* open_block_group = "/statistics_open";

io::StatisticsSpec file_spec(const RunContext& run, const std::vector<ProfileInfo>& profiles) {
  const Simulation& simulation = run.simulation;
  io::StatisticsSpec spec;
  spec.path = run.directory + "/statistics.h5";
  spec.provenance = provenance_of(simulation);
  const Grid& grid = simulation.grid;
  const FlowParameters& flow = simulation.flow;
  io::Values& about = spec.attributes;
  about.set("title", simulation.settings.title);
  about.set("flow_type", std::string(io::name(simulation.settings.flow_type)));
  about.set("viscosity", flow.viscosity);
  about.set("length_x", grid.length_x());
  about.set("length_y", grid.length_y());
  about.set("length_z", grid.length_z());
  about.set("nx", grid.cells()[0]);
  about.set("ny", grid.cells()[1]);
  about.set("nz", grid.cells()[2]);
  about.set("wall_bottom", std::string(io::name(simulation.settings.flow.bottom.kind)));
  about.set("wall_top", std::string(io::name(simulation.settings.flow.top.kind)));
  about.set("wall_velocity_bottom", flow.bottom.u);
  about.set("wall_velocity_top", flow.top.u);
  about.set("wall_velocity_bottom_y", flow.bottom.v);
  about.set("wall_velocity_top_y", flow.top.v);
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
              run.simulation.stepper.walls(), run.simulation.state.p.box(), run.simulation.comm.world()) {}

  void check_files(const Start& start) override {
    run_on_root(run_.simulation.comm.world(), [&] {
      file_ = std::make_unique<io::StatisticsFile>(file_spec(run_, sums_.profiles()), start.step > 0);
    });
  }

  void go_back(const Start& start) override {
    run_on_root(run_.simulation.comm.world(), [&] { file_->truncate_after(start.step); });
  }

  bool due(const Moment& now) const override {
    return now.occasion == Occasion::step && (sample_due(now) || block_ends(now));
  }

  /// A sample that is due when the block ends is its last.
  std::function<void()> observe(const Moment& now) override {
    if (sample_due(now)) sums_.sample(run_.flow.state(), run_.simulation.forcing);
    if (!block_ends(now)) return {};
    return [this, closed = sums_.close_block(now.step)] { file_->append(closed); };
  }

  void save(io::CheckpointWriter& checkpoint) const override {
    const StatisticsBlock& block = sums_.open_block();
    io::Values values;
    values.set("samples", block.samples);
    values.set("time_begin", block.time_begin);
    values.set("time_end", block.time_end);
    values.set("forcing", block.forcing);
    for (std::size_t n = 0; n < block.sums.size(); ++n) values.set(sums_.profiles()[n].name, block.sums[n]);
    checkpoint.write_values(open_block_group, values);
  }

  void restore(const io::CheckpointReader& checkpoint) override {
    if (!checkpoint.has_values(open_block_group)) return;
    const io::Values values = checkpoint.values(open_block_group);
    StatisticsBlock block;
    block.samples = values.integer("samples");
    block.time_begin = values.real("time_begin");
    block.time_end = values.real("time_end");
    block.forcing = values.real("forcing");
    for (const ProfileInfo& profile : sums_.profiles()) block.sums.push_back(values.reals(profile.name));
    sums_.set_open_block(std::move(block));
  }

 private:
  bool sample_due(const Moment& now) const {
    return now.step % run_.simulation.settings.output.statistics_every == 0 && now.time >= blocks_.origin;
  }

  /// The open block, or the one that a sample due now begins, ends at or before now.
  bool block_ends(const Moment& now) const {
    const StatisticsBlock& open = sums_.open_block();
    return open.samples > 0 && now.time >= blocks_.origin + blocks_.every * (blocks_.index(open.time_begin) + 1);
  }

  RunContext run_;
  Schedule blocks_;
  Statistics sums_;
  std::unique_ptr<io::StatisticsFile> file_;  ///< on rank 0
};

}  // namespace

std::unique_ptr<Observer> make_statistics(const RunContext& run) {
  if (!run.simulation.settings.output.statistics) return nullptr;
  return std::make_unique<StatisticsObserver>(run);
}

}  // namespace sluice
