#pragma once
// What statistics.h5, spectra.h5 and densities.h5 have in common: samples are summed in blocks of time, and each block
// is written when it is complete. Checkpoints store the open blocks.
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/case/case.hpp"
#include "io/files/statistics_file.hpp"
#include "io/files/values.hpp"
#include "model/statistics_block.hpp"
#include "solver/statistics/block_sums.hpp"
#include "src/outputs/companions.hpp"
#include "src/outputs/observer.hpp"
#include "src/outputs/sampled_file.hpp"

namespace sluice {

/// Sums samples in blocks and writes each complete one. Derived classes own the sums and take the samples.
class BlockObserver : public Observer {
 public:
  /// `sums`: of the derived class, which this constructor does not use.
  BlockObserver(const RunContext& run, const SampledOutput& output, BlockSums& sums);

  std::vector<std::string> check_files(const Start& start) override;

  /// Closes an open block that was sampled under other parameters. If an earlier start has closed it already, the file
  /// contains it, and its copy is removed first.
  void go_back(const Start& start) override;

  bool due(const Moment& now) const override;

  /// A sample that is due at the end of a block is the block's last.
  void observe(const Moment& now) override;

  /// Writes all blocks into the file, so that no journal is needed.
  void finish() override;
  void sync() override;
  void save(io::ValueGroups& checkpoint) const override;
  void restore(const io::CheckpointReader& checkpoint) override;

 protected:
  const RunContext& run() const { return run_; }

 private:
  /// Adds a sample of the flow to the sums. Collective.
  virtual void sample() = 0;

  /// On rank 0, at the start and after each block: `blocks` of the flow as it is now, all that the file has.
  virtual void judge(std::span<const StatisticsBlock> /*blocks*/) {}

  /// Whether this rank holds the sums, as rank 0 does.
  bool holds_sums() const { return !sums_.open_block().sums.empty(); }

  /// Those of the open block in a checkpoint. Throws Error(restart) if they do not fit the profiles.
  std::vector<std::vector<double>> stored_sums(const io::Values& values, const std::string& path) const;

  /// Time at which the open block begins.
  double open_begin() const;

  /// The last block in the file; on rank 0, nothing elsewhere.
  LastEntry last_entry() const;

  /// On rank 0. Blocks after the checkpoint, and a closed copy of its open block, are removed by go_back.
  std::vector<std::string> check(const Start& start) const;

  /// On rank 0: blocks of later steps belong to an abandoned branch of the run.
  void remove_later_blocks(const Start& start);

  /// On rank 0: all blocks are in memory, so nothing is lost if the file was removed.
  void keep_file();

  /// Refuses to go on with other profiles than those that the run has taken so far.
  void require_same_profiles(const io::Values& stored, const std::string& path) const;
  void require_same_heights(const io::Case& stored, const std::string& path) const;
  void require_same_phases(const io::Case& stored, const std::string& path) const;

  /// Refuses an open block that no run has stored.
  void require_sensible(const StatisticsBlock& block, const std::string& path) const;

  bool sample_due(const Moment& now) const;

  /// Whether the open block, or the block that a sample due now starts, ends at or before now.
  bool block_ends(const Moment& now) const;

  RunContext run_;
  SampledOutput output_;
  io::SamplingSpec sampling_;  ///< not enabled: the case takes no samples, but an earlier part of the run did
  SamplingTimes times_;
  BlockSums& sums_;
  const io::Values parameters_;
  std::optional<LastEntry> expected_;  ///< the last block that the checkpoint expects in the file
  std::optional<io::Case> of_checkpoint_;
  io::Values open_parameters_;                ///< of the checkpoint's case: of its open block
  std::unique_ptr<io::StatisticsFile> file_;  ///< on rank 0
};

/// Also without samples in the case, where an earlier part of the run wrote the file.
template <class Sampler>
std::unique_ptr<Observer> make_sampler(const RunContext& run, const SampledOutput& output) {
  if (!(run.simulation.settings.output.*output.sampling).enabled && !has_files(run)) return nullptr;
  return std::make_unique<Sampler>(run);
}

}  // namespace sluice
