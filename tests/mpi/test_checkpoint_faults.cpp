// Checkpoints that are damaged, and disks that refuse: nothing hangs, and no older checkpoint is harmed.
#include <sys/mount.h>

#include <memory>

#include "tests/mpi/checkpoint_fixture.hpp"
#include "tests/support/file_size_limit.hpp"

namespace sluice::io {
namespace {

using namespace checkpoint_test;

TEST(CheckpointFaults, NewestIntactPassesOverDamage) {
  const SharedDirectory directory;
  const Extents global{11, 10, 9};
  for (const std::int64_t step : {1, 2, 3, 4}) write_checkpoint<double>(directory.path(), step, {global, 1, 1, 9});
  const auto path = [&](int step) { return checkpoint_path(directory.path(), step); };
  on_root([&] {
    damage_value(path(4), index_value(1, global, 5, 5, 5));
    fs::resize_file(path(3), fs::file_size(path(3)) / 2);
    std::ofstream(path(9)) << "not HDF5";
    std::ofstream(directory.path() + "/step_0000010.h5.tmp") << "killed while writing";
  });
  const NewestIntact found = newest_intact(world, directory.path());
  EXPECT_EQ(found.path, path(2));
  ASSERT_EQ(found.warnings.size(), 3U);
  EXPECT_NE(found.warnings[1].find("step_0000004.h5"), std::string::npos) << found.warnings[1];
  EXPECT_EQ(agreed_code([&] { verify_checkpoint(world, path(4)); }), 3);
  EXPECT_EQ(agreed_code([&] { verify_checkpoint(world, path(3)); }), 3);
  EXPECT_EQ(agreed_code([&] { CheckpointReader(world, path(77)); }), 3);
  EXPECT_EQ(newest_intact(world, directory.path() + "/nowhere").path, "");
}

TEST(CheckpointFaults, DamagedValuesAndCoordinatesAreFound) {
  const SharedDirectory directory;
  const std::string path = write_checkpoint<double>(directory.path(), 1, {}).path;
  const std::string intact = read_text(path);
  for (const double value : {0.1 + 0.2, std::nextafter(3.0, 4.0), test_grid({11, 10, 9}).center[2][4]}) {
    on_root([&] { damage_value(path, value); });
    EXPECT_EQ(agreed_code([&] { verify_checkpoint(world, path); }), 3) << value;
    on_root([&] { std::ofstream(path, std::ios::binary) << intact; });
  }
  verify_checkpoint(world, path);
}

TEST(CheckpointFaults, AnyFlippedByteIsFoundOrHarmless) {
  const SharedDirectory directory;
  const WriteOptions options{{3, 3, 3}};
  const std::string path = write_checkpoint<double>(directory.path(), 1, options).path;
  const std::string intact = read_text(path);
  const std::size_t size = intact.size();
  int found = 0;
  for (std::size_t n = 0; n < 100; ++n) {
    const std::size_t place = n * size / 100 + n % 7;
    on_root([&] {
      std::string bytes = intact;
      bytes[place] = static_cast<char>(bytes[place] ^ 0x10);
      std::ofstream(path, std::ios::binary) << bytes;
    });
    if (agreed_code([&] { verify_checkpoint(world, path); }) != 0) {
      ++found;
    } else {
      expect_contents<double>(path, options.global, 1, 1);
    }
  }
  EXPECT_GT(found, 50);
}

TEST(CheckpointFaults, UnfinishedOneIsRemoved) {
  const SharedDirectory directory;
  on_root([&] { std::ofstream(directory.path() + "/step_0000001.h5.tmp") << "killed"; });
  {
    const LocalBlock block = pencil({4, 4, 4}, 1, 1, world_rank());
    CheckpointWriter writer(world, {directory.path(), 2, 0, {}, test_grid({4, 4, 4})}, block);
    on_root([&] { EXPECT_EQ(file_names(directory.path()), std::vector<std::string>{"step_0000002.h5.tmp"}); });
  }
  on_root([&] { EXPECT_TRUE(file_names(directory.path()).empty()); });
}

TEST(CheckpointFaults, UnwritableDirectory) {
  const SharedDirectory directory;
  on_root([&] { std::ofstream(directory.path() + "/file") << "in the way"; });
  EXPECT_EQ(agreed_code([&] { write_checkpoint<double>(directory.path() + "/file/checkpoints", 1, {}); }), 4);
}

TEST(CheckpointFaults, OneRankThatCannotWriteFailsAllAndHarmsNothing) {
  const SharedDirectory directory;
  const WriteOptions options{{40, 64, 64}, 1, world_size()};
  const std::string older = write_checkpoint<double>(directory.path(), 1, options).path;
  {
    std::unique_ptr<FileSizeLimit> limit;
    if (world_rank() == world_size() - 1) limit = std::make_unique<FileSizeLimit>(100000);
    EXPECT_EQ(agreed_code([&] { write_checkpoint<double>(directory.path(), 2, options); }), 4);
  }
  on_root([&] {
    EXPECT_EQ(file_names(directory.path()), (std::vector<std::string>{"step_0000001.h5", "step_0000001.xdmf"}));
  });
  expect_contents<double>(older, options.global, 1, 1);
}

TEST(CheckpointFaults, AnyPlaceOfFailureInTheFileIsSurvived) {
  const SharedDirectory directory;
  const WriteOptions options{{6, 8, 8}, 1, 1};
  const std::string older = write_checkpoint<double>(directory.path(), 1, options).path;
  const auto size = static_cast<std::size_t>(fs::file_size(older));
  for (std::size_t part = 0; part < 25; ++part) {
    const FileSizeLimit limit(size * part / 25);
    EXPECT_EQ(agreed_code([&] { write_checkpoint<double>(directory.path(), 2, options); }), 4) << part;
    on_root([&] { EXPECT_EQ(file_names(directory.path()).size(), 2U) << "something was left behind"; });
  }
  on_root([&] {
    EXPECT_EQ(file_names(directory.path()), (std::vector<std::string>{"step_0000001.h5", "step_0000001.xdmf"}));
  });
  expect_contents<double>(older, options.global, 1, 1);
  write_checkpoint<double>(directory.path(), 2, options);
}

TEST(CheckpointFaults, FullDisk) {
  const SharedDirectory directory;
  int mounted = 0;
  if (world_rank() == 0) mounted = mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=4m") == 0 ? 1 : 0;
  MPI_Bcast(&mounted, 1, MPI_INT, 0, world);
  if (mounted == 0) GTEST_SKIP() << "no permission to mount a small file system";
  const WriteOptions options{{16, 64, 64}, 1, world_size()};  // 2.1 MB: one fits, two do not
  const std::string older = write_checkpoint<double>(directory.path(), 1, options).path;
  EXPECT_EQ(agreed_code([&] { write_checkpoint<double>(directory.path(), 2, options); }), 4);
  expect_contents<double>(older, options.global, 1, 1);
  on_root([&] {
    EXPECT_EQ(file_names(directory.path()), (std::vector<std::string>{"step_0000001.h5", "step_0000001.xdmf"}));
    EXPECT_EQ(umount2(directory.path().c_str(), MNT_DETACH), 0);
  });
}

}  // namespace
}  // namespace sluice::io
