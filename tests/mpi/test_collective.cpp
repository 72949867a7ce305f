// An error that one rank meets is thrown, the same, on all.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {
namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

std::optional<Error> error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

void expect_on_all(const std::function<void()>& action, ExitCode code, const std::string& message) {
  const std::optional<Error> error = error_of([&] { run_collectively(MPI_COMM_WORLD, action); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), code);
  EXPECT_EQ(error->what(), message);
}

TEST(RunCollectively, RunsOnEveryRankAndReturns) {
  int runs = 0;
  EXPECT_NO_THROW(run_collectively(MPI_COMM_WORLD, [&] { ++runs; }));
  EXPECT_EQ(runs, 1);
}

TEST(RunCollectively, ThrowsTheErrorOfOneRankOnAll) {
  for (int failing = 0; failing < world_size(); ++failing) {
    const std::string message = "rank " + std::to_string(failing) + " cannot read its file";
    expect_on_all(
        [&] {
          if (world_rank() == failing) throw Error(ExitCode::io, message);
        },
        ExitCode::io, message);
  }
}

TEST(RunCollectively, ThrowsTheErrorOfTheLowestRankThatFailed) {
  const int lowest = world_size() / 2;
  expect_on_all(
      [&] {
        if (world_rank() >= lowest) throw Error(ExitCode::numerics, "rank " + std::to_string(world_rank()));
      },
      ExitCode::numerics, "rank " + std::to_string(lowest));
}

TEST(RunCollectively, KeepsLongAndEmptyMessagesWhole) {
  for (const std::string& message : {std::string(), std::string(3000000, 'x')}) {
    expect_on_all(
        [&] {
          if (world_rank() == world_size() - 1) throw Error(ExitCode::usage, message);
        },
        ExitCode::usage, message);
  }
}

TEST(RunCollectively, TranslatesOtherExceptions) {
  const int last = world_size() - 1;
  expect_on_all(
      [&] {
        if (world_rank() == last) throw std::bad_alloc();
      },
      ExitCode::resources, "out of memory: use more processes or nodes, or a coarser grid");
  expect_on_all(
      [&] {
        if (world_rank() == last) throw std::out_of_range("no such row");
      },
      ExitCode::internal, "internal error: no such row; please report this, with the case file");
  expect_on_all(
      [&] {
        if (world_rank() == last) throw 42;
      },
      ExitCode::internal, "internal error: an exception of unknown type; please report this, with the case file");
}

TEST(RunCollectively, StaysWithinItsCommunicator) {
  const Communicator comm(MPI_COMM_WORLD, {1, world_size()});
  const bool failing = comm.z_index() == 0;
  const std::optional<Error> error = error_of([&] {
    run_collectively(comm.row(), [&] {
      if (failing) throw Error(ExitCode::io, "only this row");
    });
  });
  EXPECT_EQ(error.has_value(), failing);
}

TEST(RunOnRoot, RunsOnceAndFailsEverywhere) {
  int runs = 0;
  EXPECT_NO_THROW(run_on_root(MPI_COMM_WORLD, [&] { ++runs; }));
  EXPECT_EQ(runs, world_rank() == 0 ? 1 : 0);
  const std::optional<Error> error =
      error_of([] { run_on_root(MPI_COMM_WORLD, [] { throw Error(ExitCode::restart, "no checkpoint"); }); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ExitCode::restart);
  EXPECT_STREQ(error->what(), "no checkpoint");
}

TEST(Broadcast, SendsTextOfAnySize) {
  for (const std::size_t size : {0UL, 1UL, (1UL << 20) - 1, 1UL << 20, (3UL << 20) + 5}) {
    std::string sent(size, ' ');
    for (std::size_t n = 0; n < size; ++n) sent[n] = static_cast<char>(n % 251);
    std::string text = world_rank() == 0 ? sent : "something else";
    broadcast(text, MPI_COMM_WORLD);
    EXPECT_TRUE(text == sent) << size;
  }
}

TEST(Broadcast, SendsNumbers) {
  const std::vector<std::int64_t> sent{3, -1, std::int64_t{1} << 40};
  std::vector<std::int64_t> numbers = world_rank() == 0 ? sent : std::vector<std::int64_t>{7};
  broadcast(numbers, MPI_COMM_WORLD);
  EXPECT_EQ(numbers, sent);
}

TEST(SumOver, WrapsAround) {
  const std::uint64_t largest = ~std::uint64_t{0};
  const auto size = static_cast<std::uint64_t>(world_size());
  EXPECT_EQ(sum_over(MPI_COMM_WORLD, largest), ~size + 1);
  EXPECT_EQ(sum_over(MPI_COMM_SELF, 5), 5U);
}

TEST(Communicator, RowsAndColumnsFollowTheProcessGrid) {
  for (int py = 1; py <= world_size(); ++py) {
    if (world_size() % py != 0) continue;
    const ProcessGrid grid{py, world_size() / py};
    Communicator made(MPI_COMM_WORLD, grid);
    const Communicator comm(std::move(made));
    int size = 0;
    int rank = 0;
    MPI_Comm_size(comm.row(), &size);
    MPI_Comm_rank(comm.row(), &rank);
    EXPECT_EQ(size, grid.py);
    EXPECT_EQ(rank, comm.y_index());
    MPI_Comm_size(comm.column(), &size);
    MPI_Comm_rank(comm.column(), &rank);
    EXPECT_EQ(size, grid.pz);
    EXPECT_EQ(rank, comm.z_index());
    EXPECT_EQ(comm.rank(), world_rank());
  }
  EXPECT_THROW(Communicator(MPI_COMM_WORLD, {world_size() + 1, 1}), Error);
}

}  // namespace
}  // namespace sluice
