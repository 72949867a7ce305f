#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/files/file_format.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/stored_blocks.hpp"
#include "io/files/values.hpp"
#include "model/statistics_block.hpp"

namespace sluice::io {

namespace h5 {
class Dataset;
class File;
}  // namespace h5

/// The planes at chosen heights.
struct ChosenHeights {
  std::string name;       ///< of their coordinate in /grid
  std::vector<double> z;  ///< none: the file has no such planes
};

/// The contents of the file that are known before the first block.
struct StatisticsSpec {
  std::string path;
  Provenance provenance;
  Values attributes;                  ///< additional root attributes, such as the viscosity; no lists
  std::vector<ProfileInfo> profiles;  ///< none: those of the file, for a run that takes no more statistics
  std::vector<double> z;              ///< centres
  std::vector<double> z_face;         ///< all faces
  std::vector<double> kx, ky;         ///< wavenumbers; empty without spectra
  std::vector<double> phase;          ///< of the middle of each bin; empty without profiles by phase
  ChosenHeights chosen_centers;
  ChosenHeights chosen_faces;
  /// Flow parameters for the blocks of version 0.1, which does not store them: those of the checkpoint's case.
  Values unrecorded_parameters;
};

/// statistics.h5, spectra.h5 and densities.h5: datasets of sums, (block, planes), (block, planes, modes) or (block,
/// planes, modes along y, modes along x), and samples, t_begin, t_end, step_end, forcing, parameter_set by block; a
/// group parameter_set_N for each set of parameters under which blocks were sampled. The file is always written as a
/// whole and replaced atomically. A new block goes into it while the file is small; later into the journal beside it
/// (stored_blocks.hpp), until that has grown to a fraction of the file. So the cost of a block does not depend on their
/// number. The bytes of the file depend on its content alone, so a restarted run ends with the same file as an
/// uninterrupted one. Rank 0 only; local. Throws Error(io).
class StatisticsFile {
 public:
  /// With `resume`: reads the existing blocks, those of the journal included, if there is a file; otherwise starts
  /// without blocks. Changes nothing. Throws Error(restart) if the file is damaged, or has other profiles or another
  /// grid.
  StatisticsFile(StatisticsSpec spec, bool resume);
  StatisticsFile(StatisticsFile&&) = default;
  StatisticsFile(const StatisticsFile&) = delete;
  StatisticsFile& operator=(StatisticsFile&&) = delete;
  StatisticsFile& operator=(const StatisticsFile&) = delete;
  ~StatisticsFile() = default;

  /// Writes the file with the blocks that ended at or before that step and began before that time; call before the
  /// first append.
  void truncate_after(std::int64_t step, double time);
  /// `parameters`: those of the sampled flow. Sets the block's parameter_set.
  /// Returns when the block is on disk, in the file or its journal.
  void append(StatisticsBlock block, const Values& parameters);

  /// How many blocks a run writes in all for `blocks` closed ones, since the file is written again and again: about
  /// nine times as many if there are many.
  static double written_blocks(double blocks);

  /// Writes the blocks of the journal into the file.
  void complete();

  /// Writes the file again if it or its journal was removed since they were last written, and returns true then. Throws
  /// Error(io) if another file took their place.
  bool write_if_removed();

  const std::vector<ProfileInfo>& profiles() const { return spec_.profiles; }
  const std::vector<StatisticsBlock>& blocks() const { return blocks_; }
  /// The last blocks, as far as they were sampled under these parameters.
  std::span<const StatisticsBlock> latest_blocks(const Values& parameters) const;
  /// The case in the file that was read; empty if there was none.
  const std::string& stored_case() const { return stored_case_; }

 private:
  /// An axis of a profile's dataset: its dimension scale and length.
  struct Axis {
    std::string scale;
    std::size_t length;
  };
  std::vector<Axis> axes_of(const ProfileInfo& profile) const;  ///< the blocks come first
  /// Number of values of a profile in a block.
  std::size_t length(const ProfileInfo& profile) const;
  void load();
  void check_grid(const h5::File& file) const;
  /// Takes the chosen heights of the file if the case asks for no profiles; refuses others than those of the case.
  void compare_heights(const h5::File& file);
  RecordLayout record_layout() const;
  void require_in_place() const;
  void write_newest();
  void rewrite();
  void write_profiles(h5::File& file) const;
  /// Takes the profiles of the file if the case asks for none; refuses to go on without any that it holds.
  void compare_profiles(const h5::File& file);
  /// What the file says about one of its profiles.
  ProfileInfo stored_profile(const h5::Dataset& dataset, const std::string& name) const;
  void read_profiles(const h5::File& file);

  StatisticsSpec spec_;
  std::vector<StatisticsBlock> blocks_;
  std::vector<Values> parameter_sets_;  ///< in order of first use by a block
  std::string stored_case_;
  std::unique_ptr<PosixFile> written_;  ///< the file as this process wrote it last
  std::size_t in_file_ = 0;             ///< number of blocks that it then had
  std::unique_ptr<BlockJournal> journal_;
};

}  // namespace sluice::io
