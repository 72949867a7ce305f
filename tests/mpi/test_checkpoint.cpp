// Checkpoints written and read on all ranks, on every pair of decompositions; fields of other programs;
// planes.
#include "io/files/field_writer.hpp"
#include "tests/mpi/checkpoint_fixture.hpp"

namespace sluice::io {
namespace {

using namespace checkpoint_test;

TEST(Checkpoint, EveryDecompositionReadsWhatAnyOtherWrote) {
  const SharedDirectory directory;
  const int size = world_size();
  const Extents global{11, 10, 9};
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

TEST(Checkpoint, ManyPiecesWithEdges) {
  const SharedDirectory directory;
  const Extents global{5, 700, 300};  // planes above 1 MiB: cut along y, with an incomplete last piece
  const WriteOptions options{global, world_size(), 1};
  const auto committed = write_checkpoint<double>(directory.path(), 1, options);
  EXPECT_GT(PieceLayout(global, 8).count(), 5);
  expect_contents<double>(committed.path, global, 1, world_size());
}

TEST(Checkpoint, SinglePrecisionAndConversion) {
  const SharedDirectory directory;
  const WriteOptions options{{11, 10, 9}, world_size(), 1};
  const auto committed = write_checkpoint<float>(directory.path(), 1, options);
  expect_contents<float>(committed.path, options.global, 1, world_size());
  const CheckpointReader reader(world, committed.path);
  EXPECT_EQ(reader.fields().type, h5::Type::float32);
  const LocalBlock block = pencil(options.global, 1, world_size(), world_rank());
  std::vector<double> data(static_cast<std::size_t>(block.box.volume()));
  reader.read_field("v", block, h5::Type::float64, data.data());
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

TEST(Checkpoint, AnotherGridIsRefused) {
  const SharedDirectory directory;
  const std::string path = write_checkpoint<double>(directory.path(), 1, {}).path;
  const LocalBlock block = pencil({12, 10, 9}, 1, world_size(), world_rank());
  std::vector<double> data(static_cast<std::size_t>(block.box.volume()));
  const auto read = [&] { CheckpointReader(world, path).read_field("u", block, h5::Type::float64, data.data()); };
  EXPECT_EQ(agreed_code(read), 3);
}

TEST(Plane, CollectsEveryNormalInOrder) {
  const Extents global{6, 5, 4};
  const LocalBlock block = pencil(global, world_size() % 2 == 0 ? 2 : 1,
                                  world_size() % 2 == 0 ? world_size() / 2 : world_size(), world_rank());
  for (const std::size_t axis : {0U, 1U, 2U}) {
    Box3 plane = whole_box(global);
    plane.lo[axis] = 2;
    plane.hi[axis] = 3;
    const Box3 piece = intersect(plane, block.box);
    const std::vector<double> data = index_block<double>(0, {global, piece});
    const std::vector<std::byte> gathered = gather_box(world, plane, piece, h5::Type::float64, data.data());
    std::vector<double> values(gathered.size() / sizeof(double));
    std::memcpy(values.data(), gathered.data(), gathered.size());
    if (world_rank() == 0) {
      EXPECT_EQ(values, index_block<double>(0, {global, plane})) << axis;
    } else {
      EXPECT_TRUE(values.empty());
    }
  }
}

}  // namespace
}  // namespace sluice::io
