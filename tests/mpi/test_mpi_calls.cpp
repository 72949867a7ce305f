// Every exchange method makes the MPI calls that its name says, in transposes and in Fourier transforms, and gives MPI
// no larger counts than it may: seen at MPI's profiling interface.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <complex>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/array_types.hpp"
#include "core/decomp/field.hpp"
#include "core/decomp/halo_exchange.hpp"
#include "core/decomp/transpose.hpp"
#include "core/device/buffer.hpp"
#include "core/support/collective.hpp"
#include "poisson/fft/distributed_fft.hpp"
#include "tests/support/exchange_methods.hpp"

namespace {

struct Calls {
  int sends = 0, receives = 0, alltoallv = 0, alltoallw = 0, datatypes = 0;
  int largest_count = 0;        ///< of elements, in one message or in one call that makes a datatype
  std::map<int, int> sends_to;  ///< each rank of MPI_COMM_WORLD
};
Calls calls;
bool is_shared_memory_full = false;  ///< on this rank

}  // namespace

extern "C" {

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ++calls.sends;
  ++calls.sends_to[sluice::ranks_in(MPI_COMM_WORLD, comm)[static_cast<std::size_t>(rank)]];
  calls.largest_count = std::max(calls.largest_count, count);
  return PMPI_Isend(buffer, count, type, rank, tag, comm, request);
}
int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
  ++calls.receives;
  calls.largest_count = std::max(calls.largest_count, count);
  return PMPI_Irecv(buffer, count, type, rank, tag, comm, request);
}
int MPI_Alltoallv(const void* send, const int* send_counts, const int* send_offsets, MPI_Datatype send_type,
                  void* receive, const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type,
                  MPI_Comm comm) {
  ++calls.alltoallv;
  return PMPI_Alltoallv(send, send_counts, send_offsets, send_type, receive, receive_counts, receive_offsets,
                        receive_type, comm);
}
int MPI_Alltoallw(const void* send, const int* send_counts, const int* send_offsets, const MPI_Datatype* send_types,
                  void* receive, const int* receive_counts, const int* receive_offsets,
                  const MPI_Datatype* receive_types, MPI_Comm comm) {
  ++calls.alltoallw;
  return PMPI_Alltoallw(send, send_counts, send_offsets, send_types, receive, receive_counts, receive_offsets,
                        receive_types, comm);
}
int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype* made) {
  calls.largest_count = std::max(calls.largest_count, count);
  return PMPI_Type_contiguous(count, type, made);
}
int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype* made) {
  calls.largest_count = std::max(calls.largest_count, count * length);
  return PMPI_Type_create_hvector(count, length, stride, type, made);
}
int posix_fallocate(int descriptor, off_t offset, off_t length) {
  if (is_shared_memory_full) return ENOSPC;
  return fallocate(descriptor, 0, offset, length) == 0 ? 0 : errno;
}
int MPI_Type_commit(MPI_Datatype* type) {
  ++calls.datatypes;
  return PMPI_Type_commit(type);
}

}  // extern "C"

namespace sluice {
namespace {

/// The calls of `moves` exchanges, in which each rank has a block for every other.
void expect_calls(const std::string& method, int moves) {
  int peers = 0;
  for (int rank = 0; rank < size_of(MPI_COMM_WORLD); ++rank) {
    const bool gets_messages =
        method.starts_with("peer") ? !test::is_on_this_host(method, rank) : rank != rank_of(MPI_COMM_WORLD);
    peers += gets_messages ? 1 : 0;
  }
  const int messages = moves * peers;
  const bool by_messages =
      method == "mpi_p2p" || method == "mpi_streams" || method == "mpi_datatype" || method.starts_with("peer_mpi");
  if (method == "mpi_pipelined") {
    EXPECT_GT(calls.sends, messages);  // blocks are cut into pieces
    EXPECT_GT(calls.receives, messages);
  } else {
    EXPECT_EQ(calls.sends, by_messages ? messages : 0);
    EXPECT_EQ(calls.receives, by_messages ? messages : 0);
  }
  EXPECT_EQ(calls.alltoallv, method == "mpi_alltoall" ? moves : 0);
  EXPECT_EQ(calls.alltoallw, method == "mpi_alltoallw" ? moves : 0);
  EXPECT_EQ(calls.datatypes > 0, method == "mpi_datatype" || method == "mpi_alltoallw") << calls.datatypes;
}

class CallsOf : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank sends nothing";
    if (!test::method_works(GetParam())) GTEST_SKIP() << "the method does not work between these ranks";
    exchange_ = test::make_tested(GetParam());
  }

  // In so many, mpi_pipelined tries several sizes of pieces, if blocks are larger than the smallest, 256 KiB.
  const int round_trips = GetParam() == "mpi_pipelined" ? 12 : 2;
  // As many bytes in both precisions.
  static constexpr std::int64_t planes = sizeof(real) == sizeof(double) ? 120 : 240;

  std::unique_ptr<Exchange> exchange_;
};

TEST_P(CallsOf, TransposesAreWhatTheNameSays) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const std::array<std::int64_t, 3> cells{180, 90, planes};
  std::vector<Box3> from, to;
  const std::vector<std::int64_t> x = split_evenly(cells[0], ranks);
  const std::vector<std::int64_t> z = split_evenly(cells[2], ranks);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    from.push_back({{0, 0, z[rank]}, {cells[0], cells[1], z[rank + 1]}});
    to.push_back({{x[rank], 0, 0}, {x[rank + 1], cells[1], cells[2]}});
  }
  Transpose<std::complex<real>> transpose(MPI_COMM_WORLD, from, to, *exchange_);
  const Box3& own = from[static_cast<std::size_t>(rank_of(MPI_COMM_WORLD))];
  Buffer<std::complex<real>> array(static_cast<std::size_t>(own.volume()));
  const auto view = contiguous_view(array.data(), own.nx(), own.ny(), own.nz());
  calls = {};
  for (int n = 0; n < round_trips; ++n) {
    transpose.forward(as_const(view));
    transpose.backward(view);
  }
  expect_calls(GetParam(), 2 * round_trips);
}

TEST_P(CallsOf, TransformsAreWhatTheNameSays) {
  for (const FftDecomposition decomposition : {FftDecomposition::slab_2d_1d, FftDecomposition::slab_1d_2d}) {
    for (const FftLayout layout : {FftLayout::contiguous, FftLayout::realigned}) {
      DistributedFft fft(MPI_COMM_WORLD, {180, 108, planes}, decomposition, layout, {}, *exchange_);
      Buffer<real> values(static_cast<std::size_t>(fft.real_box().volume()));
      Buffer<std::complex<real>> modes(fft.complex_elements());
      calls = {};
      for (int n = 0; n < round_trips; ++n) {
        fft.forward(values.data(), modes.data());
        fft.backward(modes.data(), values.data());
      }
      expect_calls(GetParam(), 2 * round_trips);
    }
  }
}

TEST_P(CallsOf, SeveralFieldsShareTheirMessages) {
  constexpr int fields = 3;
  DistributedFft fft(MPI_COMM_WORLD, {60, 54, planes}, FftDecomposition::slab_2d_1d, FftLayout::contiguous, {},
                     *exchange_, {FftType::complex_to_complex, fields});
  Buffer<std::complex<real>> modes(fft.complex_elements());
  calls = {};
  for (int n = 0; n < round_trips; ++n) {
    fft.forward(modes.data(), modes.data());
    fft.backward(modes.data(), modes.data());
  }
  expect_calls(GetParam(), 2 * round_trips * (exchange_->sends_unpacked() ? fields : 1));
}

/// Messages to each rank of MPI_COMM_WORLD, which must be `expected` to each of those on other hosts.
class MessagesOf : public CallsOf {
 protected:
  void expect_messages(const std::map<int, int>& expected) const {
    for (int rank = 0; rank < size_of(MPI_COMM_WORLD); ++rank) {
      const auto found = expected.find(rank);
      const bool is_neighbour = found != expected.end() && !test::is_on_this_host(GetParam(), rank);
      const bool by_mpi = GetParam().starts_with("peer_mpi");
      EXPECT_EQ(calls.sends_to[rank], is_neighbour && by_mpi ? found->second : 0) << "to rank " << rank;
    }
  }
};

// Transposes in rows and columns of all process grids, of which some cross hosts and others do not.
TEST_P(MessagesOf, TransposesAreForRanksOfOtherHostsOnly) {
  const std::array<std::int64_t, 3> cells{24, 24, 24};
  for (const ProcessGrid& grid : Decomposition::candidates(cells, size_of(MPI_COMM_WORLD), 12)) {
    const Decomposition decomposition(cells, grid, 12);
    const Communicator comm(MPI_COMM_WORLD, grid);
    const auto x_pencil = [&](int rank) { return decomposition.spectral_x_pencil(rank); };
    const auto y_pencil = [&](int rank) { return decomposition.spectral_y_pencil(rank); };
    const auto z_pencil = [&](int rank) { return decomposition.spectral_z_pencil(rank); };
    Transpose<std::complex<real>> in_row(comm.row(), comm.row_boxes(x_pencil), comm.row_boxes(y_pencil), *exchange_);
    Transpose<std::complex<real>> in_column(comm.column(), comm.column_boxes(y_pencil), comm.column_boxes(z_pencil),
                                            *exchange_);
    const Box3 x = x_pencil(comm.rank());
    const Box3 y = y_pencil(comm.rank());
    Buffer<std::complex<real>> source(static_cast<std::size_t>(x.volume())),
        source_y(static_cast<std::size_t>(y.volume()));
    const auto in_x = contiguous_view(source.data(), x.nx(), x.ny(), x.nz());
    const auto in_y = contiguous_view(source_y.data(), y.nx(), y.ny(), y.nz());
    const auto expect = [&](MPI_Comm direction) {
      std::map<int, int> expected;
      for (const int rank : ranks_in(MPI_COMM_WORLD, direction)) expected[rank] = 2;
      expect_messages(expected);
    };
    calls = {};
    in_row.forward(as_const(in_x));
    in_row.backward(in_x);
    expect(comm.row());
    calls = {};
    in_column.forward(as_const(in_y));
    in_column.backward(in_y);
    expect(comm.column());
  }
}

// One message to each neighbour in y, in z, and in z in the background.
TEST_P(MessagesOf, HalosAreForNeighboursOnOtherHostsOnly) {
  const std::array<std::int64_t, 3> cells{12, 24, 24};
  const int ranks = size_of(MPI_COMM_WORLD);
  for (const ProcessGrid& grid : Decomposition::candidates(cells, ranks, 12)) {
    const Decomposition decomposition(cells, grid, 12);
    const Communicator comm(MPI_COMM_WORLD, grid);
    const Box3 box = decomposition.x_pencil(comm.rank());
    HaloExchange halo(comm, box, *exchange_);
    Field first(box, Location::center), second(box, Location::center);
    std::map<int, int> along_y, along_z;
    for (const int step : {1, grid.py - 1}) {
      if (grid.py > 1) along_y[grid.rank((comm.y_index() + step) % grid.py, comm.z_index())] = 1;
    }
    for (const int z : {comm.z_index() - 1, comm.z_index() + 1}) {
      if (z >= 0 && z < grid.pz) along_z[grid.rank(comm.y_index(), z)] = 1;
    }
    calls = {};
    halo.update_y({&first, &second});
    expect_messages(along_y);
    calls = {};
    halo.update_z(first, HaloExchange::Layers{1, 1});
    expect_messages(along_z);
    if (grid.pz == 1) continue;
    calls = {};
    halo.start_z({&first, &second});
    EXPECT_EQ(calls.sends, 0);  // only copies within the host are in the background
    halo.finish_z();
    expect_messages(along_z);
  }
}

// Shared memory that one rank does not get: the same error on the ranks of all hosts, and none of them waits.
TEST_P(MessagesOf, AFaultOnOneHostIsTheFaultOfAll) {
  if (device::is_gpu()) GTEST_SKIP() << "the memory of a GPU is shared by other calls";
  const auto code_of = [&](const auto& action) {
    is_shared_memory_full = rank_of(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
    ExitCode code = ExitCode::success;
    try {
      action();
    } catch (const Error& error) {
      code = error.code();
    }
    is_shared_memory_full = false;
    return code;
  };
  EXPECT_EQ(code_of([&] { test::make_tested(GetParam()); }), ExitCode::resources);
  const std::size_t bytes = 1 << 20;
  std::vector<std::size_t> blocks(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)), bytes);
  blocks[static_cast<std::size_t>(rank_of(MPI_COMM_WORLD))] = 0;
  const BlockLayout layout = BlockLayout::of(blocks);
  const Route route{MPI_COMM_WORLD, layout, layout};
  int on_last_host = 0;
  for (int rank = 0; rank < size_of(MPI_COMM_WORLD); ++rank) on_last_host += test::is_on_this_host(GetParam(), rank);
  MPI_Bcast(&on_last_host, 1, MPI_INT, size_of(MPI_COMM_WORLD) - 1, MPI_COMM_WORLD);
  const ExitCode expected = on_last_host > 1 ? ExitCode::resources : ExitCode::success;  // alone it needs no buffer
  EXPECT_EQ(code_of([&] { exchange_->block_mover(route); }), expected);
  EXPECT_NE(exchange_->block_mover(route), nullptr);
}

/// Blocks of more elements than a count may hold: as few messages as possible, or one call with nested datatypes.
class CallsWithSmallCountsOf : public CallsOf {};

TEST_P(CallsWithSmallCountsOf, SplitBlocksThatAreTooLarge) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const std::size_t elements = 3 * test::small_count + 2;  // in each block: four messages
  const std::string method = GetParam().substr(0, GetParam().find(test::small_counts));
  std::vector<Box3> from, to;
  for (int rank = 0; rank < ranks; ++rank) {
    from.push_back({{0, 0, rank}, {ranks * static_cast<std::int64_t>(elements), 1, rank + 1}});
    to.push_back({{rank * static_cast<std::int64_t>(elements), 0, 0},
                  {(rank + 1) * static_cast<std::int64_t>(elements), 1, ranks}});
  }
  Transpose<real> transpose(MPI_COMM_WORLD, from, to, *exchange_);
  const Box3& own = from[static_cast<std::size_t>(rank_of(MPI_COMM_WORLD))];
  Buffer<real> array(static_cast<std::size_t>(own.volume()));
  calls = {};
  transpose.forward(contiguous_view(array.data(), own.nx(), own.ny(), own.nz()));
  const bool in_pieces = method == "mpi_p2p" || method == "mpi_streams" || method == "mpi_pipelined";
  const int messages = (ranks - 1) * (in_pieces ? 4 : method == "mpi_datatype" ? 1 : 0);
  EXPECT_EQ(calls.sends, messages);
  EXPECT_EQ(calls.receives, messages);
  EXPECT_EQ(calls.alltoallv, 0);
  EXPECT_EQ(calls.alltoallw, method == "mpi_alltoall" || method == "mpi_alltoallw" ? 1 : 0);
  EXPECT_LE(calls.largest_count, static_cast<int>(test::small_count));
}

/// Datatypes of more elements than an int counts, as far as that shows without memory for them.
TEST(ArrayTypes, DescribePartsOfAnySize) {
  constexpr std::size_t many = (std::size_t{3} << 31) + 5;
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(real));
  const auto part = [&](std::size_t row, int rows, int planes, std::ptrdiff_t row_gap, std::ptrdiff_t plane_gap) {
    const std::ptrdiff_t row_stride = static_cast<std::ptrdiff_t>(row) * size + row_gap * size;
    return ArrayPart{
        nullptr, sizeof(real), row * sizeof(real), rows, planes, row_stride, rows * row_stride + plane_gap * size};
  };
  ArrayTypes types(mpi_max_count());
  const std::ptrdiff_t offset = std::ptrdiff_t{5} << 32;
  for (const ArrayPart& tested :
       {part(many, 1, 1, 0, 0), part(70000, 70000, 1, 0, 0), part(70000, 70000, 3, 2, 1), part(5000, 3000, 2000, 0, 0),
        part(5000, 3000, 2000, 1, 4), part(1, 70000, 70000, 0, 0), part(many, 2, 2, 1, 1)}) {
    MPI_Datatype type = types.of(tested, offset);
    MPI_Count bytes = 0, begin = 0, extent = 0;
    MPI_Type_size_x(type, &bytes);
    MPI_Type_get_true_extent_x(type, &begin, &extent);
    const AddressRange range = range_of({{0, tested}});
    EXPECT_EQ(static_cast<std::size_t>(bytes), tested.bytes());
    EXPECT_EQ(begin, offset);
    EXPECT_EQ(extent, reinterpret_cast<std::ptrdiff_t>(range.end));
  }
}

INSTANTIATE_TEST_SUITE_P(SmallCounts, CallsWithSmallCountsOf, testing::ValuesIn(test::small_count_methods()),
                         [](const auto& method) { return method.param; });

INSTANTIATE_TEST_SUITE_P(OnHosts, MessagesOf, testing::ValuesIn(test::methods_on_hosts()),
                         [](const auto& method) { return method.param; });

INSTANTIATE_TEST_SUITE_P(Methods, CallsOf, testing::ValuesIn(test::tested_methods()),
                         [](const auto& method) { return method.param; });

}  // namespace
}  // namespace sluice
