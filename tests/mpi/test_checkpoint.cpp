// Checkpoints written and read on all ranks: round trips across decompositions, damage, and disks that
// refuse.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>

#include "core/support/error.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/checkpoint_reader.hpp"
#include "io/files/checkpoint_writer.hpp"
#include "io/files/describe.hpp"
#include "io/files/foreign_field.hpp"
#include "io/files/plane.hpp"
#include "io/files/posix_file.hpp"

namespace sluice::io {
namespace {

namespace fs = std::filesystem;

const MPI_Comm world = MPI_COMM_WORLD;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  return rank;
}

int world_size() {
  int size = 1;
  MPI_Comm_size(world, &size);
  return size;
}

/// A directory that all ranks know and rank 0 removes.
class SharedDirectory {
 public:
  SharedDirectory() {
    std::array<char, 64> name{};
    if (world_rank() == 0) {
      std::snprintf(name.data(), name.size(), "%s", "/tmp/sluice-checkpoint-XXXXXX");
      EXPECT_NE(mkdtemp(name.data()), nullptr);
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, world);
    path_ = name.data();
  }
  ~SharedDirectory() {
    MPI_Barrier(world);
    if (world_rank() == 0) fs::remove_all(path_);
  }
  SharedDirectory(const SharedDirectory&) = delete;
  SharedDirectory& operator=(const SharedDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::pair<std::int64_t, std::int64_t> share(std::int64_t n, int part, int parts) {
  return {n * part / parts, n * (part + 1) / parts};
}

/// Rank `rank` of a py x pz grid of pencils; ranks beyond it hold nothing.
LocalBlock pencil(const Extents& global, int py, int pz, int rank) {
  if (rank >= py * pz) return {global, {0, 0, 0}, {0, 0, 0}};
  const auto [y0, y1] = share(global[1], rank % py, py);
  const auto [z0, z1] = share(global[0], rank / py, pz);
  return {global, {z0, y0, 0}, {z1 - z0, y1 - y0, global[2]}};
}

/// A value that tells where it belongs.
double index_value(int field, const Extents& global, std::int64_t k, std::int64_t j, std::int64_t i) {
  return field * 1e7 + static_cast<double>((k * global[1] + j) * global[2] + i) + 0.125;
}

template <typename Real>
std::vector<Real> index_block(int field, const LocalBlock& block) {
  std::vector<Real> data;
  const IndexBox box = box_of(block);
  for (std::int64_t k = box.lo[0]; k < box.hi[0]; ++k) {
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      for (std::int64_t i = box.lo[2]; i < box.hi[2]; ++i) {
        data.push_back(static_cast<Real>(index_value(field, block.global, k, j, i)));
      }
    }
  }
  return data;
}

const std::array<FieldMeta, 4> fields{FieldMeta{"u", "streamwise velocity / U_b", "1", Location::x_face},
                                      FieldMeta{"v", "spanwise velocity / U_b", "1", Location::y_face},
                                      FieldMeta{"w", "wall-normal velocity / U_b", "1", Location::z_face},
                                      FieldMeta{"p", "pressure / (rho U_b^2)", "1", Location::center}};

GridLines test_grid(const Extents& global) {
  std::vector<double> z;
  for (std::int64_t k = 0; k <= global[0]; ++k) {
    z.push_back(1 + std::tanh(1.6 * (2.0 * static_cast<double>(k) / static_cast<double>(global[0]) - 1)) /
                        std::tanh(1.6));
  }
  return grid_lines(global[2], 12.5, global[1], 4.25, z);
}

Values test_state() {
  Values state;
  state.set("dt", 0.1 + 0.2);
  state.set("forcing", -std::numeric_limits<double>::denorm_min());
  state.set("z_blocks", 3);
  state.set("exchange", "mpi_p2p");
  state.set("next_outputs", std::vector<double>{1.5, 2.5, std::nextafter(3.0, 4.0)});
  state.set("empty", std::vector<double>{});
  state.set("counts", std::vector<std::int64_t>{1, -2, std::int64_t{1} << 60});
  return state;
}

std::string long_case() {
  return std::string(200000, 'c') + "\ntitle: more than 64 KB\n";
}

struct WriteOptions {
  Extents global{11, 10, 9};
  int py = 1;
  int pz = 1;
  int keep = 2;
};

template <typename Real>
CheckpointWriter::Committed write_checkpoint(const std::string& directory, std::int64_t step,
                                             const WriteOptions& o) {
  const LocalBlock block = pencil(o.global, o.py, o.pz, world_rank());
  CheckpointSpec spec{directory,
                      step,
                      0.1 * static_cast<double>(step),
                      {"0.1.0", "abc123", long_case()},
                      test_grid(o.global),
                      precision_of<Real>};
  CheckpointWriter writer(world, spec, block);
  std::vector<Real> buffer;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    buffer = index_block<Real>(static_cast<int>(f), block);
    writer.write_field(fields[f], buffer.data());
  }
  writer.write_values("/state", test_state());
  return writer.commit(o.keep);
}

template <typename Real>
void expect_contents(const std::string& path, const Extents& global, int py, int pz) {
  const CheckpointReader reader(world, path);
  EXPECT_EQ(reader.shape(), global);
  EXPECT_EQ(reader.resolved_case(), long_case());
  EXPECT_EQ(reader.grid(), test_grid(global));
  EXPECT_TRUE(reader.values("/state") == test_state());
  const LocalBlock block = pencil(global, py, pz, world_rank());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    std::vector<Real> data(static_cast<std::size_t>(block.volume()));
    reader.read_field(fields[f].name, block, precision_of<Real>, data.data());
    EXPECT_EQ(data, index_block<Real>(static_cast<int>(f), block)) << fields[f].name;
  }
}

/// The exit code of the Error that `action` throws on this rank, which must be the same on all ranks; 0 if it
/// throws none.
int agreed_code(const std::function<void()>& action) {
  int code = 0;
  try {
    action();
  } catch (const Error& error) {
    code = static_cast<int>(error.code());
  }
  int lowest = 0;
  int highest = 0;
  MPI_Allreduce(&code, &lowest, 1, MPI_INT, MPI_MIN, world);
  MPI_Allreduce(&code, &highest, 1, MPI_INT, MPI_MAX, world);
  EXPECT_EQ(lowest, highest) << "ranks disagree on the failure";
  return code;
}

std::vector<std::string> file_names(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

void on_root(const std::function<void()>& action) {
  if (world_rank() == 0) action();
  MPI_Barrier(world);
}

/// Inverts one byte of the file, where the eight bytes of `value` lie.
void damage_value(const std::string& path, double value) {
  std::string bytes = read_text(path);
  std::array<char, sizeof(value)> pattern{};
  std::memcpy(pattern.data(), &value, sizeof(value));
  const std::size_t place = bytes.find(std::string_view(pattern.data(), pattern.size()));
  ASSERT_NE(place, std::string::npos);
  bytes[place + 1] = static_cast<char>(~bytes[place + 1]);
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Limits the size of files that this process may write, as a full disk or a quota would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(Checkpoint, EveryDecompositionReadsWhatAnyOtherWrote) {
  const SharedDirectory directory;
  const int size = world_size();
  const Extents global{11, 10, 9};
  std::string first;
  std::int64_t step = 0;
  for (const auto& [py, pz] : {std::pair{1, 1}, {1, size}, {size, 1}, {2, size / 2}}) {
    if (py * pz > size || pz == 0) continue;
    const auto committed = write_checkpoint<double>(directory.path(), ++step, {global, py, pz, 99});
    EXPECT_TRUE(committed.warnings.empty());
    expect_contents<double>(committed.path, global, 1, size);
    expect_contents<double>(committed.path, global, size, 1);
    expect_contents<double>(committed.path, global, 1, 1);
  }
}

TEST(Checkpoint, FileDoesNotDependOnTheDecomposition) {
  const SharedDirectory one;
  const SharedDirectory other;
  write_checkpoint<double>(one.path(), 7, {{11, 10, 9}, 1, 1});
  write_checkpoint<double>(other.path(), 7, {{11, 10, 9}, 1, world_size()});
  EXPECT_TRUE(read_text(one.path() + "/step_0000007.h5") == read_text(other.path() + "/step_0000007.h5"));
}

TEST(Checkpoint, ManyChunksWithEdges) {
  const SharedDirectory directory;
  const Extents global{5, 700, 300};  // planes above 1 MiB: cut along y, with an incomplete last chunk
  const WriteOptions options{global, world_size(), 1};
  const auto committed = write_checkpoint<double>(directory.path(), 1, options);
  EXPECT_GT(ChunkLayout(global, 8).count(), 5);
  expect_contents<double>(committed.path, global, 1, world_size());
}

TEST(Checkpoint, SinglePrecisionAndConversion) {
  const SharedDirectory directory;
  const WriteOptions options{{11, 10, 9}, world_size(), 1};
  const auto committed = write_checkpoint<float>(directory.path(), 1, options);
  expect_contents<float>(committed.path, options.global, 1, world_size());
  const CheckpointReader reader(world, committed.path);
  EXPECT_EQ(reader.precision(), Precision::single_);
  const LocalBlock block = pencil(options.global, 1, world_size(), world_rank());
  std::vector<double> data(static_cast<std::size_t>(block.volume()));
  reader.read_field("v", block, Precision::double_, data.data());
  const std::vector<float> expected = index_block<float>(1, block);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), expected.begin(), expected.end()));
}

TEST(Checkpoint, KeepsTheNewestAndDropsAbandonedOnes) {
  const SharedDirectory directory;
  for (const std::int64_t step : {10, 20, 30}) write_checkpoint<double>(directory.path(), step, {});
  EXPECT_EQ(list_checkpoints(directory.path()).size(), 2U);
  write_checkpoint<double>(directory.path(), 25, {});  // restarted from step 20
  on_root([&] {
    const std::vector<std::string> expected{"step_0000020.h5", "step_0000020.xdmf", "step_0000025.h5",
                                            "step_0000025.xdmf"};
    EXPECT_EQ(file_names(directory.path()), expected);
  });
}

TEST(Checkpoint, NewestIntactPassesOverDamage) {
  const SharedDirectory directory;
  const Extents global{11, 10, 9};
  for (const std::int64_t step : {1, 2, 3, 4})
    write_checkpoint<double>(directory.path(), step, {global, 1, 1, 9});
  const auto path = [&](int step) { return directory.path() + "/" + checkpoint_name(step); };
  on_root([&] {
    damage_value(path(4), index_value(1, global, 5, 5, 5));
    fs::resize_file(path(3), fs::file_size(path(3)) / 2);
    std::ofstream(path(9)) << "not HDF5";
    std::ofstream(directory.path() + "/step_0000010.h5.tmp") << "killed while writing";
  });
  const NewestIntact found = newest_intact(world, directory.path());
  ASSERT_TRUE(found.checkpoint.has_value());
  EXPECT_EQ(found.checkpoint->step, 2);
  ASSERT_EQ(found.warnings.size(), 3U);
  EXPECT_NE(found.warnings[1].find("step_0000004.h5"), std::string::npos) << found.warnings[1];
  EXPECT_EQ(agreed_code([&] { verify_checkpoint(world, path(4)); }), 3);
  EXPECT_EQ(agreed_code([&] { verify_checkpoint(world, path(3)); }), 3);
  EXPECT_EQ(agreed_code([&] { CheckpointReader(world, path(77)); }), 3);
  EXPECT_FALSE(newest_intact(world, directory.path() + "/nowhere").checkpoint.has_value());
}

TEST(Checkpoint, DamagedValuesAndCoordinatesAreFound) {
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

TEST(Checkpoint, AnyFlippedByteIsFoundOrHarmless) {
  const SharedDirectory directory;
  const WriteOptions options{{3, 3, 3}};
  const std::string path = write_checkpoint<double>(directory.path(), 1, options).path;
  const std::string intact = read_text(path);
  const std::size_t size = intact.size();
  int found = 0;
  for (std::size_t n = 0; n < 200; ++n) {
    const std::size_t place = n * size / 200 + n % 7;
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
  EXPECT_GT(found, 100);
}

TEST(Checkpoint, AnotherGridIsRefused) {
  const SharedDirectory directory;
  const std::string path = write_checkpoint<double>(directory.path(), 1, {}).path;
  const LocalBlock block = pencil({12, 10, 9}, 1, world_size(), world_rank());
  std::vector<double> data(static_cast<std::size_t>(block.volume()));
  const auto read = [&] {
    CheckpointReader(world, path).read_field("u", block, Precision::double_, data.data());
  };
  EXPECT_EQ(agreed_code(read), 3);
}

TEST(Checkpoint, UnfinishedOneIsRemoved) {
  const SharedDirectory directory;
  on_root([&] { std::ofstream(directory.path() + "/step_0000001.h5.tmp") << "killed"; });
  {
    const LocalBlock block = pencil({4, 4, 4}, 1, 1, world_rank());
    CheckpointWriter writer(world, {directory.path(), 2, 0, {}, test_grid({4, 4, 4})}, block);
    on_root(
        [&] { EXPECT_EQ(file_names(directory.path()), std::vector<std::string>{"step_0000002.h5.tmp"}); });
  }
  on_root([&] { EXPECT_TRUE(file_names(directory.path()).empty()); });
}

TEST(Checkpoint, UnwritableDirectory) {
  const SharedDirectory directory;
  on_root([&] { std::ofstream(directory.path() + "/file") << "in the way"; });
  EXPECT_EQ(agreed_code([&] { write_checkpoint<double>(directory.path() + "/file/checkpoints", 1, {}); }), 4);
}

TEST(Checkpoint, OneRankThatCannotWriteFailsAllAndHarmsNothing) {
  const SharedDirectory directory;
  const WriteOptions options{{40, 64, 64}, 1, world_size()};
  const std::string older = write_checkpoint<double>(directory.path(), 1, options).path;
  {
    std::unique_ptr<FileSizeLimit> limit;
    if (world_rank() == world_size() - 1) limit = std::make_unique<FileSizeLimit>(100000);
    EXPECT_EQ(agreed_code([&] { write_checkpoint<double>(directory.path(), 2, options); }), 4);
  }
  on_root([&] {
    EXPECT_EQ(file_names(directory.path()),
              (std::vector<std::string>{"step_0000001.h5", "step_0000001.xdmf"}));
  });
  expect_contents<double>(older, options.global, 1, 1);
}

TEST(Checkpoint, AnyPlaceOfFailureInTheFileIsSurvived) {
  const SharedDirectory directory;
  const WriteOptions options{{6, 8, 8}, 1, 1};
  const std::string older = write_checkpoint<double>(directory.path(), 1, options).path;
  const auto size = static_cast<std::size_t>(fs::file_size(older));
  for (std::size_t part = 0; part < 25; ++part) {
    const FileSizeLimit limit(size * part / 25);
    EXPECT_EQ(agreed_code([&] { write_checkpoint<double>(directory.path(), 2, options); }), 4) << part;
  }
  on_root([&] {
    EXPECT_EQ(file_names(directory.path()),
              (std::vector<std::string>{"step_0000001.h5", "step_0000001.xdmf"}));
  });
  expect_contents<double>(older, options.global, 1, 1);
  write_checkpoint<double>(directory.path(), 2, options);
}

TEST(Checkpoint, FullDisk) {
  const SharedDirectory directory;
  int mounted = 0;
  if (world_rank() == 0)
    mounted = mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=4m") == 0 ? 1 : 0;
  MPI_Bcast(&mounted, 1, MPI_INT, 0, world);
  if (mounted == 0) GTEST_SKIP() << "no permission to mount a small file system";
  const WriteOptions options{{16, 64, 64}, 1, world_size()};  // 2.1 MB: one fits, two do not
  const std::string older = write_checkpoint<double>(directory.path(), 1, options).path;
  EXPECT_EQ(agreed_code([&] { write_checkpoint<double>(directory.path(), 2, options); }), 4);
  expect_contents<double>(older, options.global, 1, 1);
  on_root([&] {
    EXPECT_EQ(file_names(directory.path()),
              (std::vector<std::string>{"step_0000001.h5", "step_0000001.xdmf"}));
    EXPECT_EQ(umount2(directory.path().c_str(), MNT_DETACH), 0);
  });
}

TEST(ForeignField, ReadsItsOwnBlocksAndRefusesOtherShapes) {
  const SharedDirectory directory;
  const std::string path = directory.path() + "/fields.h5";
  const Extents global{5, 4, 3};
  on_root([&] {
    h5::write_file(path, [&](h5::File& file) {
      const std::vector<float> data = index_block<float>(2, {global, {0, 0, 0}, global});
      file.create_dataset("/w", {5, 4, 3}, h5::Type::float32).write(h5::Type::float32, data.data());
    });
  });
  const LocalBlock block = pencil(global, 1, world_size(), world_rank());
  std::vector<double> data(static_cast<std::size_t>(block.volume()));
  read_foreign_field(world, path, "/w", block, Precision::double_, data.data());
  const std::vector<float> expected = index_block<float>(2, block);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), expected.begin(), expected.end()));
  EXPECT_EQ(
      agreed_code([&] { read_foreign_field(world, path, "/u", block, Precision::double_, data.data()); }), 3);
  const LocalBlock other = pencil({5, 4, 4}, 1, world_size(), world_rank());
  EXPECT_EQ(agreed_code([&] { read_foreign_field(world, path, "/w", other, Precision::double_, nullptr); }),
            3);
}

TEST(Plane, CollectsEveryNormalInOrder) {
  const Extents global{6, 5, 4};
  const LocalBlock block = pencil(global, world_size() % 2 == 0 ? 2 : 1,
                                  world_size() % 2 == 0 ? world_size() / 2 : world_size(), world_rank());
  const std::vector<double> data = index_block<double>(0, block);
  for (const char normal : {'x', 'y', 'z'}) {
    const std::size_t axis = file_axis(normal);
    LocalBlock plane{global, {0, 0, 0}, global};
    plane.start[axis] = 2;
    plane.count[axis] = 1;
    const std::vector<double> values = gather_plane(world, block, Precision::double_, data.data(), normal, 2);
    if (world_rank() == 0) {
      EXPECT_EQ(values, index_block<double>(0, plane)) << normal;
    } else {
      EXPECT_TRUE(values.empty());
    }
  }
}

}  // namespace
}  // namespace sluice::io
