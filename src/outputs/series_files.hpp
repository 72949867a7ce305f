#pragma once
// The growing files of an observer, DIR/NAME.h5, and what checkpoints store about the last sample of each.
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/support/box3.hpp"
#include "core/support/real.hpp"
#include "io/files/probe_series.hpp"
#include "src/outputs/observer.hpp"

namespace sluice {

/// What all series of a run have in common; without fields and coordinates.
io::ProbeDescription series_description(const RunContext& run, const std::string& name);

/// Samples of a series on all ranks.
struct SeriesSamples {
  io::ProbeSamples whole;                 ///< fields on rank 0 only
  std::vector<io::LocalBlock> blocks;     ///< of each field, what this rank has of it
  std::vector<std::vector<real>> values;  ///< of each block, sample by sample

  /// Adds a field, once all steps are known. `box`: the points sampled. `own`: the values of this rank's `piece` of
  /// them. Collective.
  void add_field(MPI_Comm comm, const Box3& box, const Box3& piece, std::vector<real> own);
};

class SeriesFiles {
 public:
  /// `group`: that of checkpoints. `descriptions`: those of the case.
  SeriesFiles(const RunContext& run, const char* group, std::vector<io::ProbeDescription> descriptions);

  // What an observer does with its files; collective.
  [[nodiscard]] std::vector<std::string> check(const Start& start);
  void go_back(const Start& start);
  void save(io::ValueGroups& checkpoint) const;
  void restore(const io::CheckpointReader& checkpoint);

  /// `number`: of the series. Rank 0 writes a part that several samples share; all ranks write one that a sample fills,
  /// by the writer of the case. Collective.
  void append(std::size_t number, const SeriesSamples& samples);

 private:
  [[nodiscard]] std::vector<std::string> check(std::size_t n, const Start& start) const;
  std::vector<std::string> check_every(std::size_t n, const Start& start) const;
  void remove_later_samples(std::int64_t step) const;
  void log_warnings(const io::ProbeSeries& series) const;
  bool is_in_case(const std::string& name) const;
  LastEntry last_of(std::size_t n) const;

  RunContext run_;
  const char* group_;
  std::vector<io::ProbeDescription> descriptions_;
  std::vector<LastEntry> last_;  ///< the last sample of each series on disk; valid on rank 0
  std::optional<io::Case> of_checkpoint_;
  std::vector<io::ProbeSeries> series_;  ///< on rank 0
};

}  // namespace sluice
