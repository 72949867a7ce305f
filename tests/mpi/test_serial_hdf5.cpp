// A program with an HDF5 library without MPI writes directly, and refuses the other writer. What is compiled
// differently then, hdf5_parallel.cpp, is compiled a second time for this test (CMakeLists.txt).
#include "io/files/hdf5_parallel.hpp"
#include "src/bench/bench.hpp"
#include "src/commands/commands.hpp"
#include "src/run/provenance.hpp"
#include "tests/mpi/checkpoint_fixture.hpp"

namespace sluice::io {
namespace {

using namespace checkpoint_test;

constexpr const char* case_text = R"(
flow: {reynolds: {bulk: 5600}}
domain: {size: [2*pi, pi, 2]}
grid: {cells: [16, 12, 32]}
time: {steps: 2}
)";

/// The message of the Error(usage) that `action` throws on every rank.
std::string refusal(const std::function<void()>& action) {
  std::string message;
  const int code = agreed_code([&] {
    try {
      action();
    } catch (const Error& error) {
      message = error.what();
      throw;
    }
  });
  EXPECT_EQ(code, 2);
  return message;
}

void expect_reason(const std::string& message, const std::string& more) {
  EXPECT_NE(message.find(h5::no_parallel_hdf5), std::string::npos) << message;
  EXPECT_NE(message.find(more), std::string::npos) << message;
}

TEST(SerialHdf5, IsNamedInTheVersion) {
  EXPECT_FALSE(h5::is_parallel());
  EXPECT_TRUE(hdf5_library().ends_with(" serial")) << hdf5_library();
}

TEST(SerialHdf5, RefusesACaseWithTheWriter) {
  CaseOptions options;
  options.file = "case.yaml";
  EXPECT_EQ(parse_case(case_text, options, world).settings.output.writer.kind, WriterKind::direct);
  options.settings = {"output.writer=hdf5"};
  expect_reason(refusal([&] { parse_case(case_text, options, world); }), "allowed: direct");
}

TEST(SerialHdf5, RefusesABenchmarkOfTheWriter) {
  const SharedDirectory directory;
  BenchOptions options;
  options.directory = directory.path();
  options.writer = "hdf5";
  expect_reason(refusal([&] { bench_checkpoint(options); }), "bench checkpoint");
}

TEST(SerialHdf5, WritesAndReadsDirectly) {
  const SharedDirectory directory;
  WriteOptions options{{11, 10, 9}, 1, world_size(), 9, {}};
  const std::string path = write_checkpoint<double>(directory.path(), 1, options).path;
  options.writer.kind = WriterKind::hdf5;  // as no case has it: nothing is lost
  expect_reason(refusal([&] { write_checkpoint<double>(directory.path(), 2, options); }), "output.writer hdf5");
  on_root([&] {
    EXPECT_EQ(file_names(directory.path()), (std::vector<std::string>{"step_0000001.h5", "step_0000001.xdmf"}));
  });
  expect_contents<double>(path, options.global, world_size(), 1);
}

}  // namespace
}  // namespace sluice::io
