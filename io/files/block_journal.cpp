#include "io/files/block_journal.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <utility>

#include "io/files/field_hash.hpp"
#include "io/files/metadata_hash.hpp"

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
                                       "as the journal of a file of blocks; move it away to go on without its "
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

}  // namespace sluice::io
