#include "src/outputs/directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/support/error.hpp"
#include "io/case/case_file.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/describe.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/stored_blocks.hpp"
#include "io/files/time_series.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/run_files.hpp"
#include "src/outputs/verifier.hpp"
#include "src/run/output_lock.hpp"

namespace sluice {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_listed = 10;  // problems of a file

}  // namespace

DirectoryReport Verifier::run() {
  require_results();
  report_.holder = lock_holder(report_.directory);
  // Checkpoints first: if a run is going on, the other files only grow meanwhile.
  verify_checkpoints();
  verify_resolved_case();
  verify_record();
  verify_time_series();
  for (const SampledOutput& output : sampled_outputs) verify_sampled(output);
  verify_all_series("slices", &Companions::slices);
  verify_all_series("probes", &Companions::probes);
  verify_fields();
  list_leftovers();
  for (const IntactCheckpoint& checkpoint : checkpoints_) {
    if (!checkpoint.has_all) continue;
    report_.checkpoint = checkpoint.path;
    report_.step = checkpoint.step;
    report_.time = checkpoint.time;
  }
  return std::move(report_);
}

bool Verifier::exists(const std::string& name) const {
  std::error_code ignored;
  return fs::symlink_status(path(name), ignored).type() > fs::file_type::not_found;
}

void Verifier::require_results() const {
  std::error_code ignored;
  if (!fs::is_directory(report_.directory, ignored))
    throw Error(ExitCode::usage, report_.directory + ": there is no such directory");
  sluice::require_results(report_.directory);
}

void Verifier::guarded(FileReport& file, const std::function<void()>& part) {
  try {
    part();
  } catch (const std::exception& error) {
    add_problem(file, error.what());
  }
}

void Verifier::add_problem(FileReport& file, const std::string& problem) {
  if (file.problems.size() < max_listed) file.problems.push_back(problem);
}

bool Verifier::is_intact(FileReport& report, const std::string& file) {
  const std::size_t before = report.problems.size();
  guarded(report, [&] {
    // The parts of slices and probes have their own turn.
    for (const std::string& problem : io::describe(file, io::Parts::skip).problems) add_problem(report, problem);
  });
  return report.problems.size() == before;
}

void Verifier::verify_checkpoints() {
  const std::string folder = path("checkpoints");
  std::error_code error;
  for (const std::int64_t step : io::numbered_files(folder, io::checkpoint_prefix, error)) {
    const std::string file = io::checkpoint_path(folder, step);
    FileReport report{"checkpoints/" + io::numbered_name(io::checkpoint_prefix, step), "checkpoint", {}, {}};
    if (is_intact(report, file)) guarded(report, [&] { compare_checkpoint(report, file, step); });
    std::error_code ignored;
    const bool pruned = running() && !fs::exists(file, ignored);
    if (!pruned) report_.files.push_back(std::move(report));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    report_.files.push_back({"checkpoints", "", {folder + ": cannot be listed: " + error.message()}, {}});
}

void Verifier::compare_checkpoint(FileReport& report, const std::string& file, std::int64_t step) {
  const io::CheckpointReader reader(MPI_COMM_SELF, file);
  IntactCheckpoint checkpoint{
      file,          reader.step(),   reader.time(),        reader.fields().type == io::h5::Type::float32,
      reader.grid(), case_of(reader), companions_of(reader)};
  report.contents = fmt::format("checkpoint of step {}, time {:g}", checkpoint.step, checkpoint.time);
  if (checkpoint.step != step)
    add_problem(report, fmt::format("{}: its name does not fit its step, which is {}", file, checkpoint.step));
  if (!checkpoints_.empty()) {
    const IntactCheckpoint& other = checkpoints_.back();
    if (!(checkpoint.grid == other.grid))
      add_problem(report, fmt::format("{}: has another grid than {}", file, other.path));
    if (checkpoint.single != other.single)
      report.notes.push_back(fmt::format("has another precision than {}", other.path));
    for (const std::string& change : io::physical_changes(other.settings, checkpoint.settings))
      report.notes.push_back(fmt::format("differs from {} in its case: {}", other.path, change));
  }
  if (report.problems.empty()) checkpoints_.push_back(std::move(checkpoint));
}

void Verifier::verify_resolved_case() {
  FileReport report{"resolved.yaml", "the case", {}, {}};
  if (!exists(report.name)) {
    add_problem(report, path(report.name) + ": the file is missing");
  } else {
    guarded(report, [&] {
      const io::Case settings = io::parse_stored_case(io::read_text(path(report.name)), path(report.name));
      if (checkpoints_.empty()) return;
      for (const std::string& change : io::physical_changes(checkpoints_.back().settings, settings))
        report.notes.push_back(fmt::format("differs from {}: {}", checkpoints_.back().path, change));
    });
  }
  report_.files.push_back(std::move(report));
}

void Verifier::verify_record() {
  FileReport report{"run.json", "no run has ended yet", {}, {}};
  if (!exists(report.name)) return;
  guarded(report, [&] {
    const auto record = nlohmann::json::parse(io::read_text(path(report.name)), nullptr, false);
    if (!record.is_object() || !record.contains("runs") || !record["runs"].is_array() || !record.contains("step") ||
        !record["step"].is_number_integer()) {
      add_problem(report, path(report.name) + ": the file is damaged: it is not the JSON that a run writes");
      return;
    }
    report.contents =
        fmt::format("{} ended run(s), the last at step {}", record["runs"].size(), record["step"].get<std::int64_t>());
  });
  report_.files.push_back(std::move(report));
}

void Verifier::verify_time_series() {
  FileReport report{"timeseries.csv", "", {}, {}};
  io::StoredTimeSeries stored;
  const bool there = exists(report.name);
  if (there) guarded(report, [&] { stored = io::read_time_series(path(report.name)); });
  const bool readable = report.problems.empty();
  for (const io::StoredRow& row : stored.rows) {
    if (!row.problem.empty())
      add_problem(report,
                  fmt::format("{}: the row in line {} is damaged: {}", path(report.name), row.line, row.problem));
  }
  if (const io::StoredRow* last = stored.last(std::numeric_limits<std::int64_t>::max()))
    report.contents = fmt::format("{} rows up to step {}", stored.rows.size(), last->step);
  if (stored.incomplete_row) {
    report.notes.emplace_back(running() ? "a row is being written"
                                        : "ends within a row, as after a kill; a restart removes that row");
  }
  const auto find = [&](const IntactCheckpoint& checkpoint, std::int64_t expected) {
    FoundEntry found{there, 0, false, std::nullopt};
    if (const io::StoredRow* last = stored.last(checkpoint.step)) found.last = last->step;
    if (const io::StoredRow* row = stored.find(expected)) found = {there, found.last, true, row->hash};
    return found;
  };
  const auto expected = [](const IntactCheckpoint& checkpoint) { return checkpoint.expected.time_series; };
  readable ? compare_with_checkpoints(report, expected, find) : rule_out(expected);
  add(std::move(report), there);
}

void Verifier::verify_sampled(const SampledOutput& output) {
  FileReport report{output.file, "", {}, {}};
  std::vector<std::pair<std::int64_t, std::int64_t>> blocks;
  const bool there = exists(report.name);
  const bool readable = !there || is_intact(report, path(report.name));
  if (there && readable) {
    guarded(report, [&] {
      const io::StoredBlocks stored = io::read_stored_blocks(path(report.name), io::Sums::read);
      for (const StatisticsBlock& block : stored.blocks)
        blocks.emplace_back(block.step_end, io::hash_of(block, stored.profiles));
      if (stored.cut_off && !running())
        report.notes.push_back(io::journal_path(report.name) +
                               " ends within a block, as a kill leaves it; a restart removes that");
      report.contents = fmt::format("{} blocks", blocks.size());
      if (!blocks.empty()) report.contents += fmt::format(" up to step {}", blocks.back().first);
      if (!std::ranges::is_sorted(blocks, {}, [](const auto& block) { return block.first; }))
        add_problem(report, path(report.name) + ": its blocks are not in order of step");
      if (!checkpoints_.empty()) compare_statistics(report, io::h5::File::open(path(report.name), ExitCode::restart));
    });
  }
  const auto find = [&](const IntactCheckpoint& checkpoint, std::int64_t expected) {
    FoundEntry found{there, 0, false, std::nullopt};
    for (const auto& [step, hash] : blocks) {
      if (step <= checkpoint.step) found.last = step;
      if (step == expected && !found.has_expected) found = {there, found.last, true, hash};
    }
    return found;
  };
  const auto expected = [&](const IntactCheckpoint& checkpoint) { return checkpoint.expected.*output.last_entry; };
  readable ? compare_with_checkpoints(report, expected, find) : rule_out(expected);
  add(std::move(report), there);
}

void Verifier::compare_statistics(FileReport& report, const io::h5::File& file) const {
  const IntactCheckpoint& checkpoint = checkpoints_.back();
  const io::Values root = io::check_root(file, io::format::statistics);
  const io::Extents shape = checkpoint.grid.shape();
  if (root.integer("nx") != shape[2] || root.integer("ny") != shape[1] ||
      file.dataset("/grid/z").values<double>() != checkpoint.grid.center[2]) {
    add_problem(report, fmt::format("{}: has another grid than {}", file.path(), checkpoint.path));
  }
  const std::string difference = case_difference(root.text("resolved_case"), checkpoint.settings);
  if (!difference.empty()) report.notes.push_back(checkpoint.path + difference);
}

void Verifier::compare_with_checkpoints(
    FileReport& report, const std::function<std::optional<LastEntry>(const IntactCheckpoint&)>& expected,
    const std::function<FoundEntry(const IntactCheckpoint&, std::int64_t)>& find,
    const std::function<std::string(std::int64_t)>& name) {
  std::string newest;
  for (IntactCheckpoint& checkpoint : checkpoints_) {
    const std::optional<LastEntry> entry = expected(checkpoint);
    if (!entry) continue;
    const std::string file = name ? name(entry->step) : path(report.name);
    const Mismatch mismatch = compare(file, find(checkpoint, entry->step), *entry, checkpoint.path);
    if (mismatch.kind == Mismatch::Kind::none) continue;
    checkpoint.has_all = false;
    newest = mismatch.text;
  }
  if (!newest.empty()) add_problem(report, newest);
}

void Verifier::rule_out(const std::function<std::optional<LastEntry>(const IntactCheckpoint&)>& expected) {
  for (IntactCheckpoint& checkpoint : checkpoints_) checkpoint.has_all = checkpoint.has_all && !expected(checkpoint);
}

void Verifier::add(FileReport&& report, bool there) {
  if (there || !report.problems.empty()) report_.files.push_back(std::move(report));
}

void Verifier::list_leftovers() {
  if (running()) return;  // they may be in use
  for (const char* folder : {"", "checkpoints", "slices", "slices/parts", "probes", "probes/parts", "fields"}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(path(folder), ignored)) {
      const std::string name = (fs::path(folder) / entry.path().filename()).string();
      if (entry.path().extension() == io::unfinished_suffix)
        report_.files.push_back({name, "unfinished file of a killed run", {}, {}});
      if (entry.path().extension() == io::skipped_suffix)
        report_.files.push_back({name, "checkpoint that could not be read and was passed over", {}, {}});
    }
  }
}

std::size_t DirectoryReport::problem_count() const {
  std::size_t count = 0;
  for (const FileReport& file : files) count += file.problems.size();
  return count;
}

DirectoryReport verify_directory(const std::string& directory) {
  return Verifier(directory).run();
}

}  // namespace sluice
