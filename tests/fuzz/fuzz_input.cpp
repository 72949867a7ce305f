#include "tests/fuzz/fuzz_input.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

namespace sluice::fuzz {

namespace fs = std::filesystem;

std::uint64_t Input::word(std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t n = 0; n < bytes; ++n) value = value << 8 | (ended() ? 0U : *next_++);
  return value;
}

std::size_t Input::below(std::size_t end) {
  return word(end <= 256 ? 1 : 3) % end;
}

double Input::real() {
  if (one_in(2)) return std::bit_cast<double>(word(8));
  constexpr std::array<double, 6> values{0, -1, 0.5, 1e300, std::numeric_limits<double>::infinity(), 1e-320};
  return values.at(below(values.size()));
}

std::int64_t Input::integer() {
  if (one_in(2)) return std::bit_cast<std::int64_t>(word(8));
  constexpr std::array<std::int64_t, 7> values{0,
                                               1,
                                               -1,
                                               2,
                                               1'000'000'000'000'000'000,
                                               std::numeric_limits<std::int64_t>::max(),
                                               std::numeric_limits<std::int64_t>::min()};
  return values.at(below(values.size()));
}

std::string Input::text() {
  std::string text;
  for (std::size_t left = below(40); left > 0; --left) text += static_cast<char>(1 + below(255));
  return text;
}

std::string damaged(std::string bytes, Input& input) {
  constexpr std::size_t page = 512;
  while (!input.ended() && !bytes.empty()) {
    const std::size_t kind = input.below(8);
    const std::size_t at = input.below(bytes.size());
    const std::size_t length = std::min(input.below(1024), bytes.size() - at);
    switch (kind) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << input.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(input.word(1));
        break;
      case 2:
        for (std::size_t n = at; n < std::min(at + 8, bytes.size()); ++n) bytes[n] = static_cast<char>(input.word(1));
        break;
      case 3: {
        const std::size_t begin = at / page * page;
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                  bytes.begin() + static_cast<std::ptrdiff_t>(std::min(begin + 8 * page, bytes.size())), '\0');
        break;
      }
      case 4:
        bytes.resize(at);
        break;
      case 5:
        bytes.erase(at, length);
        break;
      case 6:
        bytes.insert(input.below(bytes.size()), bytes.substr(at, length));
        break;
      default:
        bytes.replace(std::min(input.below(bytes.size()), bytes.size() - length), length, bytes.substr(at, length));
    }
  }
  return bytes;
}

std::string scratch_path(const std::string& name) {
  struct Directory {
    Directory() : path((fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path()) / "sluice-fuzz-XXXXXX") {
      require(mkdtemp(path.data()) != nullptr, "no temporary directory");
      int started = 0;
      MPI_Initialized(&started);
      if (started == 0) MPI_Init(nullptr, nullptr);
    }
    ~Directory() { fs::remove_all(path); }
    std::string path;
  };
  static const Directory directory;
  return directory.path + "/" + name;
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  require(file.good(), path + ": cannot write");
}

bool is_protected(const std::string& original, const std::string& changed) {
  constexpr std::size_t word_bytes = 8;
  constexpr std::size_t superblock_bytes = 48;
  constexpr std::size_t ending_words = 3;  // of io/files/hashes.hpp, behind the list of ranges
  if (original.starts_with(changed) || changed.ends_with(original.substr(original.size() - word_bytes))) return true;
  std::uint64_t ranges = 0;
  std::memcpy(&ranges, original.data() + original.size() - ending_words * word_bytes, word_bytes);
  const std::size_t hdf5_end = original.size() - (ending_words + 2 * ranges) * word_bytes;
  return changed.size() > hdf5_end && changed.starts_with(original.substr(0, superblock_bytes));
}

void read_or_refuse(const std::function<void()>& reader, ExitCode code) {
  try {
    reader();
  } catch (const Error& error) {
    constexpr std::size_t longest = 5000;
    require(error.code() == code && std::string(error.what()).size() < longest, error.what());
  }
}

void require(bool good, const std::string& message) {
  if (good) return;
  fmt::print(stderr, "{}\n", message);
  std::abort();
}

}  // namespace sluice::fuzz
