// Every exchange method makes the MPI calls that its name says, in transposes and in Fourier transforms, and gives MPI
// no larger counts than it may. Pieces go around the ring in order, and no more at a time than the limit allows. All of
// this is seen at MPI's profiling interface.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <complex>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/array_types.hpp"
#include "core/decomp/exchange/mpi_pieces.hpp"
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

/// What happens to messages, in order, as this rank learns of it.
struct Event {
  enum Kind { send_begins, send_ends, receive_begins, receive_ends, block_arrives } kind;
  int peer;
  int elements = 0;
};
std::vector<Event> events;
std::map<const MPI_Request*, Event> in_flight;  ///< how each message ends; only in tests that clear this before

void begin(Event::Kind kind, Event::Kind end, int peer, int elements, const MPI_Request* request) {
  events.push_back({kind, peer, elements});
  in_flight[request] = {end, peer, elements};
}
void end(const MPI_Request* request) {
  const auto message = in_flight.find(request);
  if (message == in_flight.end()) return;
  events.push_back(message->second);
  in_flight.erase(message);
}
void end_some(const MPI_Request* requests, const int* count, const int* completed) {
  for (int n = 0; *count != MPI_UNDEFINED && n < *count; ++n) end(requests + completed[n]);
}

}  // namespace

extern "C" {

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ++calls.sends;
  ++calls.sends_to[sluice::ranks_in(MPI_COMM_WORLD, comm)[static_cast<std::size_t>(rank)]];
  calls.largest_count = std::max(calls.largest_count, count);
  begin(Event::send_begins, Event::send_ends, rank, count, request);
  return PMPI_Isend(buffer, count, type, rank, tag, comm, request);
}
int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
  ++calls.receives;
  calls.largest_count = std::max(calls.largest_count, count);
  begin(Event::receive_begins, Event::receive_ends, rank, count, request);
  return PMPI_Irecv(buffer, count, type, rank, tag, comm, request);
}
int MPI_Testsome(int requests_count, MPI_Request* requests, int* count, int* completed, MPI_Status* statuses) {
  const int result = PMPI_Testsome(requests_count, requests, count, completed, statuses);
  end_some(requests, count, completed);
  return result;
}
int MPI_Waitsome(int requests_count, MPI_Request* requests, int* count, int* completed, MPI_Status* statuses) {
  const int result = PMPI_Waitsome(requests_count, requests, count, completed, statuses);
  end_some(requests, count, completed);
  return result;
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const int result = PMPI_Waitall(count, requests, statuses);
  for (int n = 0; n < count; ++n) end(requests + n);
  return result;
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

/// Exchanges of uneven blocks, of which some are empty, by a PieceConnection of its own.
class PiecesOf : public testing::TestWithParam<Pieces> {
 protected:
  void SetUp() override {
    if (size == 1) GTEST_SKIP() << "one rank sends nothing";
    std::vector<std::size_t> sent, received;
    for (int peer = 0; peer < size; ++peer) {
      sent.push_back(block_bytes(rank, peer));
      received.push_back(block_bytes(peer, rank));
    }
    const Route route{MPI_COMM_WORLD, BlockLayout::of(sent), BlockLayout::of(received)};
    connection = std::make_unique<PieceConnection>(route, buffers, std::make_shared<ChunkTuner>(GetParam()));
  }

  std::size_t block_bytes(int from, int to) const {
    if (from == to || (size > 2 && (from + 2 * to) % 5 == 0)) return 0;
    return sizeof(real) * static_cast<std::size_t>(5000 + 700 * from + 100 * to);
  }
  std::size_t pieces_between(int from, int to) const {
    return (block_bytes(from, to) + GetParam().bytes - 1) / GetParam().bytes;
  }
  int ahead(int distance) const { return (rank + distance) % size; }
  int behind(int distance) const { return (rank + size - distance) % size; }

  void exchange() {
    events.clear();
    in_flight.clear();
    connection->begin();
    for (int distance = 1; distance < size; ++distance) connection->packed(ahead(distance));
    connection->depart();
    connection->run([](int peer) { events.push_back({Event::block_arrives, peer}); });
    EXPECT_TRUE(in_flight.empty());
  }

  const int size = size_of(MPI_COMM_WORLD);
  const int rank = rank_of(MPI_COMM_WORLD);
  MpiBuffers buffers{MPI_COMM_WORLD};
  std::unique_ptr<PieceConnection> connection;
};

TEST_P(PiecesOf, GoAroundTheRingInOrder) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    exchange();
    std::vector<std::pair<int, std::size_t>> sent, received, expected_sent, expected_received;  // peers and bytes
    for (const Event& event : events) {
      const std::pair<int, std::size_t> piece{event.peer, static_cast<std::size_t>(event.elements) * sizeof(real)};
      if (event.kind == Event::send_begins) sent.push_back(piece);
      if (event.kind == Event::receive_begins) received.push_back(piece);
    }
    for (int distance = 1; distance < size; ++distance) {
      const auto cut = [&](auto& list, int peer, std::size_t bytes) {
        for (; bytes > 0; bytes -= list.back().second) list.emplace_back(peer, std::min(bytes, GetParam().bytes));
      };
      cut(expected_sent, ahead(distance), block_bytes(rank, ahead(distance)));
      cut(expected_received, behind(distance), block_bytes(behind(distance), rank));
    }
    EXPECT_EQ(sent, expected_sent);
    EXPECT_EQ(received, expected_received);
  }
}

TEST_P(PiecesOf, AreNoMoreInFlightThanTheLimit) {
  const std::size_t limit = GetParam().in_flight == 0 ? std::numeric_limits<std::size_t>::max() : GetParam().in_flight;
  std::size_t to_send = 0, to_receive = 0;
  for (int peer = 0; peer < size; ++peer) {
    to_send += pieces_between(rank, peer);
    to_receive += pieces_between(peer, rank);
  }
  for (int repeat = 0; repeat < 3; ++repeat) {
    exchange();
    std::size_t sends = 0, receives = 0, most_sends = 0, most_receives = 0;
    for (const Event& event : events) {
      if (event.kind == Event::send_begins) most_sends = std::max(most_sends, ++sends);
      if (event.kind == Event::receive_begins) most_receives = std::max(most_receives, ++receives);
      if (event.kind == Event::send_ends) --sends;
      if (event.kind == Event::receive_ends) --receives;
    }
    EXPECT_LE(most_sends, limit);
    EXPECT_EQ(most_receives, std::min(limit, to_receive));
    EXPECT_TRUE(to_send == 0 || most_sends > 0);
    // Without a limit all is posted and, where packing does not run beside this, all is sent before any end is seen.
    if (GetParam().in_flight == 0 && !device::is_gpu()) {
      EXPECT_EQ(most_sends, to_send);
    }
  }
}

// A stage starts when what belongs to the stage before has arrived; where the limit holds several of this rank's
// largest blocks, so many stages may overlap.
TEST_P(PiecesOf, WaitForTheStageBefore) {
  if (GetParam().in_flight == 0) GTEST_SKIP() << "no limit, so nothing waits";
  std::size_t most_pieces = 1;
  for (int peer = 0; peer < size; ++peer) most_pieces = std::max(most_pieces, pieces_between(rank, peer));
  const int overlapping = static_cast<int>(std::max<std::size_t>(1, GetParam().in_flight / most_pieces));
  for (int repeat = 0; repeat < 3; ++repeat) {
    exchange();
    std::map<int, std::size_t> arrived;  // pieces of each peer
    for (const Event& event : events) {
      if (event.kind == Event::receive_ends) ++arrived[event.peer];
      if (event.kind != Event::send_begins) continue;
      const int distance = (event.peer + size - rank) % size;
      for (int before = 1; before <= distance - overlapping; ++before)
        EXPECT_EQ(arrived[behind(before)], pieces_between(behind(before), rank))
            << "sends at distance " << distance << " before all has come from distance " << before;
    }
  }
}

TEST_P(PiecesOf, AreUnpackedInTheOrderOfArrival) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    exchange();
    std::map<int, std::size_t> missing;
    std::vector<int> complete, unpacked;
    for (int peer = 0; peer < size; ++peer) missing[peer] = pieces_between(peer, rank);
    for (const Event& event : events) {
      if (event.kind == Event::receive_ends && --missing[event.peer] == 0) complete.push_back(event.peer);
      if (event.kind == Event::block_arrives) unpacked.push_back(event.peer);
    }
    EXPECT_EQ(unpacked, complete);
  }
}

const std::vector<Pieces> tested_pieces{{16384, 0},   {16384, 1},   {16384, 2},   {16384, 5},  {16384, 12},
                                        {1 << 20, 0}, {1 << 20, 1}, {1 << 20, 2}, {1 << 20, 4}};

INSTANTIATE_TEST_SUITE_P(Limits, PiecesOf, testing::ValuesIn(tested_pieces), [](const auto& pieces) {
  return std::to_string(pieces.param.bytes) + "_bytes_" + std::to_string(pieces.param.in_flight) + "_in_flight";
});

// The first rank packs only when all others have unpacked all other blocks: each rank, whatever its distance, unpacks
// the block of the first rank last.
class LatePieces : public PiecesOf {};

TEST_P(LatePieces, OfOneRankDoNotHoldUpTheOthers) {
  if (size == 2) GTEST_SKIP() << "there are no others";
  std::size_t others = 0;
  for (int peer = 1; peer < size; ++peer) others += block_bytes(peer, rank) > 0 ? 1 : 0;
  std::vector<int> unpacked;
  const auto report = [&] {
    if (rank > 0 && unpacked.size() == others) MPI_Send(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
  };
  connection->begin();
  for (int peer = 1; rank == 0 && peer < size; ++peer)
    MPI_Recv(nullptr, 0, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  connection->depart();
  if (others == 0) report();
  connection->run([&](int peer) {
    unpacked.push_back(peer);
    if (peer > 0) report();
  });
  EXPECT_EQ(unpacked.size(), others + (rank > 0 && block_bytes(0, rank) > 0 ? 1 : 0));
  if (rank > 0 && block_bytes(0, rank) > 0) {
    EXPECT_EQ(unpacked.back(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LatePieces, testing::Values(Pieces{16384, 0}, Pieces{1 << 20, 0}));

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
