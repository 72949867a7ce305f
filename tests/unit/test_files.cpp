// Atomic text files, values, hashes, the HDF5 layer, XDMF and descriptions, all on one process.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/device/together.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/describe.hpp"
#include "io/files/hashes.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/local_block.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/xdmf.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/unit/files_fixture.hpp"

namespace sluice::io {
namespace {

using namespace files_test;

TEST_F(FilesTest, AtomicFileReplacesAndLeavesNothingBehind) {
  write_atomically(path("a.txt"), "one");
  write_atomically(path("a.txt"), "two");
  EXPECT_EQ(read_text(path("a.txt")), "two");
  EXPECT_FALSE(fs::exists(path("a.txt.tmp")));
}

TEST_F(FilesTest, SpaceIsReservedOrRefused) {
  PosixFile file(path("a"), PosixFile::Mode::create);
  file.reserve(1000, 5000);
  EXPECT_EQ(fs::file_size(path("a")), 6000U);
  const FileSizeLimit limit(10000);
  std::string message;
  EXPECT_EQ(code_of([&] { file.reserve(6000, 5000); }, &message), 4);
  EXPECT_NE(message.find("cannot reserve space: File too large; raise the limit"), std::string::npos) << message;
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
  const int code = code_of([] { PosixFile("/dev/full", PosixFile::Mode::log).write("x"); }, &message);
  EXPECT_EQ(code, 4);
  EXPECT_NE(message.find("No space left"), std::string::npos) << message;
  EXPECT_NE(message.find("free some space"), std::string::npos) << message;
}

TEST_F(FilesTest, UnfinishedFilesAreRemoved) {
  const std::array kept{"step_0000001.h5", "other_0000001.h5.tmp", "step_1.h5.tmp", "step.h5.tmp", "notes.tmp"};
  write_plain(path("step_0000001.h5.tmp"), "rubbish");
  for (const char* name : kept) write_plain(path(name), "good");
  remove_numbered_files(directory_, "step", unfinished_suffix);
  remove_numbered_files(path("missing"), "step", unfinished_suffix);
  EXPECT_FALSE(fs::exists(path("step_0000001.h5.tmp")));
  for (const char* name : kept) EXPECT_TRUE(fs::exists(path(name))) << name;
}

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
  const auto whole = field_hash(whole_box(global), global, sizeof(double), data.data());
  const auto lower = field_hash({{0, 0, 0}, {2, 3, 1}}, global, sizeof(double), data.data());
  const auto upper = field_hash({{0, 0, 1}, {2, 3, 4}}, global, sizeof(double), data.data() + 6);
  EXPECT_EQ(lower + upper, whole);
  std::swap(data[3], data[4]);
  EXPECT_NE(field_hash(whole_box(global), global, sizeof(double), data.data()), whole);
}

TEST(PieceLayout, CoversEachElementOnceInOrderWithBoundedPieces) {
  for (const Extents& global : {Extents{1, 1, 1}, Extents{9, 10, 11}, Extents{144, 192, 256}, Extents{3, 2048, 3072},
                                Extents{2, 3, 1000000}, Extents{7, 641, 512}}) {
    const PieceLayout layout(global, 8);
    std::int64_t volume = 0;
    for (std::int64_t n = 0; n < layout.count(); ++n) {
      EXPECT_GT(layout.box(n).volume(), 0);
      EXPECT_EQ(layout.offset(n), 8 * static_cast<std::size_t>(volume));
      volume += layout.box(n).volume();
    }
    EXPECT_EQ(volume, global[0] * global[1] * global[2]);
    EXPECT_EQ(layout.offset(layout.count()), 8 * static_cast<std::size_t>(volume));
    EXPECT_LE(layout.piece_bytes(), std::max<std::size_t>(1 << 20, static_cast<std::size_t>(global[2]) * 8));
    EXPECT_EQ(layout.first_of(0, 3), 0);
    EXPECT_EQ(layout.first_of(3, 3), layout.count());
  }
}

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
    file.write_dataset("/x", {20, 50, 10}, h5::Type::float64, data.data());
  };
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{100}, rlim_t{3000}, rlim_t{50000}}) {
    const FileSizeLimit limit(bytes);
    EXPECT_EQ(code_of([&] { h5::write_file(path("x.h5"), build); }), 4) << bytes;
    EXPECT_TRUE(fs::is_empty(directory_));
  }
  h5::write_file(path("x.h5"), build);
  EXPECT_EQ(dataset_shape(path("x.h5"), "/x"), (h5::Shape{20, 50, 10}));
  std::vector<double> part(3);
  const h5::File opened = h5::File::open(path("x.h5"), ExitCode::restart);
  opened.dataset("/x").read({{7, 49, 19}, {10, 50, 20}}, h5::Type::float64, part.data());
  EXPECT_EQ(part, std::vector<double>(3, 1.0));
  const Box3 beyond{{8, 49, 19}, {11, 50, 20}};
  EXPECT_EQ(code_of([&] { opened.dataset("/x").read(beyond, h5::Type::float64, part.data()); }), 3);
}

TEST(Xdmf, DescribesCellsOnNodes) {
  const std::string text = xdmf_document({"step_0000001.h5", 1.5, {{5, 4, 3}, h5::Type::float32, {"u"}}});
  EXPECT_NE(text.find("TopologyType=\"3DRectMesh\" Dimensions=\"6 5 4\""), std::string::npos) << text;
  EXPECT_NE(text.find("<DataItem Dimensions=\"5 4 3\" NumberType=\"Float\" Precision=\"4\" "
                      "Format=\"HDF\">step_0000001.h5:/u<"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<Time Value=\"1.5\"/>"), std::string::npos);
}

TEST_F(FilesTest, XdmfOfNoTimesIsNoFile) {
  const std::string file = path("series.xdmf");
  write_xdmf(file, xdmf_points_series("a", {{"a_1.h5", 0.5, {{1, 2, 3}, h5::Type::float32, {"q"}}}}, {}));
  EXPECT_NE(read_text(file).find("a_1.h5:/q"), std::string::npos);
  write_xdmf(file, xdmf_points_series("a", {}, {}));
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(xdmf_plane({"a", {"z", "y", "x"}, {{1, 2, 3}, h5::Type::float32, {"u"}}, {{"parts/a_1.h5", {}}}}), "");
}

TEST_F(FilesTest, DescriptionTellsWhatACheckpointHolds) {
  const std::string file = write_small_checkpoint(path("checkpoints"), 1200);
  EXPECT_EQ(file, path("checkpoints/step_0001200.h5"));
  const FileDescription intact = describe(file);
  EXPECT_TRUE(intact.intact()) << intact.text();
  for (const char* part :
       {"Sluice checkpoint", "step: 1200", "time: 1.5", "/u: (3, 4, 5), 8-byte", "/state/dt: 0.0123", "abc123"}) {
    EXPECT_NE(intact.text().find(part), std::string::npos) << part << " in\n" << intact.text();
  }
  const double value = 0.3;
  flip_byte(file, &value, sizeof(value));
  const FileDescription damaged = describe(file);
  EXPECT_FALSE(damaged.intact());
  EXPECT_NE(damaged.text().find("not intact"), std::string::npos);
  EXPECT_NE(damaged.text().find("/state/dt: 0.0123"), std::string::npos) << "damage in one part hides another";
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

/// Another task of the thread might wait for a thread that waits for HDF5.
TEST(Hdf5Turn, KeepsTheTurnOfItsTask) {
  std::string text;
  device::run_together({[&] {
                          const h5::Turn turn;
                          text += "a";
                          device::end_turn();
                          text += "b";
                        },
                        [&] { text += "c"; }});
  EXPECT_EQ(text, "abc");
}

TEST_F(FilesTest, ListingKnowsCheckpointsByName) {
  for (const char* name :
       {"step_0000020.h5", "step_0000003.h5", "step_12345678.h5", "step_0000004.h5.tmp", "step_5.h5", "u.h5"}) {
    write_plain(path(name), "x");
  }
  const auto files = list_checkpoints(directory_);
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0], 3);
  EXPECT_EQ(files[2], 12345678);
}

}  // namespace
}  // namespace sluice::io
