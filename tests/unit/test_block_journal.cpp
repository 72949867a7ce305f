// The journal beside statistics.h5: blocks that a run has closed, but not yet written into the file.
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "io/files/describe.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/statistics_file.hpp"
#include "io/files/stored_blocks.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/unit/files_fixture.hpp"
#include "tests/unit/statistics_fixture.hpp"

namespace sluice::io {
namespace {

using namespace files_test;

/// The file with its blocks, of which those from number 32 on are written to the journal first.
class JournalTest : public FilesTest {
 protected:
  std::string file() const { return path("s.h5"); }
  std::string journal() const { return journal_path(file()); }
  StatisticsFile written(int blocks) const {
    StatisticsFile statistics = begun(statistics_spec(file()));
    for (int n = 0; n < blocks; ++n) statistics.append(statistics_block(n), parameters(1e-3));
    return statistics;
  }
  std::size_t found() const { return StatisticsFile(statistics_spec(file()), true).blocks().size(); }
  void write(const std::string& to, const std::string& bytes) const { write_atomically(to, bytes); }
};

TEST_F(JournalTest, ReadersFindItsBlocks) {
  const StatisticsFile statistics = written(35);
  EXPECT_EQ(dataset_shape(file(), "/u"), (h5::Shape{32, 3}));
  const StatisticsFile again(statistics_spec(file()), true);
  ASSERT_EQ(again.blocks().size(), 35U);
  for (std::size_t n = 0; n < 35; ++n) {
    EXPECT_EQ(again.blocks()[n].sums, statistics.blocks()[n].sums);
    EXPECT_EQ(again.blocks()[n].time_end, statistics.blocks()[n].time_end);
    EXPECT_EQ(again.blocks()[n].step_end, statistics.blocks()[n].step_end);
    EXPECT_EQ(again.blocks()[n].parameter_set, 0);
  }
  const StoredBlocks stored = read_stored_blocks(file(), Sums::read);
  ASSERT_EQ(stored.blocks.size(), 35U);
  EXPECT_EQ(stored.in_journal, 3U);
  EXPECT_EQ(hash_of(stored.blocks.back(), stored.profiles),
            hash_of(again.blocks().back(), statistics_spec(file()).profiles));
  EXPECT_TRUE(describe(file()).intact());
  EXPECT_NE(describe(file()).text().find("blocks: 35,"), std::string::npos) << describe(file()).text();
}

TEST_F(JournalTest, CompleteFileHasTheBytesOfOneWrittenAtOnce) {
  written(35).complete();
  EXPECT_FALSE(std::filesystem::exists(journal()));
  const std::string complete = read_text(file());
  StatisticsFile at_once(statistics_spec(file()), true);
  at_once.truncate_after(3500, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(read_text(file()) == complete);
}

/// The file is written as a whole again and again at first, then ever more rarely.
TEST_F(JournalTest, CostOfABlockDoesNotDependOnTheirNumber) {
  StatisticsFile statistics = written(0);
  int rewritten = 0;
  for (int n = 0; n < 2000; ++n) {
    statistics.append(statistics_block(n), parameters(1e-3));
    if (!std::filesystem::exists(journal())) ++rewritten;
  }
  EXPECT_LE(rewritten, 32 + 40);  // of which the last 40 grow the file 64 times, each by an eighth
  EXPECT_EQ(found(), 2000U);
}

TEST_F(JournalTest, NewParametersGoIntoTheFile) {
  StatisticsFile statistics = written(34);
  statistics.append(statistics_block(34), parameters(2e-3));
  EXPECT_EQ(dataset_shape(file(), "/u"), (h5::Shape{35, 3}));
  EXPECT_FALSE(std::filesystem::exists(journal()));
  statistics.append(statistics_block(35), parameters(2e-3));
  EXPECT_TRUE(std::filesystem::exists(journal()));
  EXPECT_EQ(StatisticsFile(statistics_spec(file()), true).blocks().back().parameter_set, 1);
}

TEST_F(JournalTest, GoingBackDropsWhatIsLater) {
  written(35);
  begun(statistics_spec(file()), 3400);
  EXPECT_FALSE(std::filesystem::exists(journal()));
  EXPECT_EQ(dataset_shape(file(), "/u"), (h5::Shape{34, 3}));
}

/// A kill between the new file's rename and the removal of the journal.
TEST_F(JournalTest, JournalOfAnotherFileIsVoid) {
  StatisticsFile statistics = written(35);
  const std::string before = read_text(journal());
  statistics.complete();
  write(journal(), before);
  EXPECT_EQ(found(), 35U);
  begun(statistics_spec(file()), 1000);
  write(journal(), before);
  EXPECT_EQ(found(), 10U);
}

/// A kill while a block is written.
TEST_F(JournalTest, BlockThatWasNotCommittedIsPassedOver) {
  written(35);
  const std::string whole = read_text(journal());
  const std::size_t record = 8 * (5 + 7 + 1);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(journal(), whole.substr(0, size));
    const std::size_t header = whole.size() - 3 * record;
    ASSERT_EQ(found(), 32 + (size < header ? 0 : (size - header) / record)) << size;
  }
  write(journal(), whole.substr(0, whole.size() - record) + std::string(record, '\0'));
  EXPECT_EQ(found(), 34U);
  EXPECT_TRUE(read_stored_blocks(file(), Sums::skip).cut_off);
}

TEST_F(JournalTest, DamageIsFound) {
  written(35);
  const std::string whole = read_text(journal());
  const std::size_t record = 8 * (5 + 7 + 1);
  for (std::size_t at = 0; at < whole.size() - record; ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 16);
    write(journal(), changed);
    ASSERT_EQ(code_of([&] { found(); }), 3) << at;
    ASSERT_FALSE(describe(file()).intact()) << at;
  }
}

TEST_F(JournalTest, RunGoesOnAfterAnError) {
  StatisticsFile statistics = written(34);
  {
    const FileSizeLimit limit(std::filesystem::file_size(journal()) + 20);
    EXPECT_EQ(code_of([&] { statistics.append(statistics_block(34), parameters(1e-3)); }), 4);
  }
  EXPECT_EQ(found(), 34U);
  statistics.append(statistics_block(35), parameters(1e-3));
  EXPECT_EQ(found(), 36U);
}

TEST_F(JournalTest, RemovedJournalIsWrittenAgain) {
  StatisticsFile statistics = written(35);
  EXPECT_FALSE(statistics.write_if_removed());
  std::filesystem::remove(journal());
  EXPECT_TRUE(statistics.write_if_removed());
  EXPECT_EQ(found(), 35U);
  statistics.append(statistics_block(35), parameters(1e-3));
  write(journal(), "another file");
  EXPECT_EQ(code_of([&] { statistics.append(statistics_block(36), parameters(1e-3)); }), 4);
}

}  // namespace
}  // namespace sluice::io
