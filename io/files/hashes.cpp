#include "io/files/hashes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/support/random.hpp"
#include "io/files/posix_file.hpp"

namespace sluice::io {

namespace {

template <typename Bits>
std::uint64_t hash_of(const Box3& box, const Extents& global, const void* data) {
  const auto* bytes = static_cast<const std::byte*>(data);
  std::uint64_t sum = 0;
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      const std::uint64_t row = (k * global[1] + j) * global[2];
      for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i, bytes += sizeof(Bits)) {
        Bits bits = 0;
        std::memcpy(&bits, bytes, sizeof(Bits));
        sum += mix64(mix64(row + i) ^ bits);
      }
    }
  }
  return sum;
}

}  // namespace

std::uint64_t field_hash(const Box3& box, const Extents& global, std::size_t element_bytes, const void* data) {
  return element_bytes == 4 ? hash_of<std::uint32_t>(box, global, data) : hash_of<std::uint64_t>(box, global, data);
}

std::uint64_t byte_hash(std::uint64_t seed, const void* data, std::size_t bytes) {
  const auto* next = static_cast<const std::byte*>(data);
  std::uint64_t hash = mix64(seed ^ bytes);
  for (std::size_t left = bytes; left > 0;) {
    std::uint64_t word = 0;
    const std::size_t taken = std::min(left, sizeof(word));
    std::memcpy(&word, next, taken);
    hash = mix64(hash ^ word);
    next += taken;
    left -= taken;
  }
  return hash;
}

namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

std::uint64_t magic() {
  constexpr std::array<char, word_bytes> characters{'S', 'l', 'u', 'i', 'c', 'e', 'M', 'H'};
  std::uint64_t word = 0;
  std::memcpy(&word, characters.data(), word_bytes);
  return word;
}

/// The last words of a file.
struct Ending {
  std::uint64_t ranges = 0;
  std::uint64_t hash = 0;
  std::uint64_t magic = 0;
};

/// A file open for reading.
class Source {
 public:
  Source(const std::string& path, ExitCode code)
      : path_(path), code_(code), descriptor_(open_regular(path, O_RDONLY, "read", code)) {
    struct stat status {};
    if (::fstat(descriptor_.number(), &status) != 0) fail(errno);
    size_ = status.st_size;
  }

  std::uint64_t size() const { return size_; }

  void read(std::uint64_t offset, void* data, std::size_t bytes) const {
    auto* next = static_cast<std::byte*>(data);
    while (bytes > 0) {
      const ssize_t count = ::pread(descriptor_.number(), next, bytes, offset);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) fail(count < 0 ? errno : EIO);
      next += count;
      offset += count;
      bytes -= count;
    }
  }

 private:
  [[noreturn]] void fail(int error) const { throw file_error(path_, "read", error, code_); }

  const std::string& path_;
  ExitCode code_;
  Descriptor descriptor_;
  std::uint64_t size_ = 0;
};

/// Sorted, with neighbours joined.
std::vector<ByteRange> joined(std::vector<ByteRange> ranges) {
  std::ranges::sort(ranges, {}, &ByteRange::begin);
  std::vector<ByteRange> result;
  for (const ByteRange& range : ranges) {
    if (!result.empty() && range.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, range.end);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

/// Of the first `size` bytes outside the ranges, which are in increasing order, and of the ranges.
std::uint64_t hash_outside(const Source& source, std::uint64_t size, const std::vector<ByteRange>& excluded) {
  constexpr std::uint64_t block_bytes = 1 << 20;
  std::vector<std::byte> block;
  std::uint64_t hash = byte_hash(size, excluded.data(), excluded.size() * sizeof(ByteRange));
  const auto add = [&](std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
      block.resize(std::min(block_bytes, end - begin));
      source.read(begin, block.data(), block.size());
      hash = byte_hash(hash, block.data(), block.size());
      begin += block.size();
    }
  };
  std::uint64_t begin = 0;
  for (const ByteRange& range : excluded) {
    add(begin, range.begin);
    begin = range.end;
  }
  add(begin, size);
  return hash;
}

/// Whether HDF5 says of its own data that they end before the file does. Only Sluice appends something to such a file.
bool has_appendix(const Source& source) {
  constexpr std::array<unsigned char, 8> signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  constexpr std::size_t version = 8;  // places of bytes; those that follow are the same in versions 2 and 3
  constexpr std::size_t address_bytes = 9;
  constexpr std::size_t end_of_file = 28;
  std::array<unsigned char, end_of_file + word_bytes> superblock{};
  if (source.size() < superblock.size()) return false;
  source.read(0, superblock.data(), superblock.size());
  if (!std::equal(signature.begin(), signature.end(), superblock.begin())) return false;
  if (superblock[version] < 2 || superblock[version] > 3 || superblock[address_bytes] != word_bytes) return false;
  std::uint64_t end = 0;  // little-endian in the file
  for (std::size_t n = superblock.size(); n > end_of_file; --n) end = end << 8 | superblock[n - 1];
  return end < source.size();
}

/// Whether the ranges are in increasing order within the first `size` bytes.
bool fit(const std::vector<ByteRange>& ranges, std::uint64_t size) {
  std::uint64_t last = 0;
  for (const ByteRange& range : ranges) {
    if (range.begin < last || range.end < range.begin || range.end > size) return false;
    last = range.end;
  }
  return true;
}

}  // namespace

void append_metadata_hash(const std::string& path, std::vector<ByteRange> excluded) {
  excluded = joined(std::move(excluded));
  const Source source(path, ExitCode::io);
  const Ending ending{excluded.size(), hash_outside(source, source.size(), excluded), magic()};
  const std::size_t list_bytes = excluded.size() * sizeof(ByteRange);
  std::vector<std::byte> bytes(list_bytes + sizeof(Ending));
  if (list_bytes > 0) std::memcpy(bytes.data(), excluded.data(), list_bytes);
  std::memcpy(bytes.data() + list_bytes, &ending, sizeof(Ending));
  PosixFile file(path, PosixFile::Mode::existing);
  file.write_at(source.size(), bytes.data(), bytes.size());
  file.close();
}

void verify_metadata_hash(const std::string& path, ExitCode code) {
  const Source source(path, code);
  if (source.size() < sizeof(Ending)) return;
  const std::uint64_t end_of_list = source.size() - sizeof(Ending);
  Ending ending;
  source.read(end_of_list, &ending, sizeof(Ending));
  const bool found = ending.magic == magic();
  if (!found && !has_appendix(source)) return;
  bool intact = found && ending.ranges <= end_of_list / sizeof(ByteRange);
  if (intact) {
    std::vector<ByteRange> excluded(ending.ranges);
    const std::size_t list_bytes = excluded.size() * sizeof(ByteRange);
    const std::uint64_t size = end_of_list - list_bytes;
    source.read(size, excluded.data(), list_bytes);
    intact = fit(excluded, size) && hash_outside(source, size, excluded) == ending.hash;
  }
  if (!intact) {
    throw Error(code, path + ": the file is damaged: its contents do not have the hash that was stored with them");
  }
}

std::optional<std::uint64_t> stored_metadata_hash(const std::string& path) {
  try {
    const Source source(path, ExitCode::io);
    if (source.size() < sizeof(Ending)) return std::nullopt;
    Ending ending;
    source.read(source.size() - sizeof(Ending), &ending, sizeof(Ending));
    return ending.magic == magic() ? std::optional(ending.hash) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // what cannot be read has no hash
  }
}

}  // namespace sluice::io
