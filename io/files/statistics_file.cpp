#include "io/files/statistics_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "io/case/case_file.hpp"
#include "io/files/array_dataset.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/stored_blocks.hpp"

namespace sluice::io {

namespace {

/// 0, 1, ... count - 1
std::vector<std::int64_t> numbers_to(std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Whether to rewrite the whole file for the newest block instead of appending the block to the journal: yes while the
/// file is small, as most files of spectra are, and once the blocks that are not yet in it exceed an eighth of those in
/// it. So on average a block is written about 10 times, however many there are: once to the journal and 9 times with
/// the file.
bool is_due(std::size_t newer, std::size_t in_file) {
  constexpr std::size_t blocks_of_small_file = 32;
  constexpr std::size_t growth_divisor = 8;
  return in_file < blocks_of_small_file || newer * growth_divisor > in_file;
}

std::string set_group(std::size_t number) {
  return "/parameter_set_" + std::to_string(number);
}

/// A set of parameters as this version stores it: an earlier one did not have all keys, and wrote 1e-05 for 1.0e-05.
Values up_to_date(const Values& set) {
  Values now = set;
  for (const auto& [path, text] : sampled_key_defaults()) {
    if (!set.has(path)) now.set(path, text);
  }
  for (const auto& [path, value] : set.all()) {
    if (const auto* text = std::get_if<std::string>(&value)) now.set(path, with_points(*text));
  }
  return now;
}

/// Whether two sets of parameters describe the same flow, whatever version of Sluice stored them.
bool same_flow(const Values& a, const Values& b) {
  return up_to_date(a) == up_to_date(b);
}

/// A coordinate of the grid, with a second name in the root.
template <typename T>
void write_grid_scale(h5::File& file, const std::string& name, const std::vector<T>& line,
                      const std::string& long_name) {
  write_scale(file, "/grid/" + name, line, long_name);
  file.link("/grid/" + name, "/" + name);
}

h5::Shape shape_of(const auto& axes) {
  h5::Shape shape;
  for (const auto& axis : axes) shape.push_back(axis.length);
  return shape;
}

/// Refuses a journal whose file is missing: a new file would make the blocks in the journal unusable.
void require_no_journal(const std::string& path) {
  const std::string journal = journal_path(path);
  if (::access(journal.c_str(), F_OK) != 0) return;
  throw Error(ExitCode::restart,
              fmt::format("{}: this journal has the newest blocks of {}, which is missing; put that file back, or move "
                          "the journal away to begin new statistics",
                          journal, path));
}

}  // namespace

StatisticsFile::StatisticsFile(StatisticsSpec spec, bool resume) : spec_(std::move(spec)) {
  if (!resume) return;
  if (::access(spec_.path.c_str(), F_OK) != 0) {
    require_no_journal(spec_.path);
    return;
  }
  const StoredJournal journal(spec_.path);
  try {
    load();
  } catch (const Error& error) {
    throw Error(error.code(),
                std::string(error.what()) + "; move the file and its journal away to begin new statistics");
  }
  for (StatisticsBlock& block : journal.blocks(blocks_.size(), record_layout())) {
    block.parameter_set = std::ssize(parameter_sets_) - 1;
    blocks_.push_back(std::move(block));
  }
}

std::vector<StatisticsFile::Axis> StatisticsFile::axes_of(const ProfileInfo& profile) const {
  std::vector<Axis> axes{{"/block", blocks_.size()}};
  const auto add = [&](const std::string& name, const std::vector<double>& line) {
    axes.push_back({"/grid/" + name, line.size()});
  };
  const ChosenHeights& centers = spec_.chosen_centers;
  const ChosenHeights& faces = spec_.chosen_faces;
  switch (profile.axis) {
    case ProfileAxis::z_center:
      add("z", spec_.z);
      break;
    case ProfileAxis::z_face:
      add("z_face", spec_.z_face);
      break;
    case ProfileAxis::chosen_center:
      add(centers.name, centers.z);
      break;
    case ProfileAxis::chosen_face:
      add(faces.name, faces.z);
      break;
    case ProfileAxis::wall:
      axes.push_back({"/grid/wall", 2});
      break;
    case ProfileAxis::none:
      break;
  }
  if (profile.modes == ModeAxis::ky || profile.modes == ModeAxis::kxky) add("ky", spec_.ky);
  if (profile.modes == ModeAxis::kx || profile.modes == ModeAxis::kxky) add("kx", spec_.kx);
  if (profile.modes == ModeAxis::phases) add("phase", spec_.phase);
  if (profile.modes == ModeAxis::bins) axes.push_back({"/grid/bin", histogram_bins});
  if (profile.modes == ModeAxis::bin_pairs) {
    axes.push_back({"/grid/joint_bin_1", joint_bins});
    axes.push_back({"/grid/joint_bin_2", joint_bins});
  }
  return axes;
}

std::size_t StatisticsFile::length(const ProfileInfo& profile) const {
  const std::vector<Axis> axes = axes_of(profile);
  std::size_t length = 1;
  for (std::size_t n = 1; n < axes.size(); ++n) length *= axes[n].length;
  return length;
}

void StatisticsFile::append(StatisticsBlock block, const Values& parameters) {
  SLUICE_REQUIRE(block.sums.size() == spec_.profiles.size(),
                 "a block of statistics has another number of profiles than the file");
  for (std::size_t s = 0; s < block.sums.size(); ++s) {
    SLUICE_REQUIRE(block.sums[s].size() == length(spec_.profiles[s]),
                   "the profile of " + spec_.profiles[s].name + " has a wrong length");
  }
  if (parameter_sets_.empty() || !same_flow(parameter_sets_.back(), parameters)) parameter_sets_.push_back(parameters);
  block.parameter_set = std::ssize(parameter_sets_) - 1;
  blocks_.push_back(std::move(block));
  write_newest();
}

RecordLayout StatisticsFile::record_layout() const {
  std::vector<std::size_t> lengths;
  for (const ProfileInfo& profile : spec_.profiles) lengths.push_back(length(profile));
  return {spec_.profiles, std::move(lengths)};
}

double StatisticsFile::written_blocks(double blocks) {
  constexpr double max_counted = 1e6;  // beyond that, in proportion
  double written = 0;
  std::size_t in_file = 0;
  const double counted = std::min(blocks, max_counted);
  for (std::size_t n = 1; static_cast<double>(n) <= counted; ++n) {
    const bool rewritten = is_due(n - in_file, in_file);
    written += rewritten ? static_cast<double>(n) : 1;
    if (rewritten) in_file = n;
  }
  return counted > 0 ? written * (blocks / counted) : 0;
}

void StatisticsFile::write_newest() {
  const std::size_t newer = blocks_.size() - in_file_;
  const bool all_others_written = newer == (journal_ ? journal_->blocks() : 0) + 1;  // not after an error
  if (!all_others_written || is_due(newer, in_file_) ||
      blocks_.back().parameter_set != blocks_[in_file_ - 1].parameter_set) {
    rewrite();
    return;
  }
  require_in_place();
  try {
    if (!journal_) journal_ = std::make_unique<BlockJournal>(spec_.path, in_file_, record_layout());
    journal_->append(blocks_.back());
  } catch (...) {
    journal_.reset();
    throw;
  }
}

void StatisticsFile::complete() {
  if (blocks_.size() > in_file_) rewrite();
}

void StatisticsFile::truncate_after(std::int64_t step, double time) {
  std::erase_if(blocks_, [&](const StatisticsBlock& b) { return b.step_end > step || b.time_begin >= time; });
  parameter_sets_.resize(blocks_.empty() ? 0 : static_cast<std::size_t>(blocks_.back().parameter_set) + 1);
  rewrite();
}

std::span<const StatisticsBlock> StatisticsFile::latest_blocks(const Values& parameters) const {
  if (parameter_sets_.empty() || !same_flow(parameter_sets_.back(), parameters)) return {};
  return {std::ranges::find(blocks_, std::ssize(parameter_sets_) - 1, &StatisticsBlock::parameter_set), blocks_.end()};
}

bool StatisticsFile::write_if_removed() {
  if (!written_) return false;
  const auto is_removed = [](const auto& file) { return file && file->place() == PosixFile::Place::removed; };
  const bool removed = is_removed(written_) || is_removed(journal_);
  if (removed) {
    rewrite();
  } else {
    require_in_place();
  }
  return removed;
}

void StatisticsFile::require_in_place() const {
  written_->require_in_place();
  if (journal_) journal_->require_in_place();
}

void StatisticsFile::rewrite() {
  if (written_ && written_->place() != PosixFile::Place::removed) written_->require_in_place();
  const auto build = [this](h5::File& file) {
    Values root = root_values(format::statistics, spec_.provenance);
    for (const auto& [name, value] : spec_.attributes.all()) root.set(name, value);
    write_values(file, "/", root);
    file.create_group("/grid");
    write_grid_scale(file, "z", spec_.z, "wall-normal coordinate of cell centres / h");
    write_grid_scale(file, "z_face", spec_.z_face, "wall-normal coordinate of all faces, walls included / h");
    if (!spec_.kx.empty()) write_grid_scale(file, "kx", spec_.kx, "streamwise wavenumber h");
    if (!spec_.ky.empty()) write_grid_scale(file, "ky", spec_.ky, "spanwise wavenumber h");
    if (!spec_.phase.empty())
      write_grid_scale(file, "phase", spec_.phase, "phase in the middle of the bin, in periods from time 0");
    const ChosenHeights& centers = spec_.chosen_centers;
    const ChosenHeights& faces = spec_.chosen_faces;
    if (!centers.z.empty())
      write_grid_scale(file, centers.name, centers.z, "wall-normal coordinate of chosen cell centres / h");
    if (!faces.z.empty()) write_grid_scale(file, faces.name, faces.z, "wall-normal coordinate of chosen faces / h");
    const auto has_bins = [](const ProfileInfo& profile) { return profile.modes == ModeAxis::bins; };
    if (std::ranges::any_of(spec_.profiles, has_bins)) {
      write_grid_scale(file, "bin", numbers_to(histogram_bins), "number of the bin");
      write_grid_scale(file, "joint_bin_1", numbers_to(joint_bins), "number of the bin of the first quantity");
      write_grid_scale(file, "joint_bin_2", numbers_to(joint_bins), "number of the bin of the second quantity");
      write_grid_scale(file, "wall", numbers_to(2), "the wall: 0 at the bottom, 1 at the top");
    }
    write_profiles(file);
  };
  h5::write_file(spec_.path, build, verify_statistics);
  written_ = std::make_unique<PosixFile>(spec_.path, PosixFile::Mode::existing);
  in_file_ = blocks_.size();
  journal_.reset();
  remove_file(journal_path(spec_.path));
}

void StatisticsFile::write_profiles(h5::File& file) const {
  const std::int64_t count = std::ssize(blocks_);
  write_scale(file, "/block", numbers_to(blocks_.size()), "number of the block of samples");
  DimensionScales scales;
  for_each_column([&]<typename T>(const char* path, T StatisticsBlock::*member, const char* long_name) {
    std::vector<T> column;
    for (const StatisticsBlock& block : blocks_) column.push_back(block.*member);
    write_array(file, path, {count}, column, long_name, "1");
    scales.attach(path, {"/block"});
  });
  for (std::size_t n = 0; n < parameter_sets_.size(); ++n) write_values(file, set_group(n), parameter_sets_[n]);
  for (std::size_t s = 0; s < spec_.profiles.size(); ++s) {
    const ProfileInfo& profile = spec_.profiles[s];
    std::vector<double> rows;
    for (const StatisticsBlock& block : blocks_) rows.insert(rows.end(), block.sums[s].begin(), block.sums[s].end());
    const std::vector<Axis> axes = axes_of(profile);
    write_array(file, "/" + profile.name, shape_of(axes), rows, profile.long_name, profile.units);
    std::vector<std::string> names;
    for (const Axis& axis : axes) names.push_back(axis.scale);
    scales.attach("/" + profile.name, names);
  }
  scales.write(file);
}

/// The sizes along x and y are attributes, because the file has no coordinates of these axes.
void StatisticsFile::check_grid(const h5::File& file) const {
  const Values root = check_root(file, format::statistics);
  const auto fail = [&](const std::string& what) {
    throw Error(ExitCode::restart, spec_.path + ": holds statistics on another grid: " + what);
  };
  for (const char* name : {"nx", "ny"}) {
    if (root.has(name) && spec_.attributes.has(name) && root.integer(name) != spec_.attributes.integer(name))
      fail(fmt::format("{} is {}, not {}", name, root.integer(name), spec_.attributes.integer(name)));
  }
  for (const char* name : {"length_x", "length_y"}) {
    if (root.has(name) && spec_.attributes.has(name) && root.real(name) != spec_.attributes.real(name))
      fail(fmt::format("{} is {}, not {}", name, root.real(name), spec_.attributes.real(name)));
  }
  const std::vector<double> z = read_array<double>(file, "/grid/z");
  if (z.size() != spec_.z.size()) fail(fmt::format("nz is {}, not {}", z.size(), spec_.z.size()));
  if (z != spec_.z || read_array<double>(file, "/grid/z_face") != spec_.z_face) fail("the spacings in z differ");
}

void StatisticsFile::load() {
  const h5::File file = h5::File::open(spec_.path, ExitCode::restart);
  check_grid(file);
  stored_case_ = file.group("/").text("resolved_case");
  const bool has_sets = file.has(parameter_set);
  blocks_ = read_columns(file, has_sets);
  require_possible_samples(spec_.path, blocks_);
  while (file.has(set_group(parameter_sets_.size())))
    parameter_sets_.push_back(read_values(file, set_group(parameter_sets_.size())));
  if (!has_sets) parameter_sets_.push_back(spec_.unrecorded_parameters);
  for (const StatisticsBlock& block : blocks_) {
    if (block.parameter_set < 0 || block.parameter_set >= std::ssize(parameter_sets_)) {
      throw Error(ExitCode::restart, fmt::format("{}: a block refers to parameter set {}, but the number of sets is {}",
                                                 spec_.path, block.parameter_set, parameter_sets_.size()));
    }
  }
  compare_heights(file);
  if (spec_.profiles.empty() && file.has("/grid/phase")) {
    spec_.phase = read_array<double>(file, "/grid/phase");
    spec_.attributes.set("phase_period", check_root(file, format::statistics).real("phase_period"));
  }
  compare_profiles(file);
  read_profiles(file);
}

void StatisticsFile::compare_heights(const h5::File& file) {
  for (ChosenHeights* heights : {&spec_.chosen_centers, &spec_.chosen_faces}) {
    const std::string path = "/grid/" + heights->name;
    const bool has_some = !heights->name.empty() && file.has(path);
    const std::vector<double> stored = has_some ? read_array<double>(file, path) : std::vector<double>();
    if (spec_.profiles.empty()) heights->z = stored;
    if (stored == heights->z) continue;
    const auto text = [](const std::vector<double>& z) {
      return z.empty() ? std::string("no heights") : fmt::format("z = {:.6g}", fmt::join(z, ", "));
    };
    throw Error(ExitCode::restart, fmt::format("{}: was sampled at {}, not at {}: `heights` cannot change during a run",
                                               spec_.path, text(stored), text(heights->z)));
  }
}

void StatisticsFile::compare_profiles(const h5::File& file) {
  const bool take = spec_.profiles.empty();
  for (const std::string& name : file.group("/").datasets()) {
    const h5::Dataset dataset = file.dataset("/" + name);
    const h5::Shape shape = dataset.shape();
    if (shape.size() < 2) continue;
    if (take) {
      spec_.profiles.push_back(stored_profile(dataset, name));
    } else if (std::ranges::find(spec_.profiles, name, &ProfileInfo::name) == spec_.profiles.end()) {
      throw Error(ExitCode::restart,
                  fmt::format("{}: holds profiles of {}, which the case does not ask for and which would be lost; "
                              "output.statistics.budgets and .phases say whether those for budgets, and those by "
                              "phase, are taken",
                              spec_.path, name));
    }
  }
}

ProfileInfo StatisticsFile::stored_profile(const h5::Dataset& dataset, const std::string& name) const {
  ProfileInfo profile{name, dataset.text("long_name"), dataset.text("units")};
  const std::vector<std::string> axes = dimension_labels(dataset);
  const auto has = [&](const std::string& axis) { return std::ranges::find(axes, axis) != axes.end(); };
  if (has("z_face")) profile.axis = ProfileAxis::z_face;
  if (has(spec_.chosen_centers.name)) profile.axis = ProfileAxis::chosen_center;
  if (has(spec_.chosen_faces.name)) profile.axis = ProfileAxis::chosen_face;
  if (has("wall")) profile.axis = ProfileAxis::wall;
  if (has("phase")) {
    profile.modes = ModeAxis::phases;
    profile.phases = std::ssize(spec_.phase);
    if (!has("z") && !has("z_face")) profile.axis = ProfileAxis::none;
  }
  if (has("bin")) profile.modes = ModeAxis::bins;
  if (has("joint_bin_1")) profile.modes = ModeAxis::bin_pairs;
  if (has("kx"))
    profile.modes = has("ky") ? ModeAxis::kxky : ModeAxis::kx;
  else if (has("ky"))
    profile.modes = ModeAxis::ky;
  return profile;
}

void StatisticsFile::read_profiles(const h5::File& file) {
  for (const ProfileInfo& profile : spec_.profiles) {
    if (!file.has("/" + profile.name) || file.dataset("/" + profile.name).shape() != shape_of(axes_of(profile))) {
      throw Error(ExitCode::restart,
                  spec_.path + ": holds no profiles of " + profile.name + " as this version of Sluice takes them");
    }
    read_sums(file, profile.name, blocks_);
  }
}

}  // namespace sluice::io
