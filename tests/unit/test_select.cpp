// Which GPU each rank of a host takes.
#include <gtest/gtest.h>

#include "core/device/select.hpp"
#include "core/support/error.hpp"

namespace sluice::device {
namespace {

using Names = std::vector<std::string>;

std::string refusal(const std::vector<Names>& visible) {
  try {
    gpus_of_ranks(visible);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resources);
    return error.what();
  }
  return "";
}

TEST(GpusOfRanks, AreInOrderIfAllAreSeen) {
  const Names four{"a", "b", "c", "d"};
  EXPECT_EQ(gpus_of_ranks({four, four, four, four}), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(gpus_of_ranks({four, four}), (std::vector{0, 1}));
}

TEST(GpusOfRanks, FollowTheOrderInWhichARankSeesThem) {
  EXPECT_EQ(gpus_of_ranks({{"c", "a", "b"}, {"b", "a", "c"}}), (std::vector{0, 0}));
  EXPECT_EQ(gpus_of_ranks({{"c", "a"}, {"c", "a"}}), (std::vector{0, 1}));
}

TEST(GpusOfRanks, AreARanksOwnIfItSeesNoOther) {
  EXPECT_EQ(gpus_of_ranks({{"d"}, {"a"}, {"b"}}), (std::vector{0, 0, 0}));
  EXPECT_EQ(gpus_of_ranks({{"a", "b"}, {"c", "d"}}), (std::vector{0, 0}));
}

TEST(GpusOfRanks, AreRefusedIfTooFew) {
  EXPECT_EQ(refusal({{"a"}, {"a"}}), "2 ranks of a node see 1 GPU(s) in all: start one rank for each GPU");
  EXPECT_EQ(refusal({{"a"}, {"a"}, {"b"}}), "3 ranks of a node see 2 GPU(s) in all: start one rank for each GPU");
  EXPECT_EQ(refusal({{"a"}, {"a"}, {"b", "c"}}),
            "rank 1 of a node sees only GPUs that lower ranks use: let each rank see all GPUs of the node, or a GPU "
            "that no other rank sees");
}

}  // namespace
}  // namespace sluice::device
