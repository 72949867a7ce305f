#include "io/files/stored_blocks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "io/case/numbers.hpp"
#include "io/files/array_dataset.hpp"
#include "io/files/hashes.hpp"

namespace sluice::io {

namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::size_t numbers = 5;  // of a block beside its sums
constexpr std::uint64_t version = 1;

struct Header {
  std::uint64_t magic, version, file_hash, count, record_words, hash;
};
constexpr std::size_t header_words = sizeof(Header) / sizeof(std::uint64_t);

std::uint64_t magic() {
  return std::bit_cast<std::uint64_t>(std::array<char, 8>{'S', 'l', 'u', 'i', 'c', 'e', 'J', 'L'});
}

std::uint64_t hash_of(const Header& header) {
  return byte_hash(0, &header, offsetof(Header, hash));
}

std::uint64_t hash_of(std::uint64_t before, const std::uint64_t* record, std::size_t words) {
  return byte_hash(before, record, words * sizeof(std::uint64_t));
}

std::string_view bytes_of(const void* data, std::size_t bytes) {
  return {static_cast<const char*>(data), bytes};
}

/// The bytes of a file; none if there is no such file.
std::string bytes_if_there(const std::string& path) {
  const auto is_there = [&] { return ::access(path.c_str(), F_OK) == 0; };
  if (!is_there()) return {};
  try {
    return read_text(path, ExitCode::restart);
  } catch (const Error&) {
    if (is_there()) throw;  // else a run has just removed it
    return {};
  }
}

}  // namespace

std::string journal_path(const std::string& file) {
  return file + ".journal";
}

RecordLayout::RecordLayout(const std::vector<ProfileInfo>& profiles, std::vector<std::size_t> lengths)
    : order_(profiles.size()),
      lengths_(std::move(lengths)),
      words_(std::accumulate(lengths_.begin(), lengths_.end(), numbers)) {
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::sort(order_, {}, [&](std::size_t n) { return profiles[n].name; });
}

Words RecordLayout::record(const StatisticsBlock& block) const {
  const auto bits = [](auto value) { return std::bit_cast<std::uint64_t>(value); };
  Words record{bits(block.samples), bits(block.time_begin), bits(block.time_end), bits(block.step_end),
               bits(block.forcing)};
  record.reserve(words_ + 1);
  for (const std::size_t n : order_) std::ranges::transform(block.sums[n], std::back_inserter(record), bits);
  return record;
}

StatisticsBlock RecordLayout::block(const std::uint64_t* record) const {
  StatisticsBlock block;
  const auto take = [&](auto& value) { std::memcpy(&value, record++, sizeof(value)); };
  take(block.samples);
  take(block.time_begin);
  take(block.time_end);
  take(block.step_end);
  take(block.forcing);
  block.sums.resize(order_.size());
  for (const std::size_t n : order_) {
    block.sums[n].resize(lengths_[n]);
    for (double& value : block.sums[n]) take(value);
  }
  return block;
}

BlockJournal::BlockJournal(const std::string& file, std::size_t count, RecordLayout layout)
    : layout_(std::move(layout)), file_(journal_path(file), PosixFile::Mode::create) {
  const std::optional<std::uint64_t> file_hash = stored_metadata_hash(file);
  if (!file_hash) throw Error(ExitCode::io, file + ": has lost the hash of its metadata while the run was writing it");
  Header header{magic(), version, *file_hash, count, layout_.words(), 0};
  hash_ = header.hash = hash_of(header);
  file_.write(bytes_of(&header, sizeof(header)));
  file_.sync();
  const std::string folder = std::filesystem::path(file).parent_path().string();
  sync_directory(folder.empty() ? "." : folder);
}

void BlockJournal::append(const StatisticsBlock& block) {
  Words record = layout_.record(block);
  hash_ = hash_of(hash_, record.data(), record.size());
  record.push_back(hash_);
  file_.write(bytes_of(record.data(), record.size() * sizeof(std::uint64_t)));
  file_.sync();
  ++blocks_;
}

StoredJournal::StoredJournal(const std::string& file) : path_(journal_path(file)) {
  const std::string bytes = bytes_if_there(path_);
  if (bytes.size() < sizeof(Header)) return;  // its beginning was cut off
  Header header{};
  std::memcpy(&header, bytes.data(), sizeof(Header));
  if (header.magic != magic() || header.version != version || header.hash != hash_of(header)) {
    throw Error(ExitCode::restart, path_ +
                                       ": the file is damaged, or of a later version of Sluice: it does not begin "
                                       "with the header of a journal of blocks; move it away to go on without its "
                                       "blocks");
  }
  if (stored_metadata_hash(file) != header.file_hash) return;  // the file has been written since and has all blocks
  words_.resize(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(words_.data(), bytes.data(), words_.size() * sizeof(std::uint64_t));
  whole_words_ = bytes.size() % sizeof(std::uint64_t) == 0;
}

StoredJournal::Records StoredJournal::records(std::size_t count, const RecordLayout& layout) const {
  if (words_.empty()) return {};
  Header header{};
  std::memcpy(&header, words_.data(), sizeof(Header));
  if (header.count != count) return {};  // of the file that a run has just replaced
  const auto fail = [&](const std::string& what) {
    throw Error(ExitCode::restart,
                path_ + ": the file is damaged: " + what + "; move it away to go on without its blocks");
  };
  if (header.record_words != layout.words()) fail("its blocks have other profiles than those of the file");
  const std::size_t words = layout.words() + 1;
  const std::size_t stored = (words_.size() - header_words) / words;
  Records found{words_.data() + header_words, 0, !whole_words_ || (words_.size() - header_words) % words != 0};
  std::uint64_t hash = header.hash;
  for (const std::uint64_t* record = found.first; found.count < stored; ++found.count, record += words) {
    hash = hash_of(hash, record, layout.words());
    if (hash == record[layout.words()]) continue;
    if (found.count + 1 < stored || found.cut_off) fail("a block in it does not have the hash that was stored with it");
    found.cut_off = true;
    break;
  }
  return found;
}

std::vector<StatisticsBlock> StoredJournal::blocks(std::size_t count, const RecordLayout& layout) const {
  const Records found = records(count, layout);
  std::vector<StatisticsBlock> blocks;
  for (std::size_t n = 0; n < found.count; ++n) blocks.push_back(layout.block(found.first + n * (layout.words() + 1)));
  return blocks;
}

bool StoredJournal::is_cut_off(std::size_t count, const RecordLayout& layout) const {
  return records(count, layout).cut_off;
}

namespace {

[[noreturn]] void fail_of_length(const h5::File& file, const std::string& path) {
  throw Error(ExitCode::restart, fmt::format("{}: {} has another length than /samples", file.path(), path));
}

}  // namespace

std::vector<StatisticsBlock> read_columns(const h5::File& file, bool sets) {
  std::vector<StatisticsBlock> blocks;
  for_each_column([&]<typename T>(const std::string& path, T StatisticsBlock::*member, const char* /*long_name*/) {
    if (path == parameter_set && !sets) return;
    const std::vector<T> column = read_array<T>(file, path);
    if (path == "/samples") blocks.resize(column.size());
    if (blocks.size() != column.size()) fail_of_length(file, path);
    for (std::size_t n = 0; n < column.size(); ++n) blocks[n].*member = column[n];
  });
  return blocks;
}

void read_sums(const h5::File& file, const std::string& profile, std::vector<StatisticsBlock>& blocks) {
  const std::vector<double> rows = read_array<double>(file, "/" + profile);
  auto row = rows.begin();
  for (StatisticsBlock& block : blocks) {
    const auto end = row + rows.size() / blocks.size();
    block.sums.emplace_back(row, end);
    row = end;
  }
}

StoredBlocks read_stored_blocks(const std::string& path, Sums sums) {
  const StoredJournal journal(path);
  const h5::File file = h5::File::open(path, ExitCode::restart);
  StoredBlocks stored{.profiles = {}, .blocks = read_columns(file, false)};
  std::vector<std::size_t> lengths;
  for (const std::string& name : file.group("/").datasets()) {
    const h5::Shape shape = file.dataset("/" + name).shape();
    if (shape.size() < 2) continue;
    if (shape[0] != std::ssize(stored.blocks)) fail_of_length(file, "/" + name);
    lengths.push_back(h5::elements_of({shape.begin() + 1, shape.end()}));
    stored.profiles.push_back({name, "", "1", ProfileAxis::z_center});
    if (sums == Sums::read) read_sums(file, name, stored.blocks);
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
  std::uint64_t hash = byte_hash(block.step_end, numbers.data(), sizeof(numbers));
  hash = byte_hash(hash, &block.samples, sizeof(block.samples));
  for (std::size_t n = 0; n < profiles.size(); ++n) {  // the sum does not depend on their order
    const std::uint64_t name = byte_hash(0, profiles[n].name.data(), profiles[n].name.size());
    hash += byte_hash(name, block.sums[n].data(), block.sums[n].size() * sizeof(double));
  }
  return hash;
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
