// Time series and statistics: restarts to the byte, damage, full disks.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <sstream>
#include <utility>

#include "io/files/describe.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/probe_series.hpp"
#include "io/files/statistics_file.hpp"
#include "io/files/stored_blocks.hpp"
#include "io/files/time_series.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/unit/files_fixture.hpp"
#include "tests/unit/statistics_fixture.hpp"

namespace sluice::io {
namespace {

using namespace files_test;

TimeSeriesRow row(std::int64_t step) {
  const double t = 0.1 * static_cast<double>(step);
  return {step, t, 0.1, 0.9, 1.0, -1.0 / 3.0, 180.5, 179.5, 0.25, 1e-15, {}};
}

TEST_F(FilesTest, TimeSeriesHeaderAndNumbers) {
  TimeSeries series(path("t.csv"));
  series.append(row(3));
  EXPECT_EQ(read_text(path("t.csv")),
            "step,time,dt,cfl,bulk_velocity,forcing,re_tau_bottom,re_tau_top,kinetic_energy,max_divergence,hash\n"
            "3,0.30000000000000004,0.1,0.9,1,-0.3333333333333333,180.5,179.5,0.25,1e-15,888803962997305\n");
}

TEST_F(FilesTest, TimeSeriesRestartAddsMissingHashes) {
  {
    TimeSeries through(path("through.csv"));
    for (const std::int64_t step : {10, 20, 30}) through.append(row(step));
  }
  std::string without;
  std::istringstream lines(read_text(path("through.csv")));
  for (std::string line; std::getline(lines, line);) without += line.substr(0, line.rfind(',')) + "\n";
  write_plain(path("t.csv"), without);
  TimeSeries second(path("t.csv"), 20);
  second.append(row(30));
  EXPECT_EQ(read_text(path("t.csv")), read_text(path("through.csv")));
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
  EXPECT_EQ(read_text(path("missing.csv")), TimeSeries::header() + "\n");
  write_plain(path("torn.csv"), "step,time,d");
  { TimeSeries series(path("torn.csv"), 30); }
  EXPECT_EQ(read_text(path("torn.csv")), TimeSeries::header() + "\n");
  write_plain(path("other.csv"), "a,b\n1,2\n");
  EXPECT_EQ(code_of([&] { TimeSeries(path("other.csv"), 30); }), 3);
  EXPECT_EQ(read_text(path("other.csv")), "a,b\n1,2\n");
}

const std::vector<std::string> further{"power", "T_1.mean"};

TimeSeriesRow long_row(std::int64_t step) {
  TimeSeriesRow longer = row(step);
  longer.further = {0.1 * static_cast<double>(step), -2};
  return longer;
}

TEST_F(FilesTest, TimeSeriesWithFurtherColumns) {
  {
    TimeSeries through(path("through.csv"), std::nullopt, further);
    for (const std::int64_t step : {10, 20, 30}) through.append(long_row(step));
    EXPECT_ANY_THROW(through.append(row(40)));
  }
  const std::string text = read_text(path("through.csv"));
  EXPECT_TRUE(
      text.starts_with("step,time,dt,cfl,bulk_velocity,forcing,re_tau_bottom,re_tau_top,kinetic_energy,"
                       "max_divergence,power,T_1.mean,hash\n10,1,0.1,0.9,1,-0.3333333333333333,180.5,179.5,"
                       "0.25,1e-15,1,-2,"));
  const StoredTimeSeries stored = read_time_series(path("through.csv"));
  EXPECT_EQ(stored.further, further);
  ASSERT_EQ(stored.rows.size(), 3U);
  for (const StoredRow& found : stored.rows) EXPECT_EQ(found.problem, "");

  write_plain(path("t.csv"), text + "40,4.0,0.1");
  {
    TimeSeries second(path("t.csv"), 20, further);
    second.append(long_row(30));
  }
  EXPECT_EQ(read_text(path("t.csv")), text);
}

TEST_F(FilesTest, TimeSeriesRefusesOtherColumns) {
  { TimeSeries(path("t.csv"), std::nullopt, further).append(long_row(10)); }
  const std::string text = read_text(path("t.csv"));
  std::string message;
  EXPECT_EQ(code_of([&] { TimeSeries(path("t.csv"), 10, {"power"}); }, &message), 3);
  EXPECT_NE(message.find("max_divergence,power,T_1.mean,hash', but this run writes 'step,"), std::string::npos)
      << message;
  EXPECT_EQ(code_of([&] { TimeSeries(path("t.csv"), 10); }), 3);
  EXPECT_EQ(read_text(path("t.csv")), text);
  const std::string common = TimeSeries::header().substr(0, TimeSeries::header().rfind(','));
  for (const char* wrong :
       {",power", ",power,power,hash", ",po wer,hash", ",,hash", ",hash,hash", ",power,hash,", "x"}) {
    write_plain(path("wrong.csv"), common + wrong + "\n");
    EXPECT_EQ(code_of([&] { read_time_series(path("wrong.csv")); }), 3) << wrong;
  }
  for (const char* cut : {"", ",", ",pow", ",power,T_1.mean,hash"}) {
    write_plain(path("cut.csv"), common + cut);
    EXPECT_TRUE(read_time_series(path("cut.csv")).incomplete_row);
    { TimeSeries(path("cut.csv"), 10, further); }
    EXPECT_EQ(read_text(path("cut.csv")), TimeSeries::header(further) + "\n");
  }
}

TEST_F(FilesTest, TimeSeriesReportsAFullDisk) {
  TimeSeries series(path("t.csv"));
  const FileSizeLimit limit(150);
  EXPECT_EQ(code_of([&] {
              for (std::int64_t step = 0; step < 10; ++step) series.append(row(step));
            }),
            4);
}

TEST_F(FilesTest, StatisticsRestartGivesTheSameBytes) {
  StatisticsFile through = begun(statistics_spec(path("through.h5")));
  for (int n = 0; n < 5; ++n) through.append(statistics_block(n), parameters(1e-3));

  {
    StatisticsFile first = begun(statistics_spec(path("s.h5")));
    for (int n = 0; n < 4; ++n) first.append(statistics_block(n), parameters(1e-3));
  }
  StatisticsFile second = begun(statistics_spec(path("s.h5")), 250);
  ASSERT_EQ(second.blocks().size(), 2U);
  EXPECT_EQ(second.blocks()[1].sums, statistics_block(1).sums);
  EXPECT_EQ(second.blocks()[1].samples, 11);
  EXPECT_EQ(second.blocks()[1].forcing, 0.2);
  for (int n = 2; n < 5; ++n) second.append(statistics_block(n), parameters(1e-3));
  EXPECT_TRUE(read_text(path("s.h5")) == read_text(path("through.h5")));
}

TEST_F(FilesTest, StatisticsBlocksKnowTheirParameters) {
  {
    StatisticsFile file = begun(statistics_spec(path("s.h5")));
    for (int n = 0; n < 4; ++n) file.append(statistics_block(n), parameters(n < 2 ? 1e-3 : 2e-3));
  }
  const auto sets_of = [&] {
    std::vector<std::int64_t> sets;
    const StatisticsFile file(statistics_spec(path("s.h5")), true);
    for (const StatisticsBlock& block : file.blocks()) sets.push_back(block.parameter_set);
    return sets;
  };
  EXPECT_EQ(sets_of(), (std::vector<std::int64_t>{0, 0, 1, 1}));
  EXPECT_EQ(h5::File::open(path("s.h5"), ExitCode::io).group("/parameter_set_1").real("viscosity"), 2e-3);
  EXPECT_TRUE(describe(path("s.h5")).intact());

  // Going back drops the parameters of the blocks that are dropped.
  begun(statistics_spec(path("s.h5")), 250).append(statistics_block(2), parameters(1e-3));
  EXPECT_EQ(sets_of(), (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_FALSE(h5::File::open(path("s.h5"), ExitCode::io).has("/parameter_set_1"));
  begun(statistics_spec(path("s.h5")), 300).append(statistics_block(3), parameters(2e-3));
  EXPECT_EQ(sets_of(), (std::vector<std::int64_t>{0, 0, 0, 1}));

  // A block that begins no earlier than that time is dropped too.
  StatisticsFile(statistics_spec(path("s.h5")), true).truncate_after(400, 0.3);
  EXPECT_EQ(sets_of().size(), 3U);
}

/// A version of Sluice may add keys. Statistics sampled before have the key's default, or what the flow had before
/// there was the key; without either they are unknown.
TEST_F(FilesTest, StatisticsParametersOfAnotherVersion) {
  const auto set_of = [](const std::vector<std::pair<std::string, std::string>>& keys) {
    Values values = parameters(1e-3);
    for (const auto& [name, text] : keys) values.set(name, text);
    return values;
  };
  StatisticsFile file = begun(statistics_spec(path("s.h5")));
  auto number_of_next = [&, n = 0](const Values& set) mutable {
    file.append(statistics_block(n++), set);
    return file.blocks().back().parameter_set;
  };
  EXPECT_EQ(number_of_next(set_of({})), 0);
  EXPECT_EQ(number_of_next(set_of({{"flow.type", "channel"}})), 0) << "the default";
  EXPECT_EQ(number_of_next(set_of({{"solver.order", "2"}})), 0) << "what the flow had before there was the key";
  EXPECT_EQ(number_of_next(set_of({{"flow.type", "couette"}})), 1);
  EXPECT_EQ(number_of_next(set_of({})), 2);
  EXPECT_EQ(number_of_next(set_of({{"walls.top.type", "no_slip"}})), 3) << "no default: unknown before";
  EXPECT_EQ(number_of_next(set_of({{"walls.top.type", "no_slip"}})), 3);
  EXPECT_EQ(number_of_next(set_of({{"walls.top.type", "no_slip"}, {"a key that went", "0"}})), 4);
  EXPECT_EQ(number_of_next(set_of({{"walls.top.type", "no_slip"}, {"solver.order", "4"}})), 5) << "today's default";
  EXPECT_EQ(number_of_next(set_of({{"walls.top.velocity", "[1, 1e-05, 0]"}})), 6);
  EXPECT_EQ(number_of_next(set_of({{"walls.top.velocity", "[1, 1.0e-05, 0]"}})), 6) << "how numbers are written now";
}

TEST_F(FilesTest, StatisticsLayout) {
  StatisticsFile file = begun(statistics_spec(path("s.h5")));
  EXPECT_EQ(dataset_shape(path("s.h5"), "/u"), (h5::Shape{0, 3}));
  file.append(statistics_block(0), parameters(1e-3));
  file.append(statistics_block(1), parameters(1e-3));
  EXPECT_EQ(dataset_shape(path("s.h5"), "/u"), (h5::Shape{2, 3}));
  EXPECT_EQ(dataset_shape(path("s.h5"), "/uw"), (h5::Shape{2, 4}));
  EXPECT_EQ(dataset_shape(path("s.h5"), "/grid/z_face"), h5::Shape{4});
  const h5::File opened = h5::File::open(path("s.h5"), ExitCode::io);
  EXPECT_EQ(opened.group("/").real("viscosity"), 3.5e-4);
  EXPECT_EQ(opened.group("/").text("resolved_case").size(), 70000U);
}

/// A spectrum has its wavenumbers as a third axis.
TEST_F(FilesTest, SpectraLayoutAndRestart) {
  StatisticsSpec spec = statistics_spec(path("s.h5"));
  spec.profiles = {{"uu_kx", "u squared", "1", ProfileAxis::z_center, ModeAxis::kx},
                   {"ww_ky", "w squared", "1", ProfileAxis::z_face, ModeAxis::ky},
                   {"uu_kxky", "u squared", "1", ProfileAxis::chosen_center, ModeAxis::kxky, 2},
                   {"ww_kxky", "w squared", "1", ProfileAxis::chosen_face, ModeAxis::kxky, 2}};
  spec.kx = {0, 1};
  spec.ky = {0, 2, 4};
  spec.chosen_centers = {"z_kxky", {1.0, 1.75}};
  spec.chosen_faces = {"z_face_kxky", {0.5, 1.5}};
  StatisticsBlock block = statistics_block(0);
  block.sums = {std::vector<double>(3 * 2), std::vector<double>(4 * 3), std::vector<double>(2 * 3 * 2),
                std::vector<double>(2 * 3 * 2)};
  for (auto& sums : block.sums) std::iota(sums.begin(), sums.end(), 1.0);
  begun(spec).append(block, parameters(1e-3));
  EXPECT_EQ(dataset_shape(spec.path, "/uu_kx"), (h5::Shape{1, 3, 2}));
  EXPECT_EQ(dataset_shape(spec.path, "/ww_ky"), (h5::Shape{1, 4, 3}));
  EXPECT_EQ(dataset_shape(spec.path, "/uu_kxky"), (h5::Shape{1, 2, 3, 2}));
  EXPECT_EQ(h5::File::open(spec.path, ExitCode::io).dataset("/grid/ky").values<double>(), spec.ky);
  EXPECT_EQ(h5::File::open(spec.path, ExitCode::io).dataset("/z_face_kxky").values<double>(), spec.chosen_faces.z);
  EXPECT_TRUE(describe(spec.path).intact());

  const StatisticsFile again(spec, true);
  ASSERT_EQ(again.blocks().size(), 1U);
  EXPECT_EQ(again.blocks()[0].sums, block.sums);
  const StoredBlocks stored = read_stored_blocks(spec.path, Sums::read);
  ASSERT_EQ(stored.blocks.size(), 1U);
  EXPECT_EQ(hash_of(stored.blocks[0], stored.profiles), hash_of(again.blocks()[0], spec.profiles));
  StatisticsSpec other = spec;
  other.kx.push_back(2);
  EXPECT_EQ(code_of([&] { StatisticsFile(other, true); }), 3);
  for (auto heights : {&StatisticsSpec::chosen_centers, &StatisticsSpec::chosen_faces}) {
    other = spec;
    (other.*heights).z[1] += 1e-3;
    std::string message;
    EXPECT_EQ(code_of([&] { StatisticsFile(other, true); }, &message), 3);
    EXPECT_NE(message.find("`heights` cannot change"), std::string::npos) << message;
  }

  // A run that takes no more samples keeps what the file has.
  const std::string before = read_text(spec.path);
  other = spec;
  other.profiles.clear();
  other.chosen_centers.z.clear();
  other.chosen_faces.z.clear();
  StatisticsFile(other, true).truncate_after(1000, std::numeric_limits<double>::infinity());
  EXPECT_EQ(dataset_shape(spec.path, "/ww_kxky"), (h5::Shape{1, 2, 3, 2}));
  EXPECT_TRUE(StatisticsFile(spec, true).blocks()[0].sums == block.sums);
  EXPECT_TRUE(read_text(spec.path).size() == before.size());
}

/// Histograms have their bins as further axes; densities at no heights have no joint ones of u and w.
TEST_F(FilesTest, DensitiesLayoutAndRestart) {
  StatisticsSpec spec = statistics_spec(path("s.h5"));
  spec.profiles = {{"u_histogram", "points", "1", ProfileAxis::z_center, ModeAxis::bins},
                   {"shear_joint", "points", "1", ProfileAxis::wall, ModeAxis::bin_pairs},
                   {"uw_joint", "points", "1", ProfileAxis::chosen_face, ModeAxis::bin_pairs, 2},
                   {"shear_x_width", "width", "1", ProfileAxis::wall}};
  spec.chosen_faces = {"z_joint", {0.5, 1.5}};
  StatisticsBlock block = statistics_block(0);
  block.sums.clear();
  for (const ProfileInfo& profile : spec.profiles)
    block.sums.emplace_back(static_cast<std::size_t>(profile.length({4, 4, 3})));
  for (auto& sums : block.sums) std::iota(sums.begin(), sums.end(), 1.0);
  begun(spec).append(block, parameters(1e-3));
  EXPECT_EQ(dataset_shape(spec.path, "/u_histogram"), (h5::Shape{1, 3, 128}));
  EXPECT_EQ(dataset_shape(spec.path, "/shear_joint"), (h5::Shape{1, 2, 64, 64}));
  EXPECT_EQ(dataset_shape(spec.path, "/uw_joint"), (h5::Shape{1, 2, 64, 64}));
  EXPECT_EQ(dataset_shape(spec.path, "/shear_x_width"), (h5::Shape{1, 2}));
  EXPECT_EQ(h5::File::open(spec.path, ExitCode::io).dataset("/grid/z_joint").values<double>(), spec.chosen_faces.z);
  EXPECT_TRUE(describe(spec.path).intact());
  EXPECT_EQ(StatisticsFile(spec, true).blocks()[0].sums, block.sums);

  // A run that takes no more samples keeps what the file has.
  StatisticsSpec other = spec;
  other.profiles.clear();
  other.chosen_faces.z.clear();
  StatisticsFile(other, true).truncate_after(1000, std::numeric_limits<double>::infinity());
  EXPECT_EQ(dataset_shape(spec.path, "/uw_joint"), (h5::Shape{1, 2, 64, 64}));
  EXPECT_TRUE(StatisticsFile(spec, true).blocks()[0].sums == block.sums);
}

TEST_F(FilesTest, StatisticsDamageAndMismatchAreRefused) {
  const double pattern = 0.1 + 2;  // u of block 1
  {
    StatisticsFile file = begun(statistics_spec(path("s.h5")));
    file.append(statistics_block(0), parameters(1e-3));
    file.append(statistics_block(1), parameters(1e-3));
  }
  EXPECT_TRUE(describe(path("s.h5")).intact());
  StatisticsSpec other = statistics_spec(path("s.h5"));
  other.profiles[0].name = "v";
  EXPECT_EQ(code_of([&] { StatisticsFile(other, true); }), 3);
  StatisticsSpec grid = statistics_spec(path("s.h5"));
  grid.z[1] = 1.01;
  EXPECT_EQ(code_of([&] { StatisticsFile(grid, true); }), 3);
  flip_byte(path("s.h5"), &pattern, sizeof(pattern));
  EXPECT_EQ(code_of([&] { StatisticsFile(statistics_spec(path("s.h5")), true); }), 3);
  EXPECT_EQ(code_of([&] { describe(path("s.h5")); }), 3);
}

TEST_F(FilesTest, StatisticsFileSurvivesAFullDisk) {
  StatisticsFile file = begun(statistics_spec(path("s.h5")));
  file.append(statistics_block(0), parameters(1e-3));
  const std::string before = read_text(path("s.h5"));
  {
    const FileSizeLimit limit(4000);
    EXPECT_EQ(code_of([&] { file.append(statistics_block(1), parameters(1e-3)); }), 4);
  }
  EXPECT_TRUE(read_text(path("s.h5")) == before);
}

/// A slice of u and p at two times.
void write_small_slice(const std::string& directory) {
  ProbeDescription slice{directory, "z1", {"0.1.0", "abc123", "case"}, 0, 2, 3, h5::Type::float32, {}, {}};
  slice.slice = {'z', 1.0};
  slice.fields = {base_fields()[0], base_fields()[pressure_field]};
  slice.coordinates = {{"x", {0.5, 1.5}}, {"x_face", {1, 2}}, {"y", {0.5, 1.5, 2.5}}, {"z", {1}}};
  const std::vector<std::byte> zeros(2 * slice.sample_bytes() / slice.fields.size());
  ProbeSeries series(slice, std::nullopt);
  series.go_back();
  series.append({{10, 20}, {1, 2}, {zeros, zeros}});
}

/// Not a test of its own: writes one file of each kind for test_checkpoint_h5py.py, where that asks for them.
TEST(Sample, ForOtherPrograms) {
  const char* directory = std::getenv("SLUICE_SAMPLE_DIR");
  if (directory == nullptr) GTEST_SKIP() << "SLUICE_SAMPLE_DIR is not set";
  write_small_checkpoint(directory, 12);
  StatisticsFile statistics = begun(statistics_spec(std::string(directory) + "/statistics.h5"));
  for (int n = 0; n < 2; ++n) statistics.append(statistics_block(n), parameters(1e-3));
  write_small_slice(directory);
}

}  // namespace
}  // namespace sluice::io
