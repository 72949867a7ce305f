// main of every test program: MPI around GoogleTest, rank 0 reports, and a failure on any rank fails all.
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

#include "core/device/select.hpp"

namespace {

/// All ranks end a test together. One that fails may leave the others waiting for it, on a GPU for ever: it then ends
/// the program. It calls MPI by the names of its profiling interface, because some tests replace MPI_ functions.
class RanksTogether : public testing::EmptyTestEventListener {
 public:
  RanksTogether(int rank, MPI_Comm world) : rank_(rank), world_(world) {}
  RanksTogether(const RanksTogether&) = delete;
  RanksTogether& operator=(const RanksTogether&) = delete;
  ~RanksTogether() override { stop_timer(); }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    if (rank_ != 0) {
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name() != nullptr ? result.file_name() : "",
                   result.line_number(), result.message());
    }
    if (result.fatally_failed() && !timer_.joinable()) {
      has_ended_ = false;
      timer_ = std::thread([this] { end_program_unless_test_ends(); });
    }
  }

  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    PMPI_Barrier(world_);
    stop_timer();
  }

 private:
  void stop_timer() {
    if (!timer_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
    }
    ended_.notify_one();
    timer_.join();
  }

  void end_program_unless_test_ends() {
    constexpr std::chrono::seconds patience(60);
    std::unique_lock lock(mutex_);
    if (ended_.wait_for(lock, patience, [this] { return has_ended_; })) return;
    std::fprintf(stderr, "rank %d: the other ranks do not end the test that failed here\n", rank_);
    std::_Exit(1);
  }

  int rank_;
  MPI_Comm world_;
  std::thread timer_;  ///< runs from a fatal failure to the end of the test
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  sluice::device::select(MPI_COMM_WORLD);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  MPI_Comm together = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &together);
  if (size > 1) listeners.Append(new RanksTogether(rank, together));  // the list deletes it
  const int mine = RUN_ALL_TESTS();
  int worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Comm_free(&together);
  if (rank == 0 && mine == 0 && worst != 0) std::cout << "a check failed on another rank than 0\n";
  MPI_Finalize();
  return worst;
}
