// The loops over cells: every index once, the right neighbours, and sums that do not depend on how a box is
// split.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "core/decomp/view3.hpp"
#include "core/device/buffer.hpp"
#include "core/device/parallel_for.hpp"
#include "core/device/together.hpp"
#include "core/device/upload.hpp"
#include "core/support/error.hpp"
#include "core/support/random.hpp"

namespace sluice {
namespace {

/// A device array over a box, in local indices from 0.
template <class T>
struct Array {
  Box3 box;
  Buffer<T> data;

  explicit Array(const Box3& extent) : box(extent), data(static_cast<std::size_t>(extent.volume())) {}
  View3<T> view() { return contiguous_view(data.data(), box.nx(), box.ny(), box.nz()); }
  std::size_t at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return static_cast<std::size_t>(i + box.extent(0) * (j + box.extent(1) * k));
  }
};

struct CountIndex {
  View3<int> count;
  SLUICE_INLINE void operator()(int i, int j, int k) const { count(i, j, k) += 1; }
};

struct CountCell {
  View3<int> count;
  SLUICE_INLINE void operator()(Cell c) const { count(c.i, c.j, c.k) += 1; }
};

struct StoreNeighbours {
  View3<int> west, east;
  SLUICE_INLINE void operator()(Cell c) const {
    west(c.i, c.j, c.k) = c.west;
    east(c.i, c.j, c.k) = c.east;
  }
};

struct StoreFarNeighbours {
  using CellType = WideCell;
  View3<int> at;
  int distance;
  SLUICE_INLINE void operator()(WideCell c) const { at(c.i, c.j, c.k) = c.x(distance); }
};

/// Products with neighbours three cells away.
struct SumFarPairs {
  using CellType = WideCell;
  View3<const double> value;
  SLUICE_INLINE void operator()(WideCell c, double (&sums)[2]) const {
    sums[0] = value(c.west3, c.j, c.k) * value(c.i, c.j, c.k);
    sums[1] = value(c.west2, c.j, c.k) * value(c.east3, c.j, c.k);
  }
};

struct ReadCell {
  View3<const double> value;
  SLUICE_INLINE double operator()(Cell c) const { return value(c.i, c.j, c.k); }
};

/// Two quantities at once: the value, and its product with the western and eastern neighbours.
struct SumPair {
  View3<const double> value;
  SLUICE_INLINE void operator()(Cell c, double (&sums)[2]) const {
    sums[0] = value(c.i, c.j, c.k);
    sums[1] = value(c.west, c.j, c.k) * value(c.east, c.j, c.k);
  }
};

struct SumOne {
  View3<const double> value;
  SLUICE_INLINE void operator()(Cell c, double (&sum)[1]) const { sum[0] = value(c.i, c.j, c.k); }
};

/// One thing each row adds up to: the neighbours' indices, as integers, so that the sum is exact.
struct SumNeighbours {
  SLUICE_INLINE void operator()(Cell c, double (&sums)[2]) const {
    sums[0] = c.west + 1000.0 * c.i;
    sums[1] = c.east + 1000.0 * c.j + 1000000.0 * c.k;
  }
};

const std::vector<int> row_lengths{1, 2, 3, 4, 7, 8, 9, 10, 16, 17, 18, 31, 32, 33, 63, 64, 65, 130};

/// A bin that depends on the cell's neighbour and plane.
struct SomeBin {
  int bins;
  SLUICE_INLINE int operator()(Cell c) const { return (c.east * 5 + c.j * 11 + c.k + 1) % bins; }
};

template <class Kernel>
void expect_each_index_once(const Box3& whole, const Box3& box) {
  Array<int> count(whole);
  parallel_for("count", box, Kernel{count.view()});
  const std::vector<int> counts = count.data.download();
  for (std::int64_t k = 0; k < whole.hi[2]; ++k) {
    for (std::int64_t j = 0; j < whole.hi[1]; ++j) {
      for (std::int64_t i = 0; i < whole.hi[0]; ++i) {
        const bool inside = !intersect(box, Box3{{i, j, k}, {i + 1, j + 1, k + 1}}).empty();
        ASSERT_EQ(counts[count.at(i, j, k)], inside ? 1 : 0) << i << " " << j << " " << k;
      }
    }
  }
}

/// Reproducible values of both signs that do not add up exactly.
std::vector<double> awkward_values(std::size_t size) {
  std::vector<double> values(size);
  for (std::size_t n = 0; n < size; ++n) values[n] = std::ldexp(uniform01(5, n) - 0.5, static_cast<int>(n % 40) - 20);
  return values;
}

struct AddTo {
  const double* values;
  double* sums;
  SLUICE_INLINE void operator()(int i, int /*j*/, int /*k*/) const { sums[i] += values[i]; }
};

/// More uploads than there are pieces of host memory, each in order with the loop that reads it.
TEST(Upload, IsInOrderWithTheLoops) {
  constexpr int size = 1000;
  Upload<double> upload(size);
  Buffer<double> values(size), sums(size);
  std::vector<double> host(size), expected(size);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < size; ++i) {
      const auto n = static_cast<std::size_t>(i);
      host[n] = round * round + i;
      expected[n] += host[n];
    }
    upload(host, values);
    parallel_for("add", box_of(size, 1, 1), AddTo{values.data(), sums.data()});
  }
  EXPECT_EQ(sums.download(), expected);
}

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (const int nx : row_lengths) {
    expect_each_index_once<CountIndex>(box_of(nx, 5, 3), box_of(nx, 5, 3));
    expect_each_index_once<CountCell>(box_of(nx, 5, 3), box_of(nx, 5, 3));
  }
}

TEST(ParallelFor, StaysWithinItsBox) {
  expect_each_index_once<CountIndex>(box_of(70, 10, 11), Box3{{3, 2, 1}, {68, 9, 10}});
  expect_each_index_once<CountIndex>(box_of(9, 10, 11), Box3{{8, 9, 10}, {9, 10, 11}});
  expect_each_index_once<CountCell>(box_of(9, 10, 11), Box3{{0, 4, 1}, {9, 9, 2}});
}

TEST(ParallelFor, OverAnEmptyBoxDoesNothing) {
  expect_each_index_once<CountIndex>(box_of(9, 4, 3), Box3{{2, 1, 1}, {2, 3, 2}});
  expect_each_index_once<CountCell>(box_of(9, 4, 3), Box3{{0, 3, 1}, {9, 1, 2}});
}

TEST(ParallelFor, NeighboursWrapAroundInX) {
  for (const int nx : row_lengths) {
    Array<int> west(box_of(nx, 2, 2));
    Array<int> east(box_of(nx, 2, 2));
    parallel_for("neighbours", west.box, StoreNeighbours{west.view(), east.view()});
    const std::vector<int> wests = west.data.download();
    const std::vector<int> easts = east.data.download();
    for (std::size_t n = 0; n < wests.size(); ++n) {
      const int i = static_cast<int>(n) % nx;
      EXPECT_EQ(wests[n], (i + nx - 1) % nx) << "cell " << i << " of " << nx;
      EXPECT_EQ(easts[n], (i + 1) % nx) << "cell " << i << " of " << nx;
    }
  }
}

TEST(ParallelFor, FarNeighboursWrapAroundInX) {
  for (const int nx : row_lengths) {
    for (int distance = -3; distance <= 3; ++distance) {
      Array<int> at(box_of(nx, 2, 2));
      parallel_for("far neighbours", at.box, StoreFarNeighbours{at.view(), distance});
      const std::vector<int> found = at.data.download();
      for (std::size_t n = 0; n < found.size(); ++n) {
        const int i = static_cast<int>(n) % nx;
        EXPECT_EQ(found[n], (i + distance + 3 * nx) % nx) << "cell " << i << " of " << nx;
      }
    }
  }
}

TEST(ReducePlanes, AddsCellsWithTheirFarNeighbours) {
  for (const int nx : row_lengths) {
    Array<double> values(box_of(nx, 2, 2));
    std::vector<double> host(values.data.size());
    for (std::size_t n = 0; n < host.size(); ++n) host[n] = static_cast<double>(n % 7) + 1;  // sums are exact
    values.data.upload(host);
    const auto planes = reduce_planes<2>("far pairs", values.box, SumFarPairs{values.view()});
    for (int k = 0; k < 2; ++k) {
      double expected[2] = {};
      for (int j = 0; j < 2; ++j) {
        for (int i = 0; i < nx; ++i) {
          const auto at = [&](int n) { return host[values.at((i + n + 3 * nx) % nx, j, k)]; };
          expected[0] += at(-3) * at(0);
          expected[1] += at(-2) * at(3);
        }
      }
      for (std::size_t n = 0; n < 2; ++n) EXPECT_EQ(planes[static_cast<std::size_t>(k)][n].value(), expected[n]) << nx;
    }
  }
}

TEST(ParallelFor, RefusesCellsOfPartialRows) {
  Array<int> count(box_of(9, 4, 3));
  const Box3 partial{{1, 0, 0}, {9, 4, 3}};
  EXPECT_THROW(parallel_for("partial", partial, CountCell{count.view()}), Error);
}

TEST(ReducePlanes, AddsEveryCellOnceWithItsNeighbours) {
  for (const int nx : row_lengths) {
    const Box3 box{{0, 1, 2}, {nx, 4, 7}};
    const auto planes = reduce_planes<2>("neighbours", box, SumNeighbours{});
    ASSERT_EQ(planes.size(), 5U);
    const double indices = nx * (nx - 1) / 2.0;
    for (int k = 0; k < 5; ++k) {
      const auto& plane = planes[static_cast<std::size_t>(k)];
      EXPECT_EQ(plane[0].value(), 3 * 1001 * indices) << nx;
      EXPECT_EQ(plane[1].value(), 3 * indices + 1000.0 * nx * (1 + 2 + 3) + 3000000.0 * nx * (k + 2)) << nx;
    }
  }
}

template <int bins>
void expect_counts(const Box3& box) {
  const auto of = [](std::size_t k, std::int64_t bin) {
    return k * static_cast<std::size_t>(bins) + static_cast<std::size_t>(bin);
  };
  std::vector<std::int64_t> expected(static_cast<std::size_t>(box.nz()) * bins, 7);  // counts are added to these
  Buffer<std::int64_t> counts(expected);
  for (int k = 0; k < box.nz(); ++k) {
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      for (std::int64_t i = 0; i < box.nx(); ++i)
        ++expected[of(static_cast<std::size_t>(k), ((i + 1) % box.nx() * 5 + j * 11 + k + box.lo[2] + 1) % bins)];
    }
  }
  count_planes<bins>("bins", box, SomeBin{bins}, counts.data());
  EXPECT_EQ(counts.download(), expected) << box.nx();
}

TEST(CountPlanes, CountsEveryCellOnce) {
  for (const int nx : row_lengths) {
    expect_counts<128>(Box3{{0, 1, 2}, {nx, 4, 7}});
    expect_counts<4096>(Box3{{0, 0, -1}, {nx, 70, 1}});
    expect_counts<3>(Box3{{0, 0, 0}, {nx, 0, 2}});
  }
}

TEST(ReducePlanes, DoesNotDependOnHowTheBoxIsSplit) {
  for (const int nx : row_lengths) {
    Array<double> values(box_of(nx, 10, 11));
    values.data.upload(awkward_values(values.data.size()));
    const SumPair kernel{values.view()};
    const auto whole = reduce_planes<2>("whole", values.box, kernel);
    for (const int parts : {2, 3, 10}) {
      const auto y_bounds = split_evenly(10, parts);
      const auto z_bounds = split_evenly(11, parts);
      for (int z = 0; z < parts; ++z) {
        Box3 box = values.box;
        box.lo[2] = z_bounds[static_cast<std::size_t>(z)];
        box.hi[2] = z_bounds[static_cast<std::size_t>(z) + 1];
        std::vector<std::array<ExactSum, 2>> sums(static_cast<std::size_t>(box.nz()));
        for (int y = 0; y < parts; ++y) {
          box.lo[1] = y_bounds[static_cast<std::size_t>(y)];
          box.hi[1] = y_bounds[static_cast<std::size_t>(y) + 1];
          const auto part = reduce_planes<2>("part", box, kernel);
          for (std::size_t k = 0; k < sums.size(); ++k) {
            for (std::size_t n = 0; n < 2; ++n) sums[k][n] += part[k][n];
          }
        }
        for (std::size_t k = 0; k < sums.size(); ++k) {
          for (std::size_t n = 0; n < 2; ++n) {
            EXPECT_EQ(sums[k][n].value(), whole[static_cast<std::size_t>(box.lo[2]) + k][n].value());
          }
        }
      }
    }
  }
}

TEST(ReduceSum, IsTheSumOfThePlanes) {
  Array<double> values(box_of(9, 10, 11));
  const std::vector<double> host = awkward_values(values.data.size());
  values.data.upload(host);
  double plain = 0;
  for (const double value : host) plain += value;
  const double sum = reduce_sum("sum", values.box, SumOne{values.view()}).value();
  EXPECT_NEAR(sum, plain, 1e-12 * std::abs(plain) + 1e-6);
  ExactSum of_planes;
  for (const auto& plane : reduce_planes<1>("planes", values.box, SumOne{values.view()})) of_planes += plane[0];
  EXPECT_EQ(sum, of_planes.value());
  EXPECT_EQ(reduce_sum("empty", box_of(9, 0, 11), SumOne{values.view()}).value(), 0.0);
}

TEST(ReduceMax, FindsTheLargestWhereverItIs) {
  for (const int nx : row_lengths) {
    Array<double> values(box_of(nx, 3, 2));
    std::vector<double> host(values.data.size(), -1.0);
    for (std::size_t n = 0; n < host.size(); ++n) {
      host[n] = 2.0;
      values.data.upload(host);
      EXPECT_EQ(reduce_max("max", values.box, ReadCell{values.view()}), 2.0) << n << " of " << nx;
      host[n] = -1.0;
    }
  }
}

TEST(ReduceMax, IsAtLeastZero) {
  Array<double> values(box_of(5, 3, 2));
  values.data.upload(std::vector<double>(values.data.size(), -3.0));
  EXPECT_EQ(reduce_max("negative", values.box, ReadCell{values.view()}), 0.0);
  EXPECT_EQ(reduce_max("empty", box_of(5, 0, 2), ReadCell{values.view()}), 0.0);
}

/// Doubles a cell, and gives what it was.
struct DoubleAndGive {
  View3<double> values;
  SLUICE_INLINE double compute(Cell c) const { return values(c.i, c.j, c.k); }
  SLUICE_INLINE double write(Cell c, double was) const {
    values(c.i, c.j, c.k) = 2 * was;
    return was;
  }
};

TEST(DeferredReductions, EqualTheImmediateOnesAndWriteToArrays) {
  DeferredSum sum;
  Deferred<double> largest;
  for (const int nx : {1, 2, 9, 129, 300}) {
    Array<double> values(box_of(nx, 5, 4));
    const std::vector<double> host = awkward_values(values.data.size());
    std::vector<double> doubled = host;
    for (double& value : doubled) value *= 2;

    values.data.upload(host);
    const double expected_sum = reduce_sum("now", values.box, SumOne{values.view()}).value();
    reduce_sum("later", values.box, DoubleAndGive{values.view()}, sum);
    EXPECT_EQ(sum.value().value(), expected_sum) << nx;
    EXPECT_EQ(values.data.download(), doubled) << nx;

    values.data.upload(host);
    const double expected_max = reduce_max("now", values.box, ReadCell{values.view()});
    reduce_max("later", values.box, DoubleAndGive{values.view()}, largest);
    EXPECT_EQ(largest.value(), expected_max) << nx;
    EXPECT_EQ(values.data.download(), doubled) << nx;
  }
  Array<double> values(box_of(5, 3, 2));
  reduce_sum("empty", box_of(5, 0, 2), DoubleAndGive{values.view()}, sum);
  EXPECT_EQ(sum.value().value(), 0.0);
  reduce_max("empty", box_of(5, 0, 2), DoubleAndGive{values.view()}, largest);
  EXPECT_EQ(largest.value(), 0.0);
}

TEST(DeferredReductions, LetNoNaNOrInfinityPass) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Deferred<double> largest;
  for (const int nx : {1, 9, 40}) {
    Array<double> values(box_of(nx, 3, 2));
    for (const double bad : {std::nan(""), infinity, -infinity}) {
      std::vector<double> host(values.data.size(), 1.0);
      for (std::size_t n = 0; n < host.size(); ++n) {
        host[n] = bad;
        values.data.upload(host);
        reduce_max("bad", values.box, DoubleAndGive{values.view()}, largest);
        EXPECT_TRUE(std::isnan(largest.value())) << n << " of " << nx;
        host[n] = 1.0;
      }
    }
  }
}

/// to = factor from + number.
struct Combine {
  View3<const double> from;
  View3<double> to;
  double factor, number;
  SLUICE_INLINE void operator()(int i, int j, int k) const { to(i, j, k) = factor * from(i, j, k) + number; }
};

/// A flow of two results: one that is found aside from the first array, and one of many loops that follow.
struct TwoWays {
  Array<double> first, aside, main, both;
  explicit TwoWays(const Box3& box) : first(box), aside(box), main(box), both(box) {}

  void run(double number) {
    const auto combine = [](Array<double>& from, Array<double>& to, double factor, double add) {
      parallel_for("combine", to.box, Combine{from.view(), to.view(), factor, add});
    };
    combine(first, first, 0, number);
    combine(first, main, 1, 0);
    {
      const device::Aside beside;
      combine(first, aside, 10, 0);
      combine(aside, aside, 10, 1);
    }
    for (int n = 0; n < 4; ++n) combine(main, main, 2, 0);
    device::join_aside();
    const device::Independent independent;
    combine(aside, both, 1, 0);
    combine(aside, first, 0, -1);
    combine(main, main, 1, 0.5);
  }
};

TEST(LoopsAside, RunAfterThoseBeforeAndBeforeThoseThatJoin) {
  std::vector<std::unique_ptr<TwoWays>> flows;
  for (int n = 0; n < 3; ++n) flows.push_back(std::make_unique<TwoWays>(box_of(300, 40, 30)));
  for (int call = 1; call <= 8; ++call) {  // from the third on, a GPU runs a graph
    std::vector<std::function<void()>> tasks;
    for (std::size_t n = 0; n < flows.size(); ++n)
      tasks.emplace_back([&, n] { flows[n]->run(call + 0.125 * static_cast<double>(n)); });
    device::run_together(tasks);
    for (std::size_t n = 0; n < flows.size(); ++n) {
      const double number = call + 0.125 * static_cast<double>(n);
      TwoWays& flow = *flows[n];
      EXPECT_EQ(flow.both.data.download(), std::vector<double>(flow.both.data.size(), 100 * number + 1));
      EXPECT_EQ(flow.main.data.download(), std::vector<double>(flow.main.data.size(), 16 * number + 0.5));
      EXPECT_EQ(flow.first.data.download(), std::vector<double>(flow.first.data.size(), -1));
    }
  }
}

TEST(Reductions, OfTasksNeedMoreAndMoreMemory) {
  std::vector<std::unique_ptr<Array<double>>> arrays;
  for (int n = 0; n < 40; ++n) {
    arrays.push_back(std::make_unique<Array<double>>(box_of(4, 8, 1 << n % 5)));
    arrays.back()->data.upload(std::vector<double>(arrays.back()->data.size(), 1.0));
  }
  std::vector<std::function<void()>> tasks;
  for (std::size_t task = 0; task < 10; ++task) {
    tasks.emplace_back([&, task] {
      for (std::size_t n = 0; n < 4; ++n) {
        Array<double>& values = *arrays[(task + 11 * n) % arrays.size()];
        EXPECT_EQ(reduce_max("max", values.box, ReadCell{values.view()}), 1.0);
        EXPECT_EQ(reduce_sum("sum", values.box, SumOne{values.view()}).value(),
                  static_cast<double>(values.data.size()));
      }
    });
  }
  device::run_together(tasks);
}

TEST(ReduceMax, LetsNoNaNOrInfinityPass) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const int nx : row_lengths) {
    Array<double> values(box_of(nx, 3, 2));
    for (const double bad : {std::nan(""), infinity, -infinity}) {
      std::vector<double> host(values.data.size(), 1.0);
      for (std::size_t n = 0; n < host.size(); ++n) {
        host[n] = bad;
        values.data.upload(host);
        EXPECT_TRUE(std::isnan(reduce_max("bad", values.box, ReadCell{values.view()}))) << n << " of " << nx;
        host[n] = 1.0;
      }
    }
  }
}

}  // namespace
}  // namespace sluice
