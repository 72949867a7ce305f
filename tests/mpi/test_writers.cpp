// The writer through parallel HDF5 makes the file that the direct one makes, by collective calls of MPI-IO that have
// the hints of the case, and survives calls that fail. The calls are seen at MPI's profiling interface.
#include <map>
#include <optional>

#include "io/files/describe.hpp"
#include "io/files/field_writer.hpp"
#include "io/files/hdf5_parallel.hpp"
#include "io/files/probe_series.hpp"
#include "tests/mpi/checkpoint_fixture.hpp"

namespace {

/// What becomes of the next write of a field through MPI-IO.
enum class Outcome { done, reported, lost };

struct Calls {
  int collective = 0, independent = 0;                     ///< writes of fields
  std::vector<std::map<std::string, std::string>> opened;  ///< hints of each file
  Outcome outcome = Outcome::done;
};
Calls calls;

constexpr int superblock_bytes = 48;  // which HDF5 writes when it closes a file, on rank 0 alone

bool is_superblock(int count, MPI_Datatype type) {
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  bytes *= count;
  PMPI_Bcast(&bytes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return bytes == superblock_bytes;
}

int written(int (*write)(MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Status*), int& number, MPI_File file,
            MPI_Offset offset, const void* data, int count, MPI_Datatype type, MPI_Status* status) {
  if (is_superblock(count, type)) return write(file, offset, data, count, type, status);
  ++number;
  const Outcome outcome = std::exchange(calls.outcome, Outcome::done);
  // Without data, but it takes part.
  const int result = write(file, offset, data, outcome == Outcome::done ? count : 0, type, status);
  if (outcome == Outcome::lost) MPI_Status_set_elements(status, type, count);
  return outcome == Outcome::reported ? MPI_ERR_NO_SPACE : result;
}

}  // namespace

extern "C" {

int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* data, int count, MPI_Datatype type,
                          MPI_Status* status) {
  return written(PMPI_File_write_at_all, calls.collective, file, offset, data, count, type, status);
}
int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void* data, int count, MPI_Datatype type,
                      MPI_Status* status) {
  return written(PMPI_File_write_at, calls.independent, file, offset, data, count, type, status);
}
int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  std::map<std::string, std::string> hints;
  int count = 0;
  if (info != MPI_INFO_NULL) MPI_Info_get_nkeys(info, &count);
  for (int n = 0; n < count; ++n) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int found = 0;
    MPI_Info_get_nthkey(info, n, key.data());
    MPI_Info_get(info, key.data(), MPI_MAX_INFO_VAL, value.data(), &found);
    hints[key.data()] = value.data();
  }
  calls.opened.push_back(hints);
  return PMPI_File_open(comm, name, mode, info, file);
}

}  // extern "C"

namespace sluice::io {
namespace {

using namespace checkpoint_test;

class Writers : public testing::Test {
 protected:
  void SetUp() override {
    if (!h5::is_parallel()) GTEST_SKIP() << h5::no_parallel_hdf5;
    calls = {};
  }

  static WriteOptions options(WriterKind kind, int py = 1, int pz = world_size()) {
    return {{11, 10, 9}, py, pz, 9, {kind, 1, {}}};
  }
};

template <typename Real>
void expect_same_file(const Extents& global, int py, int pz) {
  std::vector<std::string> files;
  const SharedDirectory directory;
  for (const WriterKind kind : {WriterKind::direct, WriterKind::hdf5}) {
    const WriteOptions options{global, py, pz, 9, {kind, 1, {}}};
    files.push_back(read_text(write_checkpoint<Real>(directory.path(), 7, options).path));
    MPI_Barrier(world);
  }
  EXPECT_TRUE(files[0] == files[1]) << py << " x " << pz << ": " << files[0].size() << " and " << files[1].size();
}

TEST_F(Writers, MakeTheSameFileOnEveryDecomposition) {
  const int size = world_size();
  for (const auto& [py, pz] : {std::pair{1, 1}, {1, size}, {size, 1}, {2, size / 2}}) {
    if (py * pz > size || pz == 0) continue;
    expect_same_file<double>({11, 10, 9}, py, pz);
    expect_same_file<float>({11, 10, 9}, py, pz);
  }
  expect_same_file<double>({5, 300, 120}, size, 1);
}

TEST_F(Writers, WriteEachFieldByOneCallOfAllRanks) {
  const SharedDirectory directory;
  write_checkpoint<double>(directory.path(), 1, options(WriterKind::direct));
  EXPECT_EQ(calls.collective + calls.independent, 0);
  EXPECT_TRUE(calls.opened.empty());
  write_checkpoint<double>(directory.path(), 2, options(WriterKind::hdf5));
  const int count = static_cast<int>(fields.size());
  EXPECT_EQ(calls.collective + calls.independent, count);
  EXPECT_EQ(calls.collective, world_size() > 1 ? count : calls.collective);
  EXPECT_EQ(std::ssize(calls.opened), count);
}

TEST_F(Writers, PassHintsToMpiWhenTheFileIsMadeAndOpened) {
  const SharedDirectory directory;
  WriteOptions with_hints = options(WriterKind::hdf5);
  with_hints.writer.hints = {{"striping_factor", "4"}, {"cb_nodes", "1"}};
  write_checkpoint<double>(directory.path(), 1, with_hints);
  EXPECT_EQ(calls.opened.size(), fields.size() + (world_rank() == 0 ? 1 : 0));
  for (const auto& hints : calls.opened) {
    EXPECT_EQ(hints.at("striping_factor"), "4");
    EXPECT_EQ(hints.at("cb_nodes"), "1");
  }
}

TEST_F(Writers, AlignFields) {
  const SharedDirectory directory;
  for (const WriterKind kind : {WriterKind::direct, WriterKind::hdf5}) {
    WriteOptions aligned = options(kind);
    aligned.writer.alignment = 4096;  // a field has 7920 bytes
    const std::string path = write_checkpoint<double>(directory.path(), 1, aligned).path;
    on_root([&] {
      const h5::File file = h5::File::open(path, ExitCode::io);
      for (const FieldDescriptor& field : fields) EXPECT_EQ(file.dataset("/" + field.name).address() % 4096, 0U);
    });
    expect_contents<double>(path, aligned.global, 1, world_size());
  }
}

TEST_F(Writers, CutFieldsThatAreTooLongForOneCall) {
  const SharedDirectory directory;
  const std::string path = directory.path() + "/field.h5";
  const Extents global{11, 10, 9};
  on_root([&] {
    h5::File file = h5::File::create(path, ExitCode::io);
    file.lay_out_dataset("/u", {11, 10, 9}, h5::Type::float64);
    file.close();
  });
  const LocalBlock block = pencil(global, world_size(), 1, world_rank());
  const std::vector<double> values = index_block<double>(0, block);
  {
    h5::ParallelFile file(world, path, {});
    const FieldWriter writer(world, block, sizeof(double));
    const std::int64_t plane_bytes = 8 * 9 * static_cast<std::int64_t>((10 + world_size() - 1) / world_size());
    writer.write(file, "/u", values.data(), 3 * plane_bytes);
    file.close();
  }
  EXPECT_EQ(calls.collective + calls.independent, 4);  // of 11 planes, 3 at most
  on_root([&] {
    const h5::File file = h5::File::open(path, ExitCode::io);
    EXPECT_EQ(file.dataset("/u").values<double>(), index_block<double>(0, {global, whole_box(global)}));
  });
}

TEST_F(Writers, RefuseADatasetThatIsNotThere) {
  const SharedDirectory directory;
  const std::string path = directory.path() + "/field.h5";
  on_root([&] { h5::File::create(path, ExitCode::io).close(); });
  h5::ParallelFile file(world, path, {});
  EXPECT_EQ(agreed_code([&] { file.write("/u", {}, nullptr); }), 4);
}

/// The first write of one rank, or of all, has no effect. The older checkpoint stays.
void expect_survives(Outcome outcome, bool on_all, const std::string& message) {
  const SharedDirectory directory;
  const WriteOptions options{{11, 10, 9}, 1, world_size(), 9, {WriterKind::hdf5, 1, {}}};
  const std::string older = write_checkpoint<double>(directory.path(), 1, options).path;
  if (on_all || world_rank() == world_size() - 1) calls.outcome = outcome;
  std::string found;
  const int code = agreed_code([&] {
    try {
      write_checkpoint<double>(directory.path(), 2, options);
    } catch (const Error& error) {
      found = error.what();
      throw;
    }
  });
  EXPECT_EQ(code, 4);
  EXPECT_NE(found.find(message), std::string::npos) << found;
  calls.outcome = Outcome::done;
  on_root([&] {
    EXPECT_EQ(file_names(directory.path()), (std::vector<std::string>{"step_0000001.h5", "step_0000001.xdmf"}));
  });
  expect_contents<double>(older, options.global, 1, 1);
  write_checkpoint<double>(directory.path(), 2, options);
}

// If MPI reports it on some ranks only, HDF5 1.10 hangs: tests/faults/test_broken_mpi.py.
TEST_F(Writers, ReportAFailure) {
  expect_survives(Outcome::reported, true, "cannot write dataset /u");
}

TEST_F(Writers, NoticeWritesThatMpiLosesWithoutAnError) {
  expect_survives(Outcome::lost, false, "reads back wrong");
  expect_survives(Outcome::lost, true, "reads back wrong");
}

/// A slice whose samples fill a part of its file each; w is on other points.
class LargeSlice {
 public:
  explicit LargeSlice(const std::string& directory, WriterSpec writer = {})
      : writer_(std::move(writer)), description_{directory, "z1", {"0.1.0", "abc123", "case"}, 0,
                                                 8,         4,    h5::Type::float64,           {},
                                                 {}} {
    description_.slice = {'z', 1};
    for (const FieldDescriptor& field : {fields[0], fields[2]}) {
      description_.fields.push_back(field);
      for (const std::string& name : coordinate_names(field))
        description_.coordinates[name] = std::vector<double>(name[0] == 'x' ? nx : name[0] == 'y' ? ny : 1, 0.5);
    }
    if (world_rank() == 0) series_.emplace(description_, std::nullopt);
    on_root([&] { series_->go_back(); });
    EXPECT_EQ(description_.part_samples(), 1);
  }

  const ProbeDescription& description() const { return description_; }
  const ProbeSeries& on_rank_zero() const { return *series_; }
  std::string part(std::int64_t step) const {
    return probe_parts_folder(description_.directory) + "/" + numbered_name("z1", step);
  }

  /// A sample, to which the ranks contribute as on this process grid; or rank 0 alone, as with many in a part.
  void append(std::int64_t step, int py, int pz) {
    std::vector<ProbePiece> pieces;
    std::vector<std::vector<double>> values;
    for (int f = 0; f < 2; ++f) {
      const LocalBlock block = pencil(shape, py, pz, world_rank());
      values.push_back(index_block<double>(f, block));
      pieces.push_back({block, values.back().data()});
    }
    ProbeSeries::append_on_all(world, series_ ? &*series_ : nullptr, description_, whole(step), pieces, writer_);
  }
  void append_on_root(std::int64_t step) {
    on_root([&] { series_->append(whole(step)); });
  }

 private:
  static constexpr std::int64_t nx = 1024, ny = 520;
  static constexpr Extents shape{1, ny, nx};

  static ProbeSamples whole(std::int64_t step) {
    ProbeSamples samples{{step}, {0.5 * static_cast<double>(step)}, {}};
    for (int f = 0; f < 2 && world_rank() == 0; ++f) {
      const std::vector<double> values = index_block<double>(f, {shape, whole_box(shape)});
      samples.fields.emplace_back(values.size() * sizeof(double));
      std::memcpy(samples.fields.back().data(), values.data(), samples.fields.back().size());
    }
    return samples;
  }

  WriterSpec writer_;
  ProbeDescription description_;
  std::optional<ProbeSeries> series_;
};

/// What a part has, its name aside, as text; values are verified by their hashes.
std::string described(const std::string& part) {
  const FileDescription found = describe(part);
  EXPECT_TRUE(found.intact()) << part;
  const std::string text = found.text();
  return text.substr(text.find('\n'));
}

TEST_F(Writers, MakeTheSamePartsOfLargeSlices) {
  const SharedDirectory directory;
  LargeSlice alone(directory.path() + "/alone");
  alone.append_on_root(1);
  alone.append_on_root(2);
  std::vector<std::string> files;
  for (const WriterKind kind : {WriterKind::direct, WriterKind::hdf5}) {
    calls = {};
    LargeSlice shared(directory.path() + "/" + std::to_string(files.size()), {kind, 4096, {}});
    shared.append(1, 1, world_size());  // one plane: the last rank has all of it
    shared.append(2, world_size(), 1);
    EXPECT_EQ(calls.collective + calls.independent, kind == WriterKind::hdf5 ? 2 * 2 : 0);
    on_root([&] {
      for (const std::int64_t step : {1, 2}) {
        EXPECT_EQ(probe_sample_hashes(h5::File::open(shared.part(step), ExitCode::io)),
                  probe_sample_hashes(h5::File::open(alone.part(step), ExitCode::io)));
        EXPECT_EQ(described(shared.part(step)), described(alone.part(step)));
        EXPECT_EQ(h5::File::open(shared.part(step), ExitCode::io).dataset("/u").address() % 4096, 0U);
      }
      EXPECT_EQ(shared.on_rank_zero().hash_at(2), alone.on_rank_zero().hash_at(2));
      const ProbeSeries again(shared.description(), 2);
      EXPECT_EQ(again.last_step(), 2);
      EXPECT_EQ(again.hash_at(2), alone.on_rank_zero().hash_at(2));
      EXPECT_TRUE(again.warnings().empty());
      std::vector<double> joined(2);
      h5::File::open(shared.description().directory + "/z1.h5", ExitCode::io)
          .dataset("/time")
          .read(h5::Type::float64, joined.data());
      EXPECT_EQ(joined, (std::vector{0.5, 1.0}));
    });
    std::string both;
    on_root([&] { both = read_text(shared.part(1)) + read_text(shared.part(2)); });
    files.push_back(std::move(both));
  }
  EXPECT_TRUE(files[0] == files[1]);
}

TEST_F(Writers, NoticeLostValuesOfALargeSlice) {
  const SharedDirectory directory;
  LargeSlice slice(directory.path(), {WriterKind::hdf5, 1, {}});
  slice.append(1, world_size(), 1);
  calls.outcome = Outcome::lost;
  EXPECT_EQ(agreed_code([&] { slice.append(2, world_size(), 1); }), 4);
  on_root([&] {
    EXPECT_EQ(file_names(probe_parts_folder(directory.path())), (std::vector<std::string>{"z1_0000001.h5"}));
    EXPECT_EQ(ProbeSeries(slice.description(), 2).last_step(), 1);
  });
}

}  // namespace
}  // namespace sluice::io
