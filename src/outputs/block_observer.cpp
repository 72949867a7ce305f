#include "src/outputs/block_observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "core/support/collective.hpp"
#include "io/case/case_file.hpp"
#include "io/files/stored_blocks.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/sampled_file.hpp"

namespace sluice {

namespace {

constexpr const char* profile_of_budgets = "ww_flux";  ///< one that is taken with output.statistics.budgets alone

}  // namespace

BlockObserver::BlockObserver(const RunContext& run, const SampledOutput& output, BlockSums& sums)
    : run_(run),
      output_(output),
      sampling_(run.simulation.settings.output.*output.sampling),
      times_(sampling_),
      sums_(sums),
      parameters_(sampled_parameters(run.simulation.settings)) {}

std::vector<std::string> BlockObserver::check_files(const Start& start) {
  std::vector<std::string> losses;
  run_on_root(run_.simulation.comm.world(), [&] {
    io::StatisticsSpec spec = sampled_file_spec(run_.simulation, run_.path, output_, sums_.profiles());
    spec.unrecorded_parameters = open_parameters_;
    try {
      file_ = std::make_unique<io::StatisticsFile>(std::move(spec), start.step > 0);
    } catch (const Error&) {
      if (sampling_.enabled) throw;  // otherwise the run does not need the file
    }
    if (start.step > 0 && start.in_directory && expected_) losses = check(start);
  });
  return losses;
}

void BlockObserver::go_back(const Start& start) {
  if (!sampling_.enabled) {
    run_on_root(run_.simulation.comm.world(), [&] { remove_later_blocks(start); });
    return;
  }
  const StatisticsBlock& open = sums_.open_block();
  run_on_root(run_.simulation.comm.world(), [&] { file_->truncate_after(start.step, open_begin()); });
  if (open.samples > 0 && !(open_parameters_ == parameters_)) {
    run_.log.line(
        fmt::format("{}: the block of {} samples taken under other parameters is closed", output_.name, open.samples));
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

bool BlockObserver::due(const Moment& now) const {
  if (!sampling_.enabled) return false;
  return now.occasion == Occasion::step && (sample_due(now) || block_ends(now));
}

void BlockObserver::observe(const Moment& now) {
  if (sample_due(now)) sample();
  if (!block_ends(now)) return;
  const StatisticsBlock closed = sums_.close_block(now.step);
  run_on_root(run_.simulation.comm.world(), [&] {
    keep_file();
    file_->append(closed, parameters_);
    judge(file_->latest_blocks(parameters_));
  });
}

void BlockObserver::finish() {
  run_on_root(run_.simulation.comm.world(), [&] {
    if (!sampling_.enabled) return;
    try {
      keep_file();
      file_->complete();
    } catch (const Error& error) {
      run_.log.line(
          fmt::format("warning: {}; the newest blocks stay in {}", error.what(), io::journal_path(run_.path)));
    }
  });
}

void BlockObserver::sync() {
  run_on_root(run_.simulation.comm.world(), [&] {
    if (sampling_.enabled) keep_file();
  });
}

void BlockObserver::save(io::ValueGroups& checkpoint) const {
  if (!sampling_.enabled) return;
  const StatisticsBlock& block = sums_.open_block();
  io::Values values;
  values.set(companion_names::block_samples, block.samples);
  values.set(companion_names::block_begin, block.time_begin);
  values.set(companion_names::block_end, block.time_end);
  values.set(companion_names::block_forcing, block.forcing);
  last_entry().save(values, companion_names::last_block, companion_names::last_block_hash);
  for (std::size_t n = 0; n < block.sums.size(); ++n) values.set(sums_.profiles()[n].name, block.sums[n]);
  checkpoint.emplace_back(output_.open_block_group, std::move(values));
}

void BlockObserver::restore(const io::CheckpointReader& checkpoint) {
  const io::Case stored = case_of(checkpoint);
  of_checkpoint_ = stored;
  open_parameters_ = sampled_parameters(stored);
  if (!sampling_.enabled) return;
  if (!checkpoint.has_values(output_.open_block_group)) {
    if (!(stored.output.*output_.sampling).enabled) return;
    throw Error(ExitCode::restart, fmt::format("{}: the file is damaged: the group {} is missing, although the run "
                                               "took {}",
                                               checkpoint.path(), output_.open_block_group, output_.name));
  }
  const io::Values values =
      checkpoint.values(output_.open_block_group, holds_sums() ? io::Lists::read : io::Lists::skip);
  StatisticsBlock block;
  run_collectively(run_.simulation.comm.world(), [&] {
    block.samples = values.integer(companion_names::block_samples);
    block.time_begin = values.real(companion_names::block_begin);
    block.time_end = values.real(companion_names::block_end);
    block.forcing = values.real(companion_names::block_forcing);
    expected_ = last_block_of(values);
    require_sensible(block, checkpoint.path());
    if (holds_sums()) require_same_profiles(values, checkpoint.path());
    require_same_heights(stored, checkpoint.path());
    require_same_phases(stored, checkpoint.path());
    if (holds_sums()) block.sums = stored_sums(values, checkpoint.path());
  });
  sums_.set_open_block(std::move(block));
}

std::vector<std::vector<double>> BlockObserver::stored_sums(const io::Values& values, const std::string& path) const {
  std::vector<std::vector<double>> sums;
  for (const ProfileInfo& profile : sums_.profiles()) {
    if (!values.has(profile.name))
      throw Error(ExitCode::restart,
                  fmt::format("{}: its {} lack {}, which this version of Sluice takes: go on with the version that "
                              "wrote the checkpoint, or start anew in another directory, with initial: {{type: "
                              "checkpoint, file: {}}}",
                              path, output_.name, profile.name, path));
    sums.push_back(values.reals(profile.name));
    const std::int64_t expected = profile.length(run_.simulation.grid.cells());
    if (std::ssize(sums.back()) == expected) continue;
    throw Error(ExitCode::restart, fmt::format("{}: the dataset {}/{} is damaged: it has {} values, not {}", path,
                                               output_.open_block_group, profile.name, sums.back().size(), expected));
  }
  return sums;
}

double BlockObserver::open_begin() const {
  const StatisticsBlock& open = sums_.open_block();
  return open.samples > 0 ? open.time_begin : std::numeric_limits<double>::infinity();
}

LastEntry BlockObserver::last_entry() const {
  if (!file_ || file_->blocks().empty()) return {};
  const StatisticsBlock& last = file_->blocks().back();
  return {last.step_end, io::hash_of(last, sums_.profiles())};
}

std::vector<std::string> BlockObserver::check(const Start& start) const {
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
  if (mismatch.kind == Mismatch::Kind::foreign) mismatch.text += case_difference(file_->stored_case(), *of_checkpoint_);
  return require_agreement(mismatch, start);
}

void BlockObserver::remove_later_blocks(const Start& start) {
  const auto is_later = [&](const StatisticsBlock& block) { return block.step_end > start.step; };
  if (!file_ || std::ranges::none_of(file_->blocks(), is_later)) return;
  file_->truncate_after(start.step, std::numeric_limits<double>::infinity());
}

void BlockObserver::keep_file() {
  if (file_->write_if_removed())
    run_.log.line(fmt::format("warning: {}: the file was removed during the run and is written again", run_.path));
}

void BlockObserver::require_same_profiles(const io::Values& stored, const std::string& path) const {
  const auto is_budget = [&](const ProfileInfo& profile) { return profile.name == profile_of_budgets; };
  const bool asked = std::ranges::any_of(sums_.profiles(), is_budget);
  if (stored.has(profile_of_budgets) != asked)
    throw Error(ExitCode::restart,
                fmt::format("{}: the run has taken statistics {} budgets so far: set output.statistics.budgets: {}, or "
                            "start anew in another directory",
                            path, asked ? "without" : "with", asked ? "off" : "on"));
}

void BlockObserver::require_same_heights(const io::Case& stored, const std::string& path) const {
  const std::vector<double>& heights = (stored.output.*output_.sampling).heights;
  if (heights == sampling_.heights) return;
  const std::string before = heights.empty() ? "none" : fmt::format("[{}]", fmt::join(heights, ", "));
  throw Error(ExitCode::restart,
              fmt::format("{}: the run has taken {} with output.{}.heights: {} so far: set them so, or start anew in "
                          "another directory",
                          path, output_.name, output_.name, before));
}

void BlockObserver::require_same_phases(const io::Case& stored, const std::string& path) const {
  const PhaseBins& before = stored.output.statistics_phases;
  if (output_.sampling != &io::OutputSpec::statistics || before == run_.simulation.settings.output.statistics_phases)
    return;
  const std::string text =
      before.count == 0 ? "none" : fmt::format("{{period: {}, bins: {}}}", before.period, before.count);
  throw Error(ExitCode::restart, fmt::format("{}: the run has taken statistics with output.statistics.phases: {} so "
                                             "far: set them so, or start anew in another directory",
                                             path, text));
}

void BlockObserver::require_sensible(const StatisticsBlock& block, const std::string& path) const {
  if (block.samples >= 0 && std::isfinite(block.time_begin) && std::isfinite(block.time_end) &&
      std::isfinite(block.forcing))
    return;
  throw Error(ExitCode::restart,
              fmt::format("{}: the group {} is damaged: it has {} samples from time {} to {}, with the force {}", path,
                          output_.open_block_group, block.samples, block.time_begin, block.time_end, block.forcing));
}

bool BlockObserver::sample_due(const Moment& now) const {
  return times_.sample_due(now.step, now.time);
}

bool BlockObserver::block_ends(const Moment& now) const {
  return times_.block_ends(sums_.open_block(), now.time);
}

}  // namespace sluice
