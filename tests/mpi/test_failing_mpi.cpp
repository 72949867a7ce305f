// Whatever MPI call reports a failure, its caller throws: a lost message or a reduction without a result must not go
// unnoticed. The calls fail at MPI's profiling interface: they do their work, so that no rank waits for another, and
// return an error.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/decomp/exchange/array_types.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/owned_comm.hpp"
#include "io/files/field_writer.hpp"
#include "io/files/posix_file.hpp"

namespace {

std::string_view failing;           // the name of the call that fails, once
std::vector<MPI_Request> messages;  // of this rank

/// The status of a call, or an error if it is to fail.
int status_of(std::string_view call, int status) {
  if (call != failing) return status;
  failing = {};
  return MPI_ERR_INTERN;
}

}  // namespace

extern "C" {

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return status_of("MPI_Allreduce", PMPI_Allreduce(send, receive, count, type, op, comm));
}
int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return status_of("MPI_Bcast", PMPI_Bcast(buffer, count, type, root, comm));
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  return status_of("MPI_Comm_size", PMPI_Comm_size(comm, size));
}
int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  return status_of("MPI_Comm_rank", PMPI_Comm_rank(comm, rank));
}
int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  return status_of("MPI_Comm_group", PMPI_Comm_group(comm, group));
}
int MPI_Group_translate_ranks(MPI_Group group, int count, const int* ranks, MPI_Group other, int* translated) {
  return status_of("MPI_Group_translate_ranks", PMPI_Group_translate_ranks(group, count, ranks, other, translated));
}
int MPI_Type_free(MPI_Datatype* type) {
  return status_of("MPI_Type_free", PMPI_Type_free(type));
}
int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
  const int status = PMPI_Irecv(buffer, count, type, rank, tag, comm, request);
  messages.push_back(*request);
  return status_of("MPI_Irecv", status);
}
int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const int status = PMPI_Isend(buffer, count, type, rank, tag, comm, request);
  messages.push_back(*request);
  return status_of("MPI_Isend", status);
}

}  // extern "C"

namespace sluice {
namespace {

const MPI_Comm world = MPI_COMM_WORLD;

/// The error of `action` while `call` fails once, on this rank.
std::optional<Error> error_if_fails(std::string_view call, const std::function<void()>& action) {
  failing = call;
  std::optional<Error> error;
  try {
    action();
  } catch (const Error& thrown) {
    error = thrown;
  }
  EXPECT_TRUE(failing.empty()) << call << " was not called";
  failing = {};
  return error;
}

void expect_error_names(const std::optional<Error>& error, const std::string& call) {
  ASSERT_TRUE(error.has_value()) << call << " failed unnoticed";
  EXPECT_EQ(error->code(), ExitCode::internal);
  EXPECT_EQ(std::string(error->what()).rfind(call, 0), 0U) << error->what();
}

TEST(FailingMpi, RunCollectivelyThrowsIfRanksCannotAgree) {
  for (const std::string call : {"MPI_Comm_size", "MPI_Allreduce"}) {
    int runs = 0;
    expect_error_names(error_if_fails(call, [&] { run_collectively(world, [&] { ++runs; }); }), call);
    EXPECT_EQ(runs, 1);
  }
}

TEST(FailingMpi, RunCollectivelyKeepsTheErrorOfItsOwnRank) {
  const int rank = rank_of(world);
  const std::string own = "the disk of rank " + std::to_string(rank) + " is full";
  for (const std::string_view call : {"MPI_Comm_rank", "MPI_Comm_size", "MPI_Allreduce", "MPI_Bcast"}) {
    const auto error = error_if_fails(call, [&] { run_collectively(world, [&] { throw Error(ExitCode::io, own); }); });
    ASSERT_TRUE(error.has_value()) << call;
    EXPECT_EQ(error->code(), ExitCode::io) << call;
    EXPECT_EQ(error->what(), own) << call;
  }
}

TEST(FailingMpi, QuestionsAboutCommunicatorsThrow) {
  expect_error_names(error_if_fails("MPI_Comm_size", [] { size_of(world); }), "MPI_Comm_size");
  expect_error_names(error_if_fails("MPI_Comm_rank", [] { rank_of(world); }), "MPI_Comm_rank");
  for (const std::string call : {"MPI_Comm_size", "MPI_Comm_group", "MPI_Group_translate_ranks"})
    expect_error_names(error_if_fails(call, [] { ranks_in(world, world); }), call);
}

TEST(FailingMpi, DatatypesThrowIfTheirPartsCannotBeFreed) {
  ArrayTypes types(4);  // so that rows of 10 elements are made of several types
  const ArrayPart part{nullptr, sizeof(real), 10 * sizeof(real), 2, 2, 12 * sizeof(real), 30 * sizeof(real)};
  expect_error_names(error_if_fails("MPI_Type_free", [&] { types.of(part, 0); }), "MPI_Type_free");
}

/// A field of more than one piece, split along y, so that each rank needs elements of the other.
class FailingMessages : public testing::Test {
 protected:
  void SetUp() override {
    if (size_of(world) != 2) GTEST_SKIP() << "needs two ranks that both send and receive";
  }

  std::optional<Error> error_of_write(std::string_view call) {
    const std::int64_t rank = rank_of(world);
    const io::LocalBlock block{{4, 2, 40000}, {{0, rank, 0}, {40000, rank + 1, 4}}};
    const std::vector<double> values(static_cast<std::size_t>(block.box.volume()), 1.0);
    io::FieldWriter writer(comm_, block, sizeof(double));
    io::PosixFile file("/dev/null", io::PosixFile::Mode::log);
    messages.clear();
    auto error = error_if_fails(call, [&] { writer.write(0, values.data(), file); });
    if (error) finish();  // before the writer frees their memory
    return error;
  }

 private:
  // A send that was started has been received; a receive without a send never completes.
  static void finish() {
    if (messages.size() == 1) PMPI_Cancel(messages.data());
    PMPI_Waitall(static_cast<int>(messages.size()), messages.data(), MPI_STATUSES_IGNORE);
  }

  OwnedComm comm_ = OwnedComm::duplicate_of(world);
};

TEST_F(FailingMessages, FieldWriterThrowsIfASendFails) {
  expect_error_names(error_of_write("MPI_Isend"), "MPI_Isend");
}

TEST_F(FailingMessages, FieldWriterThrowsIfAReceiveFails) {
  expect_error_names(error_of_write("MPI_Irecv"), "MPI_Irecv");
}

}  // namespace
}  // namespace sluice
