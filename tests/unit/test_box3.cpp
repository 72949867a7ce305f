// Box3: half-open index boxes.
#include <gtest/gtest.h>

#include <cstdint>

#include "core/support/box3.hpp"

namespace sluice {
namespace {

TEST(Box3, KnowsItsSize) {
  const Box3 box{{1, 2, 3}, {10, 12, 14}};
  EXPECT_EQ(box.nx(), 9);
  EXPECT_EQ(box.ny(), 10);
  EXPECT_EQ(box.nz(), 11);
  EXPECT_EQ(box.volume(), 990);
  EXPECT_FALSE(box.empty());
}

TEST(Box3, VolumeIsNotLimitedToInt) {
  EXPECT_EQ(box_of(30000, 30000, 30000).volume(), std::int64_t{27'000'000'000'000});
}

TEST(Box3, WithoutCellsIsEmpty) {
  EXPECT_TRUE(Box3{}.empty());
  EXPECT_TRUE(box_of(4, 0, 4).empty());
  const Box3 inverted{{5, 0, 5}, {4, 3, 4}};
  EXPECT_TRUE(inverted.empty());
  EXPECT_EQ(inverted.volume(), 0) << "two negative extents do not make a volume";
}

TEST(Box3, Moves) {
  const Box3 box{{1, 2, 3}, {10, 12, 14}};
  EXPECT_EQ(box.local(), box_of(9, 10, 11));
  EXPECT_EQ(box.relative_to({1, 1, 1}), (Box3{{0, 1, 2}, {9, 11, 13}}));
}

TEST(Box3, Intersects) {
  const Box3 a{{0, 0, 0}, {5, 6, 7}};
  const Box3 b{{3, 2, 1}, {9, 4, 9}};
  EXPECT_EQ(intersect(a, b), (Box3{{3, 2, 1}, {5, 4, 7}}));
  EXPECT_EQ(intersect(a, b), intersect(b, a));
  EXPECT_EQ(intersect(a, a), a);
}

TEST(Box3, TouchingBoxesShareNothing) {
  const Box3 left{{0, 0, 0}, {5, 6, 7}};
  const Box3 right{{5, 0, 0}, {9, 6, 7}};
  EXPECT_TRUE(intersect(left, right).empty());
  EXPECT_TRUE(intersect(left, Box3{{50, 60, 70}, {51, 61, 71}}).empty());
}

TEST(SplitEvenly, GivesTheRemainderToTheFirstParts) {
  EXPECT_EQ(split_evenly(11, 3), (std::vector<std::int64_t>{0, 4, 8, 11}));
  EXPECT_EQ(split_evenly(10, 3), (std::vector<std::int64_t>{0, 4, 7, 10}));
  EXPECT_EQ(split_evenly(9, 3), (std::vector<std::int64_t>{0, 3, 6, 9}));
  EXPECT_EQ(split_evenly(2, 4), (std::vector<std::int64_t>{0, 1, 2, 2, 2}));
  EXPECT_EQ(split_evenly(7, 1), (std::vector<std::int64_t>{0, 7}));
}

TEST(SplitEvenly, LengthsDifferByAtMostOne) {
  for (std::int64_t n = 0; n <= 40; ++n) {
    for (int parts = 1; parts <= 13; ++parts) {
      const auto bounds = split_evenly(n, parts);
      ASSERT_EQ(bounds.size(), static_cast<std::size_t>(parts) + 1);
      EXPECT_EQ(bounds.front(), 0);
      EXPECT_EQ(bounds.back(), n);
      for (std::size_t part = 1; part < bounds.size(); ++part) {
        const std::int64_t length = bounds[part] - bounds[part - 1];
        EXPECT_TRUE(length == n / parts || length == n / parts + 1) << n << " in " << parts;
      }
    }
  }
}

}  // namespace
}  // namespace sluice
