#include "src/outputs/series_files.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/support/collective.hpp"
#include "io/files/posix_file.hpp"
#include "src/outputs/checkpoint.hpp"

namespace sluice {

io::ProbeDescription series_description(const RunContext& run, const std::string& name) {
  const Grid& grid = run.simulation.grid;
  return {.directory = run.path,
          .name = name,
          .provenance = provenance_of(run.simulation),
          .grid_velocity = grid.velocity(),
          .length_x = grid.length_x(),
          .length_y = grid.length_y(),
          .type = io::h5::type_of<real>,
          .fields = {},
          .coordinates = {}};
}

SeriesFiles::SeriesFiles(const RunContext& run, const char* group, std::vector<io::ProbeDescription> descriptions)
    : run_(run), group_(group), descriptions_(std::move(descriptions)), last_(descriptions_.size()) {}

std::vector<std::string> SeriesFiles::check(const Start& start) {
  std::vector<std::string> losses;
  run_on_root(run_.simulation.comm.world(), [&] {
    for (std::size_t n = 0; n < descriptions_.size(); ++n) {
      series_.emplace_back(descriptions_[n], start.step > 0 ? std::optional(start.step) : std::nullopt);
      if (start.step > 0 && start.in_directory) std::ranges::move(check(n, start), std::back_inserter(losses));
    }
  });
  return losses;
}

/// On rank 0.
std::vector<std::string> SeriesFiles::check(std::size_t n, const Start& start) const {
  const io::ProbeSeries& series = series_[n];
  const std::optional<std::int64_t> hash = series.hash_at(last_[n].step);
  const FoundEntry found{series.last_step() > 0, series.last_step(), hash.has_value(), hash};
  Mismatch mismatch = compare(series.latest_path(), found, last_[n], start.checkpoint);
  if (mismatch.kind != Mismatch::Kind::none && !series.warnings().empty())
    mismatch.text += "; " + series.warnings().back();
  if (mismatch.kind == Mismatch::Kind::foreign) mismatch.text += case_difference(series.stored_case(), *of_checkpoint_);
  return require_agreement(mismatch, start);
}

void SeriesFiles::go_back(const Start& start) {
  run_on_root(run_.simulation.comm.world(), [&] {
    for (std::size_t n = 0; n < series_.size(); ++n) {
      series_[n].go_back();
      for (const std::string& warning : series_[n].warnings()) run_.log.line("warning: " + warning);
      last_[n] = last_of(n);
    }
    if (start.step > 0) remove_later_samples(start.step);
  });
}

/// On rank 0: of series that the case has no more, samples of later steps belong to an abandoned branch of the run.
void SeriesFiles::remove_later_samples(std::int64_t step) const {
  std::error_code ignored;
  for (const std::string& name : io::numbered_prefixes(io::probe_parts_folder(run_.path), ignored)) {
    if (!is_in_case(name)) io::ProbeSeries(run_.path, name, step).go_back();
  }
}

bool SeriesFiles::is_in_case(const std::string& name) const {
  return std::ranges::any_of(descriptions_, [&](const io::ProbeDescription& series) { return series.name == name; });
}

LastEntry SeriesFiles::last_of(std::size_t n) const {
  return {series_[n].last_step(), series_[n].hash_at(series_[n].last_step())};
}

void SeriesFiles::save(io::CheckpointWriter& checkpoint) const {
  if (descriptions_.empty()) return;
  io::Values values;
  for (std::size_t n = 0; n < descriptions_.size(); ++n) {
    const std::string& name = descriptions_[n].name;
    last_[n].save(values, name, name + companion_names::hash_suffix);
  }
  checkpoint.write_values(group_, values);
}

void SeriesFiles::restore(const io::CheckpointReader& checkpoint) {
  const std::map<std::string, LastEntry> entries = last_entries_of(checkpoint, group_);
  of_checkpoint_ = case_of(checkpoint);
  for (std::size_t n = 0; n < descriptions_.size(); ++n) {
    const auto stored = entries.find(descriptions_[n].name);
    last_[n] = stored != entries.end() ? stored->second : LastEntry{};
  }
}

void SeriesFiles::append(std::size_t number, const io::ProbeSamples& samples) {
  series_[number].append(samples);
  last_[number] = last_of(number);
}

}  // namespace sluice
