#include "src/outputs/series_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/files/field_writer.hpp"
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
      if (start.step > 0 && start.in_directory) {
        std::ranges::move(check(n, start), std::back_inserter(losses));
        std::ranges::move(check_every(n, start), std::back_inserter(losses));
      }
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
  const std::optional<std::string> left_out = series.warning_of_newest();
  if (left_out && mismatch.kind == Mismatch::Kind::lost)
    mismatch.text = fmt::format("{}; it reached step {} when the checkpoint {} was written", *left_out, last_[n].step,
                                start.checkpoint);
  if (mismatch.kind == Mismatch::Kind::foreign) mismatch.text += case_difference(series.stored_case(), *of_checkpoint_);
  return require_agreement(mismatch, start);
}

/// On rank 0. Labels of slices depend on their order in the case: one with another schedule may be another slice.
std::vector<std::string> SeriesFiles::check_every(std::size_t n, const Start& start) const {
  const io::ProbeDescription& description = descriptions_[n];
  const std::optional<double> stored = series_[n].stored_every();
  if (!stored || stored == description.every) return {};
  const std::string text =
      fmt::format("{}/{}.h5: the run has written it with every: {} so far, but the case asks for every: {}", run_.path,
                  description.name, *stored, description.every.value_or(0));
  if (start.allow_change) return {text};
  std::string remedy =
      ". Say --allow-change to go on in the same file; to begin a new one, first move it and its files in the folder "
      "parts away";
  if (description.slice)
    remedy += ". If another slice of this plane was removed from the case or moved in its list, put that back instead";
  throw Error(ExitCode::restart, text + remedy);
}

void SeriesFiles::go_back(const Start& start) {
  run_on_root(run_.simulation.comm.world(), [&] {
    for (std::size_t n = 0; n < series_.size(); ++n) {
      series_[n].go_back();
      log_warnings(series_[n]);
      last_[n] = last_of(n);
    }
    remove_later_samples(start.step);
  });
}

/// On rank 0: of series that the case has no more, samples of later steps belong to an abandoned branch of the run.
void SeriesFiles::remove_later_samples(std::int64_t step) const {
  std::error_code ignored;
  for (const std::string& name : io::numbered_prefixes(io::probe_parts_folder(run_.path), ignored)) {
    if (is_in_case(name) || !io::has_probe_parts(run_.path, name)) continue;
    io::ProbeSeries series(run_.path, name, step);
    series.go_back();
    log_warnings(series);
  }
}

/// On rank 0.
void SeriesFiles::log_warnings(const io::ProbeSeries& series) const {
  for (const std::string& warning : series.warnings())
    run_.log.line("warning: " + warning + "; the file is kept, and .left_out is appended to its name");
}

bool SeriesFiles::is_in_case(const std::string& name) const {
  return std::ranges::any_of(descriptions_, [&](const io::ProbeDescription& series) { return series.name == name; });
}

LastEntry SeriesFiles::last_of(std::size_t n) const {
  return {series_[n].last_step(), series_[n].hash_at(series_[n].last_step())};
}

void SeriesFiles::save(io::ValueGroups& checkpoint) const {
  if (descriptions_.empty()) return;
  io::Values values;
  for (std::size_t n = 0; n < descriptions_.size(); ++n) {
    const std::string& name = descriptions_[n].name;
    last_[n].save(values, name, name + companion_names::hash_suffix);
  }
  checkpoint.emplace_back(group_, std::move(values));
}

void SeriesFiles::restore(const io::CheckpointReader& checkpoint) {
  const std::map<std::string, LastEntry> entries = last_entries_of(checkpoint, group_);
  of_checkpoint_ = case_of(checkpoint);
  for (std::size_t n = 0; n < descriptions_.size(); ++n) {
    const auto stored = entries.find(descriptions_[n].name);
    last_[n] = stored != entries.end() ? stored->second : LastEntry{};
  }
}

void SeriesFiles::append(std::size_t number, const SeriesSamples& samples) {
  const MPI_Comm world = run_.simulation.comm.world();
  const io::ProbeDescription& description = descriptions_[number];
  io::ProbeSeries* series = rank_of(world) == 0 ? &series_[number] : nullptr;
  if (description.part_samples() == 1) {
    std::vector<io::ProbePiece> pieces;
    for (std::size_t n = 0; n < samples.blocks.size(); ++n)
      pieces.push_back({samples.blocks[n], samples.values[n].data()});
    io::ProbeSeries::append_on_all(world, series, description, samples.whole, pieces,
                                   run_.simulation.settings.output.writer);
  } else {
    run_on_root(world, [&] { series->append(samples.whole); });
  }
  run_on_root(world, [&] { last_[number] = last_of(number); });
}

void SeriesSamples::add_field(MPI_Comm comm, const Box3& box, const Box3& piece, std::vector<real> own) {
  const auto samples = static_cast<std::int64_t>(whole.size());
  whole.fields.push_back(io::gather_box(comm, box, piece, io::h5::type_of<real>, own.data(), samples));
  blocks.push_back({{box.extent(2), box.extent(1), box.extent(0)}, piece.empty() ? Box3{} : piece.relative_to(box.lo)});
  values.push_back(std::move(own));
}

}  // namespace sluice
