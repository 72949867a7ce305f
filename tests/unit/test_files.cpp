// Files that one process writes: atomic text, values, hashes, time series, statistics, slices, XDMF and
// descriptions.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "core/support/error.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/checkpoint_writer.hpp"
#include "io/files/chunk_layout.hpp"
#include "io/files/describe.hpp"
#include "io/files/field_hash.hpp"
#include "io/files/foreign_field.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/slice_series.hpp"
#include "io/files/statistics_file.hpp"
#include "io/files/time_series.hpp"
#include "tests/support/file_size_limit.hpp"

namespace sluice::io {
namespace {

namespace fs = std::filesystem;

/// A directory of the test's own, removed at its end.
class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    char name[] = "/tmp/sluice-files-XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~FilesTest() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  std::string directory_;
};

/// The exit code of the Error that the action throws; 0 if it throws none.
template <typename Action>
int code_of(const Action& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return static_cast<int>(error.code());
  }
  return 0;
}

void write_plain(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void flip_byte(const std::string& path, const void* pattern, std::size_t size) {
  std::string bytes = read_text(path);
  const std::size_t place = bytes.find(std::string_view(static_cast<const char*>(pattern), size));
  ASSERT_NE(place, std::string::npos);
  bytes[place] = static_cast<char>(bytes[place] ^ 1);
  write_plain(path, bytes);
}

// --- text files

TEST_F(FilesTest, AtomicFileReplacesAndLeavesNothingBehind) {
  write_atomically(path("a.txt"), "one");
  write_atomically(path("a.txt"), "two");
  EXPECT_EQ(read_text(path("a.txt")), "two");
  EXPECT_FALSE(fs::exists(path("a.txt.tmp")));
}

TEST_F(FilesTest, AtomicFileKeepsTheOldContentWhenTheDiskIsFull) {
  write_atomically(path("a.txt"), "old");
  std::string message;
  {
    const FileSizeLimit limit(1000);
    EXPECT_EQ(code_of([&] { write_atomically(path("a.txt"), std::string(5000, 'x')); }, &message), 4);
  }
  EXPECT_EQ(read_text(path("a.txt")), "old");
  EXPECT_FALSE(fs::exists(path("a.txt.tmp")));
  EXPECT_NE(message.find("a.txt"), std::string::npos) << message;
  EXPECT_EQ(code_of([] { write_atomically("/dev/full/impossible", "x"); }), 4);
}

TEST_F(FilesTest, FullDeviceIsReported) {
  std::string message;
  const int code = code_of([] { PosixFile("/dev/full", PosixFile::Mode::existing).write("x"); }, &message);
  EXPECT_EQ(code, 4);
  EXPECT_NE(message.find("No space left"), std::string::npos) << message;
  EXPECT_NE(message.find("free some space"), std::string::npos) << message;
}

TEST_F(FilesTest, UnfinishedFilesAreRemoved) {
  write_plain(path("x.h5.tmp"), "rubbish");
  write_plain(path("x.h5"), "good");
  remove_unfinished(directory_);
  remove_unfinished(path("missing"));
  EXPECT_FALSE(fs::exists(path("x.h5.tmp")));
  EXPECT_TRUE(fs::exists(path("x.h5")));
}

// --- values and hashes

TEST_F(FilesTest, ValuesRoundTripBitForBit) {
  Values values;
  const double nan_with_payload = std::nan("1234");
  values.set("nan", nan_with_payload);
  values.set("third", 1.0 / 3.0);
  values.set("tiny", std::numeric_limits<double>::denorm_min());
  values.set("step", std::numeric_limits<std::int64_t>::min());
  values.set("text", std::string(100000, 't') + " \xc3\xa9");
  values.set("none", "");
  values.set("sums", std::vector<double>(20000, 0.1));
  values.set("nothing", std::vector<double>{});
  values.set("list", std::vector<std::int64_t>{3, 1, 2});
  h5::write_file(path("v.h5"), [&](h5::File& file) { write_values(file, "/state", values); });
  const Values back = read_values(h5::File::open(path("v.h5"), ExitCode::restart), "/state");
  EXPECT_TRUE(back == values);
  EXPECT_EQ(back.all().size(), values.all().size());
  const double nan_back = back.real("nan");
  EXPECT_EQ(std::memcmp(&nan_back, &nan_with_payload, sizeof(double)), 0);
  EXPECT_EQ(back.text("text"), values.text("text"));
  EXPECT_EQ(back.reals("sums"), values.reals("sums"));
}

TEST_F(FilesTest, MissingValueNamesFileAndKey) {
  Values values;
  values.set("dt", 0.5);
  h5::write_file(path("v.h5"), [&](h5::File& file) { write_values(file, "/state", values); });
  const Values back = read_values(h5::File::open(path("v.h5"), ExitCode::restart), "/state");
  std::string message;
  EXPECT_EQ(code_of([&] { back.integer("dt"); }, &message), 3);
  EXPECT_EQ(code_of([&] { back.real("z_blocks"); }, &message), 3);
  EXPECT_NE(message.find("z_blocks"), std::string::npos) << message;
  EXPECT_NE(message.find("v.h5"), std::string::npos) << message;
}

TEST(FieldHash, PartsAddUpAndOrderMatters) {
  const Extents global{4, 3, 2};
  std::vector<double> data(24);
  for (std::size_t n = 0; n < data.size(); ++n) data[n] = static_cast<double>(n % 5);
  const auto whole = field_hash({{0, 0, 0}, global}, global, Precision::double_, data.data());
  const auto lower = field_hash({{0, 0, 0}, {1, 3, 2}}, global, Precision::double_, data.data());
  const auto upper = field_hash({{1, 0, 0}, {4, 3, 2}}, global, Precision::double_, data.data() + 6);
  EXPECT_EQ(lower + upper, whole);
  std::swap(data[3], data[4]);
  EXPECT_NE(field_hash({{0, 0, 0}, global}, global, Precision::double_, data.data()), whole);
}

TEST(ChunkLayout, CoversEachElementOnceWithBoundedChunks) {
  for (const Extents& global : {Extents{1, 1, 1}, Extents{9, 10, 11}, Extents{144, 192, 256},
                                Extents{3, 2048, 3072}, Extents{2, 3, 1000000}, Extents{7, 641, 512}}) {
    const ChunkLayout layout(global, 8);
    std::int64_t volume = 0;
    for (std::int64_t n = 0; n < layout.count(); ++n) {
      EXPECT_GT(layout.box(n).volume(), 0);
      volume += layout.box(n).volume();
    }
    EXPECT_EQ(volume, global[0] * global[1] * global[2]);
    EXPECT_LE(layout.chunk_bytes(), std::max<std::size_t>(1 << 20, static_cast<std::size_t>(global[2]) * 8));
    for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_LE(layout.chunk()[axis], global[axis]);
    EXPECT_EQ(layout.first_of(0, 3), 0);
    EXPECT_EQ(layout.first_of(3, 3), layout.count());
  }
}

// --- the HDF5 layer

TEST_F(FilesTest, ErrorsNameFileObjectAndReason) {
  std::string message;
  EXPECT_EQ(code_of([&] { h5::File::open(path("none.h5"), ExitCode::restart); }, &message), 3);
  EXPECT_NE(message.find("none.h5"), std::string::npos) << message;
  EXPECT_NE(message.find("No such file"), std::string::npos) << message;
  write_plain(path("text.h5"), "hello");
  EXPECT_EQ(code_of([&] { h5::File::open(path("text.h5"), ExitCode::restart); }, &message), 3);
  EXPECT_NE(message.find("HDF5: "), std::string::npos) << message;
  h5::write_file(path("a.h5"), [](h5::File& file) { file.create_group("/g"); });
  EXPECT_EQ(code_of([&] { h5::File::open(path("a.h5"), ExitCode::io).dataset("/g/x"); }, &message), 4);
  EXPECT_NE(message.find("/g/x"), std::string::npos) << message;
}

TEST_F(FilesTest, FailedHdf5FileIsRemovedAndTheNextOneWorks) {
  const auto build = [](h5::File& file) {
    const std::vector<double> data(10000, 1.0);
    file.create_dataset("/x", {10000}, h5::Type::float64).write(h5::Type::float64, data.data());
  };
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{100}, rlim_t{3000}, rlim_t{50000}}) {
    const FileSizeLimit limit(bytes);
    EXPECT_EQ(code_of([&] { h5::write_file(path("x.h5"), build); }), 4) << bytes;
    EXPECT_TRUE(fs::is_empty(directory_));
  }
  h5::write_file(path("x.h5"), build);
  EXPECT_EQ(dataset_shape(path("x.h5"), "/x"), h5::Shape{10000});
  std::vector<double> part(3);
  read_block(path("x.h5"), "/x", {9997}, {3}, part.data());
  EXPECT_EQ(part, std::vector<double>(3, 1.0));
  EXPECT_EQ(code_of([&] { read_block(path("x.h5"), "/x", {9998}, {3}, part.data()); }), 3);
}

// --- time series

TimeSeriesRow row(std::int64_t step) {
  const double t = 0.1 * static_cast<double>(step);
  return {step, t, 0.1, 0.9, 1.0, -1.0 / 3.0, 180.5, 179.5, 0.25, 1e-15};
}

TEST_F(FilesTest, TimeSeriesHeaderAndNumbers) {
  TimeSeries series(path("t.csv"));
  series.append(row(3));
  EXPECT_EQ(read_text(path("t.csv")),
            "step,time,dt,cfl,bulk_velocity,forcing,re_tau_bottom,re_tau_top,kinetic_energy,max_divergence\n"
            "3,0.30000000000000004,0.1,0.9,1,-0.3333333333333333,180.5,179.5,0.25,1e-15\n");
}

TEST_F(FilesTest, TimeSeriesRestartIsBitwise) {
  {
    TimeSeries through(path("through.csv"));
    for (std::int64_t step = 0; step <= 50; step += 10) through.append(row(step));
  }
  {
    TimeSeries first(path("t.csv"));
    for (std::int64_t step = 0; step <= 40; step += 10) first.append(row(step));
  }
  write_plain(path("t.csv"), read_text(path("t.csv")) + "50,5.0,0.1,0.");  // killed in the middle of a line
  TimeSeries second(path("t.csv"), 30);
  for (const std::int64_t step : {40, 50}) second.append(row(step));
  EXPECT_EQ(read_text(path("t.csv")), read_text(path("through.csv")));
}

TEST_F(FilesTest, TimeSeriesRestartWithoutUsableFile) {
  { TimeSeries series(path("missing.csv"), 30); }
  EXPECT_EQ(read_text(path("missing.csv")), std::string(TimeSeries::header()) + "\n");
  write_plain(path("torn.csv"), "step,time,d");
  { TimeSeries series(path("torn.csv"), 30); }
  EXPECT_EQ(read_text(path("torn.csv")), std::string(TimeSeries::header()) + "\n");
  write_plain(path("other.csv"), "a,b\n1,2\n");
  EXPECT_EQ(code_of([&] { TimeSeries(path("other.csv"), 30); }), 3);
  EXPECT_EQ(read_text(path("other.csv")), "a,b\n1,2\n");
}

TEST_F(FilesTest, TimeSeriesReportsAFullDisk) {
  TimeSeries series(path("t.csv"));
  const FileSizeLimit limit(150);
  EXPECT_EQ(code_of([&] {
              for (std::int64_t step = 0; step < 10; ++step) series.append(row(step));
            }),
            4);
}

// --- statistics

StatisticsSpec statistics_spec(const std::string& path) {
  StatisticsSpec spec;
  spec.path = path;
  spec.provenance = {"0.1.0", "abc123", std::string(70000, 'c')};
  spec.attributes.set("viscosity", 3.5e-4);
  spec.series = {{"u", "sum of u / U_b", "1", ProfileLocation::center},
                 {"uw", "sum of u w / U_b^2", "1", ProfileLocation::z_face}};
  spec.z = {0.25, 1.0, 1.75};
  spec.z_face = {0, 0.5, 1.5, 2};
  return spec;
}

StatisticsBlock statistics_block(int n) {
  const double v = 0.1 * n;
  return {10 + n, v, v + 0.1, 100 * (n + 1), {{v, v + 1, v + 2}, {0, v / 3, v / 7, 0}}};
}

TEST_F(FilesTest, StatisticsRestartGivesTheSameBytes) {
  StatisticsFile through(statistics_spec(path("through.h5")));
  for (int n = 0; n < 5; ++n) through.append(statistics_block(n));

  {
    StatisticsFile first(statistics_spec(path("s.h5")));
    for (int n = 0; n < 4; ++n) first.append(statistics_block(n));
  }
  StatisticsFile second(statistics_spec(path("s.h5")), 250);
  ASSERT_EQ(second.blocks().size(), 2U);
  EXPECT_EQ(second.blocks()[1].sums, statistics_block(1).sums);
  EXPECT_EQ(second.blocks()[1].samples, 11);
  for (int n = 2; n < 5; ++n) second.append(statistics_block(n));
  EXPECT_TRUE(read_text(path("s.h5")) == read_text(path("through.h5")));
}

TEST_F(FilesTest, StatisticsLayout) {
  StatisticsFile file(statistics_spec(path("s.h5")));
  EXPECT_EQ(dataset_shape(path("s.h5"), "/u"), (h5::Shape{0, 3}));
  file.append(statistics_block(0));
  file.append(statistics_block(1));
  EXPECT_EQ(dataset_shape(path("s.h5"), "/u"), (h5::Shape{2, 3}));
  EXPECT_EQ(dataset_shape(path("s.h5"), "/uw"), (h5::Shape{2, 4}));
  EXPECT_EQ(dataset_shape(path("s.h5"), "/grid/z_face"), h5::Shape{4});
  const h5::File opened = h5::File::open(path("s.h5"), ExitCode::io);
  EXPECT_EQ(opened.group("/").real("viscosity"), 3.5e-4);
  EXPECT_EQ(opened.group("/").text("resolved_case").size(), 70000U);
}

TEST_F(FilesTest, StatisticsDamageAndMismatchAreRefused) {
  const double pattern = 0.1 + 2;  // u of block 1
  {
    StatisticsFile file(statistics_spec(path("s.h5")));
    file.append(statistics_block(0));
    file.append(statistics_block(1));
  }
  EXPECT_TRUE(describe(path("s.h5")).intact());
  StatisticsSpec other = statistics_spec(path("s.h5"));
  other.series[0].name = "v";
  EXPECT_EQ(code_of([&] { StatisticsFile(other, 100); }), 3);
  StatisticsSpec grid = statistics_spec(path("s.h5"));
  grid.z[1] = 1.01;
  EXPECT_EQ(code_of([&] { StatisticsFile(grid, 100); }), 3);
  flip_byte(path("s.h5"), &pattern, sizeof(pattern));
  EXPECT_EQ(code_of([&] { StatisticsFile(statistics_spec(path("s.h5")), 100); }), 3);
  EXPECT_FALSE(describe(path("s.h5")).intact());
}

TEST_F(FilesTest, StatisticsFileSurvivesAFullDisk) {
  StatisticsFile file(statistics_spec(path("s.h5")));
  file.append(statistics_block(0));
  const std::string before = read_text(path("s.h5"));
  {
    const FileSizeLimit limit(4000);
    EXPECT_EQ(code_of([&] { file.append(statistics_block(1)); }), 4);
  }
  EXPECT_TRUE(read_text(path("s.h5")) == before);
}

// --- slices, XDMF, descriptions

SliceSnapshot snapshot(std::int64_t step) {
  const GridLines grid = grid_lines(4, 4.0, 3, 3.0, {0, 0.5, 1.5, 2});
  SliceSnapshot snapshot{step, 0.5 * static_cast<double>(step), plane_of(grid, 'z', 1), {}};
  snapshot.fields.push_back({{"u", "streamwise velocity", "1", Location::x_face},
                             std::vector<double>(12, 0.1 * static_cast<double>(step))});
  snapshot.fields.push_back({{"p", "pressure", "1", Location::center}, std::vector<double>(12, 1.0)});
  return snapshot;
}

SliceDescription slice_description(const std::string& directory) {
  return {directory, "z1", 'z', 1.0, {"0.1.0", "abc123", "case"}, Precision::single_};
}

std::vector<std::pair<std::string, std::string>> contents(const std::string& directory) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    files.emplace_back(entry.path().filename(), read_text(entry.path()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST_F(FilesTest, SliceRestartGivesTheSameFiles) {
  SliceSeries through(slice_description(path("through")));
  for (const std::int64_t step : {10, 20, 30}) through.write(snapshot(step));
  {
    SliceSeries first(slice_description(path("s")));
    for (const std::int64_t step : {10, 20}) first.write(snapshot(step));
  }
  {
    SliceSeries second(slice_description(path("s")), 15);
    EXPECT_FALSE(fs::exists(path("s/z1_0000020.h5")));
    for (const std::int64_t step : {20, 30}) second.write(snapshot(step));
  }
  EXPECT_EQ(contents(path("s")).size(), 4U);
  EXPECT_TRUE(contents(path("s")) == contents(path("through")));
  SliceSeries fresh(slice_description(path("s")));
  EXPECT_EQ(contents(path("s")).size(), 1U);
}

TEST_F(FilesTest, SliceHoldsPlaneCoordinates) {
  SliceSeries series(slice_description(directory_));
  const std::string file = series.write(snapshot(20));
  EXPECT_EQ(dataset_shape(file, "/u"), (h5::Shape{1, 3, 4}));
  double z[2];
  read_block(file, "/grid/z_node", {0}, {2}, z);
  EXPECT_EQ(z[0], 0.5);
  EXPECT_EQ(z[1], 1.5);
  const h5::File opened = h5::File::open(file, ExitCode::io);
  EXPECT_EQ(opened.group("/").real("time"), 10.0);
  EXPECT_EQ(opened.group("/").integer("step"), 20);
  EXPECT_TRUE(describe(file).intact()) << describe(file).text();
}

TEST(Xdmf, DescribesCellsOnNodes) {
  const std::string text = xdmf_document({"step_0000001.h5", 1.5, {5, 4, 3}, Precision::single_, {"u"}});
  EXPECT_NE(text.find("TopologyType=\"3DRectMesh\" Dimensions=\"6 5 4\""), std::string::npos) << text;
  EXPECT_NE(text.find("<DataItem Dimensions=\"5 4 3\" NumberType=\"Float\" Precision=\"4\" "
                      "Format=\"HDF\">step_0000001.h5:/u<"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<Time Value=\"1.5\"/>"), std::string::npos);
}

std::string write_small_checkpoint(const std::string& directory, std::int64_t step) {
  const Extents global{3, 4, 5};
  std::vector<double> data(60, 0.3);
  for (std::size_t n = 1; n < data.size(); ++n) data[n] = static_cast<double>(n);
  CheckpointWriter writer(
      MPI_COMM_SELF,
      {directory, step, 1.5, {"0.1.0", "abc123", "case"}, grid_lines(5, 5.0, 4, 4.0, {0, 0.5, 1.5, 2})},
      {global, {0, 0, 0}, global});
  writer.write_field({"u", "streamwise velocity / U_b", "1", Location::x_face}, data.data());
  writer.write_field({"v", "spanwise velocity / U_b", "1", Location::y_face}, data.data());
  writer.write_field({"w", "wall-normal velocity / U_b", "1", Location::z_face}, data.data());
  writer.write_field({"p", "pressure / (rho U_b^2)", "1", Location::center}, data.data());
  Values state;
  state.set("dt", 0.0123);
  writer.write_values("/state", state);
  return writer.commit(2).path;
}

/// Not a test of its own: writes one file of each kind for test_checkpoint_h5py.py, where that asks for them.
TEST(Sample, ForOtherPrograms) {
  const char* directory = std::getenv("SLUICE_SAMPLE_DIR");
  if (directory == nullptr) GTEST_SKIP() << "SLUICE_SAMPLE_DIR is not set";
  write_small_checkpoint(directory, 12);
  StatisticsFile statistics(statistics_spec(std::string(directory) + "/statistics.h5"));
  for (int n = 0; n < 2; ++n) statistics.append(statistics_block(n));
  SliceSeries(slice_description(directory)).write(snapshot(20));
}

TEST_F(FilesTest, DescriptionTellsWhatACheckpointHolds) {
  const std::string file = write_small_checkpoint(path("checkpoints"), 1200);
  EXPECT_EQ(file, path("checkpoints/step_0001200.h5"));
  const FileDescription intact = describe(file);
  EXPECT_TRUE(intact.intact()) << intact.text();
  for (const char* part : {"Sluice checkpoint", "step: 1200", "time: 1.5", "/u: (3, 4, 5), 8-byte",
                           "/state/dt: 0.0123", "abc123"}) {
    EXPECT_NE(intact.text().find(part), std::string::npos) << part << " in\n" << intact.text();
  }
  const double value = 0.3;
  flip_byte(file, &value, sizeof(value));
  const FileDescription damaged = describe(file);
  EXPECT_FALSE(damaged.intact());
  EXPECT_NE(damaged.text().find("not intact"), std::string::npos);
  EXPECT_NE(damaged.text().find("/state/dt: 0.0123"), std::string::npos)
      << "damage in one part hides another";
  write_plain(path("text.h5"), "hello");
  EXPECT_EQ(code_of([&] { describe(path("text.h5")); }), 3);
}

TEST_F(FilesTest, LaterFormatIsRefusedByName) {
  h5::write_file(path("c.h5"), [](h5::File& file) {
    Values root = root_values(format::checkpoint, {"9.9.9", "fff", ""});
    root.set("format_version", 99);
    write_values(file, "/", root);
  });
  std::string message;
  EXPECT_EQ(code_of([&] { verify_checkpoint(MPI_COMM_SELF, path("c.h5")); }, &message), 3);
  EXPECT_NE(message.find("9.9.9"), std::string::npos) << message;
}

TEST_F(FilesTest, ListingKnowsCheckpointsByName) {
  for (const char* name : {"step_0000020.h5", "step_0000003.h5", "step_12345678.h5", "step_0000004.h5.tmp",
                           "step_5.h5", "u.h5"}) {
    write_plain(path(name), "x");
  }
  const auto files = list_checkpoints(directory_);
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].step, 3);
  EXPECT_EQ(files[2].step, 12345678);
}

}  // namespace
}  // namespace sluice::io
