// Decomposition: every cell belongs to exactly one rank in every pencil, and what cannot be split is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/decomp/even_blocks.hpp"
#include "core/support/error.hpp"

namespace sluice {
namespace {

using Cells = std::array<std::int64_t, 3>;
using Pencil = Box3 (Decomposition::*)(int) const;

/// True if the ranks' boxes cover nx x ny x nz exactly once.
bool tiles(const Decomposition& decomposition, Pencil pencil, std::int64_t nx, std::int64_t ny, std::int64_t nz) {
  std::vector<int> owners(static_cast<std::size_t>(nx * ny * nz), 0);
  for (int rank = 0; rank < decomposition.processes().size(); ++rank) {
    const Box3 box = (decomposition.*pencil)(rank);
    for (auto k = box.lo[2]; k < box.hi[2]; ++k) {
      for (auto j = box.lo[1]; j < box.hi[1]; ++j) {
        for (auto i = box.lo[0]; i < box.hi[0]; ++i) ++owners.at(static_cast<std::size_t>(i + nx * (j + ny * k)));
      }
    }
  }
  return std::all_of(owners.begin(), owners.end(), [](int count) { return count == 1; });
}

/// The message of the Error thrown for this decomposition; its code must be `code`.
std::string refusal(const Cells& cells, ProcessGrid processes, int z_blocks, ExitCode code) {
  try {
    const Decomposition decomposition(cells, processes, z_blocks);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return "";
}

testing::AssertionResult mentions(const std::string& message, const std::string& part) {
  if (message.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << message << "' does not mention '" << part << "'";
}

struct Case {
  Cells cells;
  ProcessGrid processes;
  int z_blocks;
};

class DecompositionOf : public testing::TestWithParam<Case> {};

TEST_P(DecompositionOf, CoversEveryCellOnceInEveryPencil) {
  const auto& [cells, processes, z_blocks] = GetParam();
  const Decomposition decomposition(cells, processes, z_blocks);
  const std::int64_t wavenumbers = cells[0] / 2 + 1;
  EXPECT_TRUE(tiles(decomposition, &Decomposition::x_pencil, cells[0], cells[1], cells[2]));
  EXPECT_TRUE(tiles(decomposition, &Decomposition::z_pencil, cells[0], cells[1], cells[2]));
  EXPECT_TRUE(tiles(decomposition, &Decomposition::spectral_x_pencil, wavenumbers, cells[1], cells[2]));
  EXPECT_TRUE(tiles(decomposition, &Decomposition::spectral_y_pencil, wavenumbers, cells[1], cells[2]));
  EXPECT_TRUE(tiles(decomposition, &Decomposition::spectral_z_pencil, wavenumbers, cells[1], cells[2]));
}

TEST_P(DecompositionOf, KeepsTheLongDirectionWhole) {
  const auto& [cells, processes, z_blocks] = GetParam();
  const Decomposition decomposition(cells, processes, z_blocks);
  for (int rank = 0; rank < processes.size(); ++rank) {
    EXPECT_EQ(decomposition.x_pencil(rank).nx(), cells[0]);
    EXPECT_GE(decomposition.x_pencil(rank).ny(), 1);
    EXPECT_GE(decomposition.x_pencil(rank).nz(), 1);
    EXPECT_EQ(decomposition.spectral_x_pencil(rank).nx(), cells[0] / 2 + 1);
    EXPECT_EQ(decomposition.spectral_y_pencil(rank).ny(), cells[1]);
    EXPECT_GE(decomposition.spectral_y_pencil(rank).nx(), 1);
    EXPECT_EQ(decomposition.spectral_z_pencil(rank).nz(), cells[2]);
    EXPECT_EQ(decomposition.z_pencil(rank).nz(), cells[2]);
  }
}

/// A transpose stays within a row (x <-> y) or a column (y <-> z, x <-> z) of ranks.
TEST_P(DecompositionOf, TransposesStayWithinARowOrColumn) {
  const auto& [cells, processes, z_blocks] = GetParam();
  const Decomposition decomposition(cells, processes, z_blocks);
  for (int rank = 0; rank < processes.size(); ++rank) {
    const Box3 home = decomposition.x_pencil(rank);
    const Box3 y_pencil = decomposition.spectral_y_pencil(rank);
    EXPECT_EQ(y_pencil.lo[2], home.lo[2]);
    EXPECT_EQ(y_pencil.hi[2], home.hi[2]);
    EXPECT_EQ(intersect(decomposition.spectral_z_pencil(rank), y_pencil).extent(0), y_pencil.extent(0));
    EXPECT_EQ(decomposition.z_pencil(rank).lo[1], home.lo[1]);
    EXPECT_EQ(decomposition.z_pencil(rank).hi[1], home.hi[1]);
  }
}

TEST_P(DecompositionOf, SplitsZByWholeBlocks) {
  const auto& [cells, processes, z_blocks] = GetParam();
  const Decomposition decomposition(cells, processes, z_blocks);
  const auto& bounds = decomposition.z_blocks().bounds();
  int next_block = 0;
  for (int z = 0; z < processes.pz; ++z) {
    const auto [first, last] = decomposition.block_range(z);
    EXPECT_EQ(first, next_block);
    EXPECT_GE(last - first, 1);
    next_block = last;
    for (int y = 0; y < processes.py; ++y) {
      const Box3 box = decomposition.x_pencil(processes.rank(y, z));
      EXPECT_EQ(box.lo[2], bounds[static_cast<std::size_t>(first)]);
      EXPECT_EQ(box.hi[2], bounds[static_cast<std::size_t>(last)]);
    }
  }
  EXPECT_EQ(next_block, decomposition.z_blocks().count());
}

std::string name_of(const testing::TestParamInfo<Case>& tested) {
  const auto& [cells, processes, z_blocks] = tested.param;
  return std::to_string(cells[0]) + "x" + std::to_string(cells[1]) + "x" + std::to_string(cells[2]) + "_on_" +
         std::to_string(processes.py) + "x" + std::to_string(processes.pz) + "_blocks_" + std::to_string(z_blocks);
}

INSTANTIATE_TEST_SUITE_P(Sizes, DecompositionOf,
                         testing::Values(Case{{9, 10, 11}, {1, 1}, 1}, Case{{9, 10, 11}, {2, 3}, 5},
                                         Case{{9, 10, 11}, {5, 5}, 5}, Case{{9, 10, 11}, {3, 2}, 3},
                                         Case{{9, 10, 11}, {4, 1}, 1}, Case{{9, 10, 11}, {1, 4}, 4},
                                         Case{{1, 1, 2}, {1, 1}, 1}, Case{{8, 1, 9}, {1, 4}, 4},
                                         Case{{2, 7, 13}, {2, 6}, 6}, Case{{32, 64, 48}, {4, 3}, 3},
                                         Case{{17, 16, 144}, {7, 4}, 9}),
                         name_of);

TEST(ProcessGrid, RanksOfARowAreNeighbours) {
  const ProcessGrid grid{3, 4};
  EXPECT_EQ(grid.size(), 12);
  EXPECT_EQ(grid.rank(2, 1), 5);
  for (int rank = 0; rank < grid.size(); ++rank) {
    EXPECT_EQ(grid.rank(grid.y_index(rank), grid.z_index(rank)), rank);
  }
}

TEST(ZBlocks, HaveAtLeastTwoPlanesAndDifferByOne) {
  for (std::int64_t nz = 2; nz <= 70; ++nz) {
    for (int count = 1; count <= nz / 2; ++count) {
      const ZBlocks blocks(nz, count);
      EXPECT_EQ(blocks.count(), count);
      EXPECT_EQ(blocks.planes(), nz);
      EXPECT_EQ(blocks.longest(), (nz + count - 1) / count);
      for (std::size_t n = 1; n < blocks.bounds().size(); ++n) {
        EXPECT_GE(blocks.bounds()[n] - blocks.bounds()[n - 1], std::max<std::int64_t>(2, nz / count));
      }
    }
  }
}

TEST(ZBlocks, DefaultIsOneForSixteenPlanes) {
  EXPECT_EQ(ZBlocks::default_count(1), 1);
  EXPECT_EQ(ZBlocks::default_count(31), 1);
  EXPECT_EQ(ZBlocks::default_count(32), 2);
  EXPECT_EQ(ZBlocks::default_count(144), 9);
  EXPECT_EQ(ZBlocks::default_count(1023), 63);
}

/// Powers of two of ranks along z share the planes of large grids evenly, with at least 8 planes in each block.
TEST(ZBlocks, DefaultOfLargeGridsIsAPowerOfTwo) {
  EXPECT_EQ(ZBlocks::default_count(1024), 128);
  EXPECT_EQ(ZBlocks::default_count(2047), 128);
  EXPECT_EQ(ZBlocks::default_count(2048), 256);
  for (const std::int64_t nz : {1024, 1594, 2000}) {
    for (const int pz : {2, 32, 64, 128}) {
      const Decomposition decomposition({8, 8, nz}, {1, pz}, ZBlocks::default_count(nz));
      std::int64_t most = 0;
      for (int rank = 0; rank < pz; ++rank) most = std::max<std::int64_t>(most, decomposition.x_pencil(rank).nz());
      EXPECT_LE(static_cast<double>(most * pz), 1.05 * static_cast<double>(nz)) << nz << " planes on " << pz;
    }
  }
}

/// GPUs that split z: ranks own equally many blocks, and their planes differ by one at most.
TEST(EvenBlocks, SplitThePlanesEvenly) {
  EXPECT_EQ(even_blocks(60, 3, 2).bounds(), (std::vector<std::int64_t>{0, 15, 30, 45, 60}));
  EXPECT_EQ(even_blocks(144, 9, 2).count(), 10);
  EXPECT_EQ(even_blocks(144, 9, 1).bounds(), ZBlocks(144, 9).bounds());
  EXPECT_EQ(even_blocks(144, 9, 10).bounds(), ZBlocks(144, 9).bounds());  // fewer blocks than ranks
  EXPECT_EQ(even_blocks(10, 5, 3).count(), 3);                            // six would have less than 2 planes
  for (std::int64_t nz = 2; nz <= 600; ++nz) {
    for (const int pz : {1, 2, 3, 4, 7, 8, 16, 32}) {
      const int count = ZBlocks::default_count(nz);
      if (count < pz) continue;
      const ZBlocks even = even_blocks(nz, count, pz);
      EXPECT_EQ(even.count() % pz, 0) << nz << " planes on " << pz;
      const Decomposition decomposition({8, 8, nz}, {1, pz}, even);
      for (int z = 0; pz > 1 && z < pz; ++z) {
        const std::int64_t planes = decomposition.x_pencil(z).nz();
        EXPECT_TRUE(planes == nz / pz || planes == (nz + pz - 1) / pz) << planes << " of " << nz << " planes on " << pz;
      }
    }
  }
}

TEST(ZBlocks, ThatWouldBeTooShortAreRefused) {
  const std::string message = refusal({9, 10, 11}, {1, 1}, 6, ExitCode::usage);
  EXPECT_TRUE(mentions(message, "solver.z_blocks"));
  EXPECT_TRUE(mentions(message, "6 blocks"));
  EXPECT_TRUE(mentions(message, "1 to 5"));
  EXPECT_TRUE(mentions(refusal({9, 10, 11}, {1, 1}, 0, ExitCode::usage), "1 to 5"));
}

TEST(Decomposition, RefusesMoreRanksInZThanBlocks) {
  const std::string message = refusal({9, 10, 11}, {1, 4}, 3, ExitCode::resources);
  EXPECT_TRUE(mentions(message, "4 ranks"));
  EXPECT_TRUE(mentions(message, "3 z blocks"));
  EXPECT_TRUE(mentions(message, "at most 3 ranks"));
  EXPECT_TRUE(mentions(message, "z_blocks between 4 and 5"));
}

TEST(Decomposition, NeverAdvisesBlocksThatWouldBeTooShort) {
  const std::string message = refusal({9, 10, 11}, {1, 8}, 3, ExitCode::resources);
  EXPECT_TRUE(mentions(message, "at most 3 ranks"));
  EXPECT_TRUE(mentions(message, "up to 5 with z_blocks: 5"));
}

TEST(Decomposition, RefusesMoreRanksInYThanRowsOrWavenumbers) {
  const std::string rows = refusal({64, 3, 11}, {4, 1}, 1, ExitCode::resources);
  EXPECT_TRUE(mentions(rows, "3 rows"));
  EXPECT_TRUE(mentions(rows, "at most 3 ranks in y"));
  const std::string wavenumbers = refusal({9, 10, 11}, {6, 1}, 1, ExitCode::resources);
  EXPECT_TRUE(mentions(wavenumbers, "5 wavenumbers"));
  EXPECT_TRUE(mentions(wavenumbers, "at most 5 ranks in y"));
}

TEST(Decomposition, CandidatesAreTheGridsThatFit) {
  using Grids = std::vector<ProcessGrid>;
  EXPECT_EQ(Decomposition::candidates({64, 64, 64}, 6, 4), (Grids{{2, 3}, {3, 2}, {6, 1}}));
  EXPECT_EQ(Decomposition::candidates({9, 10, 11}, 6, 5), (Grids{{2, 3}, {3, 2}}));
  EXPECT_EQ(Decomposition::candidates({64, 1, 64}, 4, 4), (Grids{{1, 4}}));
  EXPECT_TRUE(Decomposition::candidates({64, 64, 64}, 7, 4) == (Grids{{7, 1}}));
  EXPECT_TRUE(Decomposition::candidates({8, 4, 8}, 31, 4).empty());
  constexpr int min_rows = 3;
  EXPECT_EQ(Decomposition::candidates({64, 11, 64}, 12, 12, min_rows), (Grids{{1, 12}, {2, 6}, {3, 4}}));
  EXPECT_EQ(Decomposition::candidates({64, 2, 64}, 4, 4, min_rows), (Grids{{1, 4}}));
  for (int ranks = 1; ranks <= 24; ++ranks) {
    for (const ProcessGrid& grid : Decomposition::candidates({9, 10, 11}, ranks, 5)) {
      EXPECT_EQ(grid.size(), ranks);
      EXPECT_NO_THROW(Decomposition({9, 10, 11}, grid, 5));
    }
  }
}

}  // namespace
}  // namespace sluice
