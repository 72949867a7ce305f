#pragma once
// The growing files of an observer, DIR/NAME.h5, and what checkpoints store about the last sample of each.
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/files/probe_series.hpp"
#include "src/outputs/observer.hpp"

namespace sluice {

/// What all series of a run have in common; without fields and coordinates.
io::ProbeDescription series_description(const RunContext& run, const std::string& name);

class SeriesFiles {
 public:
  /// `group`: that of checkpoints. `descriptions`: those of the case.
  SeriesFiles(const RunContext& run, const char* group, std::vector<io::ProbeDescription> descriptions);

  // What an observer does with its files; collective.
  [[nodiscard]] std::vector<std::string> check(const Start& start);
  void go_back(const Start& start);
  void save(io::ValueGroups& checkpoint) const;
  void restore(const io::CheckpointReader& checkpoint);

  /// Rank 0 only. `number`: of the series.
  void append(std::size_t number, const io::ProbeSamples& samples);

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
