// Rank 0 alone holds the sums of spectra and densities, and it alone reads them from a checkpoint: another rank may not
// have the memory for them. Seen at the calls that read files.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <string>
#include <vector>

#include "core/support/collective.hpp"
#include "io/files/hdf5.hpp"
#include "src/commands/commands.hpp"
#include "tests/mpi/checkpoint_fixture.hpp"

namespace {

struct Read {
  std::string file;
  sluice::io::ByteRange bytes;
};
std::vector<Read> reads;
bool noting = false;

ssize_t note(const char* name, int descriptor, void* data, size_t bytes, off_t offset) {
  char path[PATH_MAX] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const auto begin = static_cast<std::uint64_t>(offset);
  if (noting && readlink(link.c_str(), path, sizeof(path) - 1) > 0) reads.push_back({path, {begin, begin + bytes}});
  return reinterpret_cast<ssize_t (*)(int, void*, size_t, off_t)>(dlsym(RTLD_NEXT, name))(descriptor, data, bytes,
                                                                                          offset);
}

}  // namespace

extern "C" {

ssize_t pread(int descriptor, void* data, size_t bytes, off_t offset) {
  return note("pread", descriptor, data, bytes, offset);
}
ssize_t pread64(int descriptor, void* data, size_t bytes, off64_t offset) {
  return note("pread64", descriptor, data, bytes, offset);
}

}  // extern "C"

namespace sluice {
namespace {

using io::checkpoint_test::SharedDirectory;

constexpr const char* case_text = R"(
title: Restart of a run with large open blocks
flow: {type: channel, reynolds: {bulk: 5600}}
domain: {size: [2*pi, pi, 2]}
grid: {cells: [16, 12, 32], stretching: {type: tanh, factor: 1.6}}
time: {steps: 2, cfl: 0.9}
initial: {type: turbulent, seed: 3}
output:
  directory: out
  checkpoint: {every: 100, keep: 1}
  statistics: {start: 0, every: 1, block: 100}
  spectra: {start: 0, every: 1, block: 100, heights: [0.05, 1]}
  densities: {start: 0, every: 1, block: 100, heights: [0.05, 1]}
)";

/// Where the sums of an open block are in a checkpoint.
std::vector<io::ByteRange> ranges_of(const std::string& checkpoint, const std::string& group) {
  const io::h5::File file = io::h5::File::open(checkpoint, ExitCode::restart);
  std::vector<io::ByteRange> ranges;
  for (const std::string& name : file.group(group).datasets()) {
    const io::h5::Dataset dataset = file.dataset(group + "/" + name);
    const auto elements = static_cast<std::uint64_t>(dataset.shape().front());
    ranges.push_back({dataset.address(), dataset.address() + elements * dataset.element_bytes()});
  }
  return ranges;
}

/// Bytes of these ranges that this rank has read from the file, or from the file that was renamed to it. Divided by the
/// size of the ranges: how often it has read them.
double times_read(const std::string& checkpoint, const std::vector<io::ByteRange>& ranges) {
  std::uint64_t bytes = 0;
  std::uint64_t size = 0;
  for (const io::ByteRange& range : ranges) {
    size += range.end - range.begin;
    for (const Read& read : reads) {
      if (read.file != checkpoint && read.file != checkpoint + ".tmp") continue;
      const std::uint64_t begin = std::max(read.bytes.begin, range.begin);
      const std::uint64_t end = std::min(read.bytes.end, range.end);
      bytes += end > begin ? end - begin : 0;
    }
  }
  return static_cast<double>(bytes) / static_cast<double>(size);
}

TEST(RestartReads, SumsThatRankZeroHoldsAreReadThereAlone) {
  const SharedDirectory directory;
  const std::string case_file = directory.path() + "/case.yaml";
  run_on_root(MPI_COMM_WORLD, [&] { std::ofstream(case_file) << case_text; });
  RunOptions first;
  first.input.file = case_file;
  first.output = directory.path() + "/first";
  const std::string read = io::checkpoint_path(first.output + "/checkpoints", 2);
  RunOptions second = first;
  second.output = directory.path() + "/second";
  second.restart = read;
  second.steps = 4;
  const std::string written = io::checkpoint_path(second.output + "/checkpoints", 4);

  noting = true;
  ASSERT_EQ(command_run(first), ExitCode::success);
  ASSERT_EQ(command_run(second), ExitCode::success);
  noting = false;
  const bool root = rank_of(MPI_COMM_WORLD) == 0;
  for (const std::string& checkpoint : {read, written}) {
    for (const std::string group : {"/spectra_open", "/densities_open"}) {
      const double own = times_read(checkpoint, ranges_of(checkpoint, group));
      const double of_rank[2] = {root ? own : 0, root ? 0 : own};
      double max[2] = {};
      MPI_Allreduce(of_rank, max, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      EXPECT_GE(max[0], 1) << "rank 0, " << checkpoint << group;
      // Reads of metadata before and behind the sums extend into them.
      EXPECT_LT(max[1], 0.1) << "other ranks, " << checkpoint << group;
    }
  }
}

}  // namespace
}  // namespace sluice
