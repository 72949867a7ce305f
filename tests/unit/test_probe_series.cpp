// The files of a probe: parts, restarts, damage.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "io/files/describe.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/probe_series.hpp"
#include "tests/unit/files_fixture.hpp"

namespace sluice::io {
namespace {

using namespace files_test;

constexpr std::int64_t length = 3;
constexpr std::int64_t samples_of_part = 10000;

ProbeDescription description_of(const std::string& directory) {
  ProbeDescription probe{directory, "line", {"0.1.0", "abc123", "case"}, 0.5, 8, 4, h5::Type::float64, {}, {}};
  probe.fields.push_back({"u", "streamwise velocity", "1", Location::x_face});
  std::vector<double> x(static_cast<std::size_t>(length));
  for (std::size_t n = 0; n < x.size(); ++n) x[n] = static_cast<double>(n);
  probe.coordinates = {{"x_face", x}, {"y", {0.25}}, {"z", {0.5}}};
  return probe;
}

double value_of(std::int64_t step) {
  return 1.0 / static_cast<double>(step);
}

ProbeSamples samples_of(std::int64_t first, std::int64_t last) {
  ProbeSamples samples;
  std::vector<double> values;
  for (std::int64_t step = first; step <= last; ++step) {
    samples.step.push_back(step);
    samples.time.push_back(0.5 * static_cast<double>(step));
    values.insert(values.end(), static_cast<std::size_t>(length), value_of(step));
  }
  samples.fields.emplace_back(values.size() * sizeof(double));
  std::memcpy(samples.fields[0].data(), values.data(), samples.fields[0].size());
  return samples;
}

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) names.push_back(std::filesystem::relative(entry.path(), directory));
  }
  std::ranges::sort(names);
  return names;
}

/// As a reader that knows nothing of the parts finds it.
void expect_samples(const std::string& directory, std::int64_t count) {
  const h5::File file = h5::File::open(directory + "/line.h5", ExitCode::io);
  const auto steps = file.dataset("/step").shape();
  ASSERT_EQ(steps, h5::Shape{count});
  ASSERT_EQ(file.dataset("/u").shape(), (h5::Shape{count, 1, 1, length}));
  std::vector<double> time(static_cast<std::size_t>(count));
  std::vector<double> u(static_cast<std::size_t>(count * length));
  file.dataset("/time").read(h5::Type::float64, time.data());
  file.dataset("/u").read(h5::Type::float64, u.data());
  for (std::int64_t n = 0; n < count; ++n) {
    EXPECT_EQ(time[static_cast<std::size_t>(n)], 0.5 * static_cast<double>(n + 1));
    EXPECT_EQ(u[static_cast<std::size_t>((n + 1) * length - 1)], value_of(n + 1)) << n;
  }
}

TEST_F(FilesTest, ProbeSamplesAreInParts) {
  ProbeSeries series(description_of(directory_), std::nullopt);
  series.go_back();
  EXPECT_EQ(description_of("").part_samples(), samples_of_part);
  series.append(samples_of(1, 7500));
  expect_samples(directory_, 7500);
  series.append(samples_of(7501, 25000));
  expect_samples(directory_, 25000);
  EXPECT_EQ(files_in(directory_), (std::vector<std::string>{"line.h5", "parts/line_0000001.h5", "parts/line_0010001.h5",
                                                            "parts/line_0020001.h5"}));
  for (const std::string& name : files_in(directory_)) EXPECT_TRUE(describe(path(name)).intact()) << name;
  const h5::File part = h5::File::open(path("parts/line_0020001.h5"), ExitCode::io);
  EXPECT_EQ(part.group("/").real("grid_velocity"), 0.5);
  EXPECT_EQ(series.last_step(), 25000);
  EXPECT_EQ(probe_sample_hashes(part).back(), std::pair(std::int64_t{25000}, series.hash_at(25000).value_or(0)));
}

TEST_F(FilesTest, ProbeRestartGivesTheSameFiles) {
  ProbeSeries through(description_of(path("through")), std::nullopt);
  through.go_back();
  through.append(samples_of(1, 25000));
  ProbeSeries first(description_of(path("s")), std::nullopt);
  first.go_back();
  first.append(samples_of(1, 25000));
  for (const std::int64_t step : {20001, 20000, 15000, 1}) {  // beginning, end and middle of a part
    ProbeSeries second(description_of(path("s")), step);
    EXPECT_EQ(second.last_step(), step);
    EXPECT_TRUE(second.warnings().empty());
    second.go_back();
    expect_samples(path("s"), step);
    second.append(samples_of(step + 1, 25000));
    EXPECT_EQ(files_in(path("s")), files_in(path("through")));
    for (const std::string& name : files_in(path("s")))
      EXPECT_TRUE(read_text(path("s/" + name)) == read_text(path("through/" + name))) << step << name;
  }
  ProbeSeries(path("s"), "line", 15000).go_back();  // by a case without this probe
  expect_samples(path("s"), 15000);
  ProbeSeries(path("s"), "line", 0).go_back();
  EXPECT_TRUE(files_in(path("s")).empty());
}

ProbeDescription slice_of(const std::string& directory) {
  ProbeDescription slice = description_of(directory);
  slice.slice = {'z', 0.5};
  return slice;
}

/// The number of samples in the file for ParaView that are in this part.
std::size_t listed(const std::string& directory, const std::string& part) {
  const std::string text = read_text(directory + "/line.xdmf");
  std::size_t count = 0;
  for (std::size_t at = text.find(part + ":/u<"); at != std::string::npos; at = text.find(part + ":/u<", at + 1))
    ++count;
  return count;
}

TEST_F(FilesTest, SliceHasAFileForParaView) {
  ProbeSeries series(slice_of(directory_), std::nullopt);
  series.go_back();
  series.append(samples_of(1, samples_of_part));
  series.append(samples_of(samples_of_part + 1, samples_of_part + 2));
  const std::string first = "parts/line_0000001.h5";
  const std::string second = "parts/line_0010001.h5";
  EXPECT_EQ(listed(directory_, first), 10000U);
  EXPECT_EQ(listed(directory_, second), 2U);
  const std::string whole = read_text(path("line.xdmf"));

  ProbeSeries again(slice_of(directory_), 9999);
  again.go_back();
  EXPECT_EQ(listed(directory_, first), 9999U);
  EXPECT_EQ(listed(directory_, second), 0U);
  again.append(samples_of(10000, samples_of_part + 2));
  EXPECT_TRUE(read_text(path("line.xdmf")) == whole);

  ProbeSeries(directory_, "line", 3).go_back();  // by a case without this slice
  EXPECT_EQ(listed(directory_, first), 3U);
  const h5::File part = h5::File::open(path(first), ExitCode::io);
  EXPECT_EQ(part.group("/").text("normal"), "z");
  EXPECT_EQ(part.group("/").real("at"), 0.5);
  ProbeSeries(directory_, "line", 0).go_back();
  EXPECT_TRUE(files_in(directory_).empty());
}

TEST_F(FilesTest, ProbeOfOtherPointsIsRefused) {
  ProbeSeries series(description_of(directory_), std::nullopt);
  series.go_back();
  series.append(samples_of(1, 2));
  ProbeDescription other = description_of(directory_);
  other.coordinates["y"] = {0.75};
  EXPECT_EQ(code_of([&] { ProbeSeries(other, 2); }), 3);
  other = description_of(directory_);
  other.fields.push_back({"p", "pressure", "1", Location::center});
  EXPECT_EQ(code_of([&] { ProbeSeries(other, 2); }), 3);
  other = description_of(directory_);
  other.type = h5::Type::float32;  // a part that a build of another precision goes on with would mix both
  EXPECT_EQ(code_of([&] { ProbeSeries(other, 2); }), 3);
}

TEST_F(FilesTest, ProbeIsReadWithoutItsDamagedParts) {
  ProbeSeries series(description_of(directory_), std::nullopt);
  series.go_back();
  series.append(samples_of(1, 15000));
  const double value = value_of(15000);
  flip_byte(path("parts/line_0010001.h5"), &value, sizeof(value));
  EXPECT_FALSE(describe(path("parts/line_0010001.h5")).intact());
  ProbeSeries again(description_of(directory_), 15000);
  EXPECT_EQ(again.last_step(), 10000);
  ASSERT_EQ(again.warnings().size(), 1U);
  EXPECT_EQ(again.warning_of_newest(), again.warnings()[0]);
  EXPECT_TRUE(again.warnings()[0].starts_with("samples are left out of line.h5: ")) << again.warnings()[0];
  again.go_back();
  EXPECT_FALSE(std::filesystem::exists(path("parts/line_0010001.h5")));
  EXPECT_TRUE(std::filesystem::exists(path("parts/line_0010001.h5.left_out")));
  expect_samples(directory_, 10000);
}

TEST_F(FilesTest, ProbePartsDoNotOverlap) {
  ProbeSeries through(description_of(path("through")), std::nullopt);
  through.go_back();
  through.append(samples_of(1, 10000));
  ProbeSeries series(description_of(path("s")), std::nullopt);
  series.go_back();
  series.append(samples_of(5000, 6000));
  std::filesystem::copy(path("through/parts/line_0000001.h5"), path("s/parts/line_0000001.h5"));
  ProbeSeries again(description_of(path("s")), 6000);
  ASSERT_EQ(again.warnings().size(), 1U);
  EXPECT_TRUE(again.warnings()[0].ends_with("reaches step 10000, but the next part begins at step 5000"));
  EXPECT_EQ(again.warning_of_newest(), std::nullopt);
  EXPECT_EQ(again.last_step(), 6000);
  again.go_back();
  EXPECT_EQ(files_in(path("s")),
            (std::vector<std::string>{"line.h5", "parts/line_0000001.h5.left_out", "parts/line_0005000.h5"}));
  EXPECT_EQ(h5::File::open(path("s/line.h5"), ExitCode::io).dataset("/step").shape(), h5::Shape{1001});
}

TEST_F(FilesTest, ProbeShowsWhatIsMissing) {
  ProbeSeries series(description_of(directory_), std::nullopt);
  series.go_back();
  series.append(samples_of(1, 15000));
  std::filesystem::remove(path("parts/line_0000001.h5"));
  const h5::File file = h5::File::open(path("line.h5"), ExitCode::io);
  std::vector<double> time(15000);
  std::vector<std::int64_t> steps(15000);
  file.dataset("/time").read(h5::Type::float64, time.data());
  file.dataset("/step").read(h5::Type::int64, steps.data());
  EXPECT_TRUE(std::isnan(time[0]) && std::isnan(time[9999]));
  EXPECT_EQ(time[10000], 5000.5);
  EXPECT_EQ(steps[9999], -1);
}

}  // namespace
}  // namespace sluice::io
