// Damage to what describes a file's contents is found before HDF5 reads it.
#include <algorithm>
#include <cstring>
#include <random>

#include "io/files/checkpoint_directory.hpp"
#include "io/files/describe.hpp"
#include "io/files/hashes.hpp"
#include "tests/unit/files_fixture.hpp"

namespace sluice::io {
namespace {

using namespace files_test;

constexpr std::size_t ending_bytes = 3 * sizeof(std::uint64_t);

std::string with_flipped_bit(std::string bytes, std::size_t place, unsigned bit) {
  bytes[place] = static_cast<char>(bytes[place] ^ (1 << bit));
  return bytes;
}

bool is_found(const std::string& path) {
  bool intact = false;
  code_of([&] { intact = describe(path).intact(); });
  return !intact;
}

TEST_F(FilesTest, AnyFlippedBitIsFound) {
  const std::string file = write_small_checkpoint(path("checkpoints"), 12);
  const std::string intact = read_text(file);
  std::mt19937 random(1);
  for (int n = 0; n < 3000; ++n) {
    const std::size_t place = random() % intact.size();
    const unsigned bit = random() % 8;
    write_plain(file, with_flipped_bit(intact, place, bit));
    ASSERT_TRUE(is_found(file)) << "bit " << bit << " of byte " << place;
    ASSERT_EQ(code_of([&] { verify_checkpoint(MPI_COMM_SELF, file); }), 3) << "bit " << bit << " of byte " << place;
  }
}

/// The hash is part of what is lost; HDF5 must not read the rest.
TEST_F(FilesTest, ALostEndIsFound) {
  const std::string file = write_small_checkpoint(path("checkpoints"), 12);
  const std::string intact = read_text(file);
  const auto refused = [&](const std::string& bytes) {
    write_plain(file, bytes);
    return code_of([&] { verify_metadata_hash(file, ExitCode::restart); }) == 3;
  };
  for (const std::size_t bytes : {1U, 8U, 512U, 4096U}) {
    EXPECT_TRUE(refused(intact.substr(0, intact.size() - bytes) + std::string(bytes, '\0'))) << bytes;
  }
  for (std::size_t bytes = 1; bytes < ending_bytes; ++bytes)
    EXPECT_TRUE(refused(intact.substr(0, intact.size() - bytes))) << bytes;
}

/// Files that an older or another program wrote have no hash: the test is that nothing crashes or searches forever.
TEST_F(FilesTest, AnyFlippedBitIsSurvivedWithoutTheHash) {
  const std::string file = write_small_checkpoint(path("checkpoints"), 12);
  std::string intact = read_text(file);
  std::uint64_t ranges = 0;
  std::memcpy(&ranges, intact.data() + intact.size() - ending_bytes, sizeof(ranges));
  intact.resize(intact.size() - ending_bytes - ranges * sizeof(ByteRange));
  write_plain(file, intact);
  EXPECT_TRUE(describe(file).intact());
  const auto flip_and_read = [&](std::size_t place, unsigned bit) {
    write_plain(file, with_flipped_bit(intact, place, bit));
    is_found(file);
  };
  std::mt19937 random(2);
  for (int n = 0; n < 1000; ++n) flip_and_read(random() % intact.size(), random() % 8);
  // Global heaps, where HDF5 looks for texts: signature, size, and the first objects.
  for (std::size_t heap = intact.find("GCOL"); heap != std::string::npos; heap = intact.find("GCOL", heap + 1)) {
    for (std::size_t place = heap; place < heap + 64; ++place) {
      for (unsigned bit = 0; bit < 8; ++bit) flip_and_read(place, bit);
    }
    std::string zeroed = intact;
    zeroed.replace(heap + 16, 4000, 4000, '\0');
    write_plain(file, zeroed);
    EXPECT_TRUE(is_found(file));
  }
}

TEST_F(FilesTest, MetadataHashLeavesOutTheRangesGiven) {
  const std::string content = "metadata field metadata field";
  const auto sealed = [&](const std::string& text) {
    write_plain(path("a"), text);
    append_metadata_hash(path("a"), {{24, 29}, {9, 12}, {12, 14}});
    return read_text(path("a"));
  };
  const std::string intact = sealed(content);
  EXPECT_EQ(intact, sealed("metadata FIELD metadata FIELD").replace(9, 5, "field").replace(24, 5, "field"));
  for (std::size_t place = 0; place < intact.size() - sizeof(std::uint64_t); ++place) {
    const bool excluded = (place >= 9 && place < 14) || (place >= 24 && place < 29);
    for (unsigned bit = 0; bit < 8; ++bit) {
      write_plain(path("a"), with_flipped_bit(intact, place, bit));
      EXPECT_EQ(code_of([&] { verify_metadata_hash(path("a"), ExitCode::restart); }), excluded ? 0 : 3) << place;
    }
  }
  write_plain(path("a"), intact.substr(1));
  EXPECT_EQ(code_of([&] { verify_metadata_hash(path("a"), ExitCode::restart); }), 3);
  for (const std::string& other : {std::string(), std::string("short"), content}) {
    write_plain(path("a"), other);
    EXPECT_EQ(code_of([&] { verify_metadata_hash(path("a"), ExitCode::restart); }), 0);
  }
}

}  // namespace
}  // namespace sluice::io
