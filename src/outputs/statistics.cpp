// statistics.h5, spectra.h5 and densities.h5: sums over horizontal planes in blocks of time. Checkpoints store the open
// blocks.
#include "solver/statistics/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <numbers>
#include <optional>
#include <span>

#include "core/support/collective.hpp"
#include "io/case/case_file.hpp"
#include "io/case/names.hpp"
#include "io/files/statistics_file.hpp"
#include "solver/statistics/densities.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/observer.hpp"
#include "src/outputs/schedule.hpp"

namespace sluice {

namespace {

constexpr const char* profile_of_budgets = "ww_flux";  ///< one that is taken with output.statistics.budgets alone

/// The parameters that a block of statistics is stored with.
io::Values parameters_of(const io::Case& settings) {
  io::Values values;
  for (const auto& [path, text] : io::sampled_keys(settings)) values.set(path, text);
  return values;
}

std::vector<double> wavenumbers(std::int64_t cells, double length) {
  std::vector<double> values;
  for (std::int64_t m = 0; m <= cells / 2; ++m)
    values.push_back(2 * std::numbers::pi * static_cast<double>(m) / length);
  return values;
}

io::StatisticsSpec file_spec(const RunContext& run, const SampledOutput& output,
                             const std::vector<ProfileInfo>& profiles) {
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
  const io::SamplingSpec& sampling = settings.output.*output.sampling;
  if (sampling.enabled) spec.profiles = profiles;
  for (std::int64_t k = 0; k < grid.cells()[2]; ++k) spec.z.push_back(grid.z_center(k));
  spec.z_face = grid.z_nodes();
  if (std::ranges::any_of(profiles, [](const ProfileInfo& profile) { return profile.modes == ModeAxis::kx; })) {
    spec.kx = wavenumbers(grid.cells()[0], grid.length_x());
    spec.ky = wavenumbers(grid.cells()[1], grid.length_y());
  }
  spec.chosen_centers.name = output.chosen_centers;
  spec.chosen_faces.name = output.chosen_faces;
  const ChosenPlanes planes = planes_nearest_to(sampling.heights, grid);
  if (!spec.chosen_centers.name.empty())
    for (const std::int64_t k : planes.centers) spec.chosen_centers.z.push_back(grid.z_center(k));
  if (!spec.chosen_faces.name.empty())
    for (const std::int64_t k : planes.faces) spec.chosen_faces.z.push_back(spec.z_face[static_cast<std::size_t>(k)]);
  return spec;
}

/// Sums samples in blocks and writes each complete one. Derived classes own the sums and take the samples.
class BlockObserver : public Observer {
 public:
  /// `sums`: of the derived class, which this constructor does not use.
  BlockObserver(const RunContext& run, const SampledOutput& output, BlockSums& sums)
      : run_(run),
        output_(output),
        sampling_(run.simulation.settings.output.*output.sampling),
        blocks_{sampling_.block, sampling_.start},
        sums_(sums),
        parameters_(parameters_of(run.simulation.settings)) {}

  std::vector<std::string> check_files(const Start& start) override {
    std::vector<std::string> losses;
    run_on_root(run_.simulation.comm.world(), [&] {
      io::StatisticsSpec spec = file_spec(run_, output_, sums_.profiles());
      spec.unrecorded_parameters = open_parameters_;
      try {
        file_ = std::make_unique<io::StatisticsFile>(std::move(spec), start.step > 0);
      } catch (const Error&) {
        if (sampling_.enabled) throw;
      }
      if (start.step > 0 && start.in_directory && expected_) losses = check(start);
    });
    return losses;
  }

  /// Closes an open block that was sampled under other parameters. If an earlier start has closed it already, the file
  /// contains it, and its copy is removed first.
  void go_back(const Start& start) override {
    if (!sampling_.enabled) {
      run_on_root(run_.simulation.comm.world(), [&] { remove_later_blocks(start); });
      return;
    }
    const StatisticsBlock& open = sums_.open_block();
    run_on_root(run_.simulation.comm.world(), [&] { file_->truncate_after(start.step, open_begin()); });
    if (open.samples > 0 && !(open_parameters_ == parameters_)) {
      run_.log.line(fmt::format("{}: the block of {} samples taken under other parameters is closed", output_.name,
                                open.samples));
      const StatisticsBlock closed = sums_.close_block(start.step);
      run_on_root(run_.simulation.comm.world(), [&] { file_->append(closed, open_parameters_); });
    }
    if (!(open_parameters_ == parameters_)) sums_.start_anew();
    run_on_root(run_.simulation.comm.world(), [&] {
      const std::span<const StatisticsBlock> blocks = file_->latest_blocks(parameters_);
      if (!blocks.empty()) sums_.set_constants(blocks.back());
      judge(blocks);
    });
  }

  bool due(const Moment& now) const override {
    return sampling_.enabled && now.occasion == Occasion::step && (sample_due(now) || block_ends(now));
  }

  /// A sample that is due at the end of a block is the block's last.
  std::function<void()> observe(const Moment& now) override {
    if (sample_due(now)) sample();
    if (!block_ends(now)) return {};
    return [this, closed = sums_.close_block(now.step)] {
      keep_file();
      file_->append(closed, parameters_);
      judge(file_->latest_blocks(parameters_));
    };
  }

  void sync() override {
    run_on_root(run_.simulation.comm.world(), [&] {
      if (sampling_.enabled) keep_file();
    });
  }

  void save(io::CheckpointWriter& checkpoint) const override {
    if (!sampling_.enabled) return;
    const StatisticsBlock& block = sums_.open_block();
    io::Values values;
    values.set("samples", block.samples);
    values.set("time_begin", block.time_begin);
    values.set("time_end", block.time_end);
    values.set("forcing", block.forcing);
    last_entry().save(values, companion_names::last_block, companion_names::last_block_hash);
    for (std::size_t n = 0; n < block.sums.size(); ++n) values.set(sums_.profiles()[n].name, block.sums[n]);
    checkpoint.write_values(output_.open_block_group, values);
  }

  void restore(const io::CheckpointReader& checkpoint) override {
    const io::Case stored = case_of(checkpoint);
    of_checkpoint_ = stored;
    open_parameters_ = parameters_of(stored);
    if (!sampling_.enabled) return;
    if (!checkpoint.has_values(output_.open_block_group)) {
      if (!(stored.output.*output_.sampling).enabled) return;
      throw Error(ExitCode::restart, fmt::format("{}: the file is damaged: the group {} is missing, although the run "
                                                 "took {}",
                                                 checkpoint.path(), output_.open_block_group, output_.name));
    }
    const io::Values values = checkpoint.values(output_.open_block_group);
    StatisticsBlock block;
    block.samples = values.integer("samples");
    block.time_begin = values.real("time_begin");
    block.time_end = values.real("time_end");
    block.forcing = values.real("forcing");
    expected_ = companions_of(checkpoint).*output_.last_entry;
    require_sensible(block, checkpoint.path());
    require_same_profiles(values, checkpoint.path());
    require_same_heights(stored, checkpoint.path());
    for (const ProfileInfo& profile : sums_.profiles()) {
      block.sums.push_back(values.reals(profile.name));
      const std::int64_t expected = profile.length(run_.simulation.grid.cells());
      if (std::ssize(block.sums.back()) == expected) continue;
      throw Error(ExitCode::restart,
                  fmt::format("{}: the dataset {}/{} is damaged: it has {} values, not {}", checkpoint.path(),
                              output_.open_block_group, profile.name, block.sums.back().size(), expected));
    }
    sums_.set_open_block(std::move(block));
  }

 protected:
  const RunContext& run() const { return run_; }

 private:
  /// Time at which the open block begins.
  double open_begin() const {
    const StatisticsBlock& open = sums_.open_block();
    return open.samples > 0 ? open.time_begin : std::numeric_limits<double>::infinity();
  }

  /// The last block in the file; on rank 0, nothing elsewhere.
  LastEntry last_entry() const {
    if (!file_ || file_->blocks().empty()) return {};
    const StatisticsBlock& last = file_->blocks().back();
    return {last.step_end, io::hash_of(last, sums_.profiles())};
  }

  /// On rank 0. Blocks after the checkpoint, and a closed copy of its open block, are removed by go_back.
  std::vector<std::string> check(const Start& start) const {
    FoundEntry found;
    found.exists = std::filesystem::exists(run_.path);
    for (const StatisticsBlock& block : file_->blocks()) {
      const bool closed_copy = block.step_end == start.step && block.time_begin >= open_begin();
      if (block.step_end > start.step || closed_copy) continue;
      found.last = std::max(found.last, block.step_end);
      if (block.step_end != expected_->step) continue;
      found.has_expected = true;
      found.hash = io::hash_of(block, sums_.profiles());
    }
    Mismatch mismatch = compare(run_.path, found, *expected_, start.checkpoint);
    if (mismatch.kind == Mismatch::Kind::none && found.last > expected_->step) {
      mismatch = {Mismatch::Kind::foreign,
                  fmt::format("{}: holds a block that ends at step {}, but the run of the checkpoint {} had written "
                              "blocks up to step {} only: the file belongs to another run",
                              run_.path, found.last, start.checkpoint, expected_->step)};
    }
    if (mismatch.kind == Mismatch::Kind::foreign)
      mismatch.text += case_difference(file_->stored_case(), *of_checkpoint_);
    return require_agreement(mismatch, start);
  }

  /// On rank 0: blocks of later steps belong to an abandoned branch of the run.
  void remove_later_blocks(const Start& start) {
    const auto is_later = [&](const StatisticsBlock& block) { return block.step_end > start.step; };
    if (!file_ || std::ranges::none_of(file_->blocks(), is_later)) return;
    file_->truncate_after(start.step, std::numeric_limits<double>::infinity());
  }

  /// On rank 0: all blocks are in memory, so nothing is lost if the file was removed.
  void keep_file() {
    if (file_->write_if_removed())
      run_.log.line(fmt::format("warning: {}: the file was removed during the run and is written again", run_.path));
  }

  /// Refuses to go on with other profiles than those that the run has taken so far.
  void require_same_profiles(const io::Values& stored, const std::string& path) const {
    const auto is_budget = [&](const ProfileInfo& profile) { return profile.name == profile_of_budgets; };
    const bool asked = std::ranges::any_of(sums_.profiles(), is_budget);
    if (stored.has(profile_of_budgets) == asked) return;
    throw Error(ExitCode::restart,
                fmt::format("{}: the run has taken statistics {} budgets so far: set output.statistics.budgets: {}, or "
                            "start anew in another directory",
                            path, asked ? "without" : "with", asked ? "off" : "on"));
  }

  void require_same_heights(const io::Case& stored, const std::string& path) const {
    const std::vector<double>& heights = (stored.output.*output_.sampling).heights;
    if (heights == sampling_.heights) return;
    const std::string before = heights.empty() ? "none" : fmt::format("[{}]", fmt::join(heights, ", "));
    throw Error(ExitCode::restart,
                fmt::format("{}: the run has taken {} with output.{}.heights: {} so far: set them so, or start anew in "
                            "another directory",
                            path, output_.name, output_.name, before));
  }

  /// Refuses an open block that no run has stored.
  void require_sensible(const StatisticsBlock& block, const std::string& path) const {
    if (block.samples >= 0 && std::isfinite(block.time_begin) && std::isfinite(block.time_end) &&
        std::isfinite(block.forcing))
      return;
    throw Error(
        ExitCode::restart,
        fmt::format("{}: the group {} is damaged: it has {} samples from time {} to {}, with the force {}", path,
                    output_.open_block_group, block.samples, block.time_begin, block.time_end, block.forcing));
  }

  bool sample_due(const Moment& now) const { return now.step % sampling_.every == 0 && now.time >= blocks_.origin; }

  /// Whether the open block, or the block that a sample due now starts, ends at or before now.
  bool block_ends(const Moment& now) const {
    const StatisticsBlock& open = sums_.open_block();
    return open.samples > 0 && now.time >= blocks_.origin + blocks_.every * (blocks_.index(open.time_begin) + 1);
  }

  /// Adds a sample of the flow to the sums. Collective.
  virtual void sample() = 0;

  /// On rank 0, at the start and after each block: `blocks` of the flow as it is now, all that the file has.
  virtual void judge(std::span<const StatisticsBlock> /*blocks*/) {}

  RunContext run_;
  SampledOutput output_;
  io::SamplingSpec sampling_;  ///< not enabled: the case takes no samples, but an earlier part of the run did
  Schedule blocks_;
  BlockSums& sums_;
  const io::Values parameters_;
  std::optional<LastEntry> expected_;  ///< the last block that the checkpoint expects in the file
  std::optional<io::Case> of_checkpoint_;
  io::Values open_parameters_;                ///< of the checkpoint's case: of its open block
  std::unique_ptr<io::StatisticsFile> file_;  ///< on rank 0
};

/// What the key figures depend on beside the statistics.
StatisticsFlow sampled_flow(const Simulation& simulation) {
  const io::Case& settings = simulation.settings;
  StatisticsFlow flow{settings.flow.viscosity,
                      settings.flow.bottom,
                      settings.flow.top,
                      settings.flow_type == io::FlowType::couette,
                      {},
                      simulation.grid.z_nodes()};
  for (std::int64_t k = 0; k < simulation.grid.cells()[2]; ++k) flow.z.push_back(simulation.grid.z_center(k));
  return flow;
}

class StatisticsObserver : public BlockObserver {
 public:
  explicit StatisticsObserver(const RunContext& run)
      : BlockObserver(run, statistics_output, profiles_),
        profiles_(run.simulation.grid, run.simulation.stepper.metrics(), run.simulation.flow,
                  run.simulation.stepper.walls(), run.simulation.state.p.box(),
                  run.simulation.settings.output.statistics_budgets == io::Switch::on, run.simulation.comm.world()),
        figures_(sampled_flow(run.simulation), profiles_.profiles()) {}

 private:
  void sample() override { profiles_.sample(run().flow.state(), run().simulation.forcing); }

  void judge(std::span<const StatisticsBlock> blocks) override {
    const io::TimeSpec& time = run().simulation.settings.time;
    if (blocks.empty() || time.until == AccuracyLimits{}) return;
    run().accuracy = assess(figures_, time.until, blocks);
    const bool too_late = time.end && !run().accuracy->reached && run().accuracy->expected_time > *time.end;
    run().log.line(summary(*run().accuracy) + (too_late ? fmt::format(", after time.end {:g}", *time.end) : ""));
  }

  Statistics profiles_;
  KeyFigures figures_;
};

class SpectraObserver : public BlockObserver {
 public:
  explicit SpectraObserver(const RunContext& run)
      : BlockObserver(run, spectra_output, spectra_),
        spectra_(run.simulation.flow, run.simulation.comm, run.simulation.decomposition,
                 planes_nearest_to(run.simulation.settings.output.spectra.heights, run.simulation.grid)) {}

 private:
  void sample() override { run().flow.sample(spectra_); }

  Spectra spectra_;
};

class DensitiesObserver : public BlockObserver {
 public:
  explicit DensitiesObserver(const RunContext& run)
      : BlockObserver(run, densities_output, densities_),
        densities_(run.simulation.grid, run.simulation.stepper.metrics(), run.simulation.flow,
                   run.simulation.stepper.walls(), run.simulation.state.p.box(),
                   planes_nearest_to(run.simulation.settings.output.densities.heights, run.simulation.grid).faces,
                   run.simulation.comm.world()) {}

 private:
  void sample() override { densities_.sample(run().flow.state(), run().simulation.forcing); }

  Densities densities_;
};

/// Also without samples in the case, where an earlier part of the run wrote the file.
template <class Sampler>
std::unique_ptr<Observer> make(const RunContext& run, const SampledOutput& output) {
  std::error_code ignored;
  if (!(run.simulation.settings.output.*output.sampling).enabled && !std::filesystem::exists(run.path, ignored))
    return nullptr;
  return std::make_unique<Sampler>(run);
}

}  // namespace

std::unique_ptr<Observer> make_statistics(const RunContext& run) {
  return make<StatisticsObserver>(run, statistics_output);
}

std::unique_ptr<Observer> make_spectra(const RunContext& run) {
  return make<SpectraObserver>(run, spectra_output);
}

std::unique_ptr<Observer> make_densities(const RunContext& run) {
  return make<DensitiesObserver>(run, densities_output);
}

}  // namespace sluice
