#include "io/files/stored_blocks.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string_view>

#include "io/case/numbers.hpp"
#include "io/files/block_journal.hpp"
#include "io/files/field_hash.hpp"
#include "io/files/hashed_array.hpp"

namespace sluice::io {

namespace {

[[noreturn]] void fail_of_length(const h5::File& file, const std::string& path) {
  throw Error(ExitCode::restart, fmt::format("{}: {} has another length than /samples", file.path(), path));
}

std::vector<StatisticsBlock> read_columns(const h5::File& file) {
  std::vector<StatisticsBlock> blocks;
  for_each_column([&]<typename T>(const std::string& path, T StatisticsBlock::*member, const char* /*long_name*/) {
    if (path == "/parameter_set") return;
    const std::vector<T> column = read_array<T>(file, path);
    if (path == "/samples") blocks.resize(column.size());
    if (blocks.size() != column.size()) fail_of_length(file, path);
    for (std::size_t n = 0; n < column.size(); ++n) blocks[n].*member = column[n];
  });
  return blocks;
}

}  // namespace

StoredBlocks read_stored_blocks(const std::string& path, Sums sums) {
  const StoredJournal journal(path);
  const h5::File file = h5::File::open(path, ExitCode::restart);
  StoredBlocks stored{.profiles = {}, .blocks = read_columns(file)};
  std::vector<std::size_t> lengths;
  for (const std::string& name : file.group("/").datasets()) {
    const h5::Shape shape = file.dataset("/" + name).shape();
    if (shape.size() < 2) continue;
    if (shape[0] != std::ssize(stored.blocks)) fail_of_length(file, "/" + name);
    std::size_t length = 1;
    for (std::size_t axis = 1; axis < shape.size(); ++axis) length *= static_cast<std::size_t>(shape[axis]);
    lengths.push_back(length);
    stored.profiles.push_back({name, "", "1", ProfileAxis::z_center});
    if (sums == Sums::skip) continue;
    const std::vector<double> rows = read_array<double>(file, "/" + name);
    auto row = rows.begin();
    for (StatisticsBlock& block : stored.blocks) {
      const auto end = row + static_cast<std::ptrdiff_t>(length);
      block.sums.emplace_back(row, end);
      row = end;
    }
  }
  const RecordLayout layout(stored.profiles, lengths);
  stored.cut_off = journal.is_cut_off(stored.blocks.size(), layout);
  std::vector<StatisticsBlock> newest = journal.blocks(stored.blocks.size(), layout);
  stored.in_journal = newest.size();
  for (StatisticsBlock& block : newest) {
    if (sums == Sums::skip) block.sums.clear();
    stored.blocks.push_back(std::move(block));
  }
  require_possible_samples(path, stored.blocks);
  return stored;
}

void require_possible_samples(const std::string& path, const std::vector<StatisticsBlock>& blocks) {
  constexpr std::int64_t most = 1'000'000'000'000;
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    const std::int64_t samples = blocks[n].samples;
    if (samples < 0 || samples > most)
      throw Error(
          ExitCode::restart,
          fmt::format("{}: the file is damaged: block {} has {} samples, more than a run can take or fewer than "
                      "0; put an intact copy of the file back",
                      path, n, samples));
  }
}

std::int64_t hash_of(const StatisticsBlock& block, const std::vector<ProfileInfo>& profiles) {
  const std::array<double, 3> numbers{block.time_begin, block.time_end, block.forcing};
  std::uint64_t hash = byte_hash(static_cast<std::uint64_t>(block.step_end), numbers.data(), sizeof(numbers));
  hash = byte_hash(hash, &block.samples, sizeof(block.samples));
  for (std::size_t n = 0; n < profiles.size(); ++n) {  // the sum does not depend on their order
    const std::uint64_t name = byte_hash(0, profiles[n].name.data(), profiles[n].name.size());
    hash += byte_hash(name, block.sums[n].data(), block.sums[n].size() * sizeof(double));
  }
  return static_cast<std::int64_t>(hash);
}

void verify_statistics(const h5::File& file) {
  check_root(file, format::statistics);
  for (const char* group : {"/", "/grid"}) {
    for (const std::string& name : file.group(group).datasets()) {
      const std::string path = std::string(group) == "/" ? "/" + name : "/grid/" + name;
      if (file.dataset(path).is_integer()) {
        read_array<std::int64_t>(file, path);
      } else {
        read_array<double>(file, path);
      }
    }
  }
}

std::vector<std::string> statistics_names() {
  std::vector<std::string> names{"grid",  "block", "z",           "z_face",      "kx",  "ky",
                                 "phase", "bin",   "joint_bin_1", "joint_bin_2", "wall"};
  for_each_column([&]<typename T>(const std::string& path, T /*member*/, const char* /*long_name*/) {
    names.push_back(path.substr(1));
  });
  return names;
}

bool names_parameter_set(const std::string& name) {
  constexpr std::string_view begin = "parameter_set_";
  return name.starts_with(begin) && parse_digits(std::string_view(name).substr(begin.size())).has_value();
}

}  // namespace sluice::io
