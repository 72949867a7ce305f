// Transposes: exact permutations between the pencils, on every process grid, by every exchange method.
#include <gtest/gtest.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <complex>
#include <memory>
#include <string>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/hosts.hpp"
#include "core/decomp/exchange/mpi_pieces.hpp"
#include "core/decomp/exchange/shared_memory.hpp"
#include "core/decomp/transpose.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/owned_comm.hpp"
#include "tests/support/exchange_methods.hpp"
#include "tests/support/index_array.hpp"

namespace sluice {
namespace {

using Cells = std::array<std::int64_t, 3>;
using Pencil = Box3 (Decomposition::*)(int) const;
using test::IndexArray;

int world_size() {
  return size_of(MPI_COMM_WORLD);
}

std::string label(const Cells& cells, const ProcessGrid& grid) {
  return std::to_string(cells[0]) + " x " + std::to_string(cells[1]) + " x " + std::to_string(cells[2]) + " on " +
         std::to_string(grid.py) + " x " + std::to_string(grid.pz);
}

/// The boxes of the ranks of a row or column, in the order of that communicator.
std::vector<Box3> boxes(const Decomposition& decomposition, const Communicator& comm, Pencil pencil, bool in_row) {
  const auto box = [&](int rank) { return (decomposition.*pencil)(rank); };
  return in_row ? comm.row_boxes(box) : comm.column_boxes(box);
}

/// There and back, twice with different values; also the margin around the array must be as it was.
template <class T>
void expect_exact(Transpose<T>& transpose, const Cells& cells, const Box3& from, const Box3& to) {
  IndexArray<T> source(cells, from);
  for (const int shift : {1, 2}) {
    source.fill(shift);
    transpose.forward(source.view());
    device::synchronize();
    EXPECT_EQ(test::mismatches<T>(transpose.transposed(), cells, to, shift), 0) << "forward";
    EXPECT_EQ(source.mismatches(shift), 0) << "the source changed";
    source.clear();
    transpose.backward(source.view());
    device::synchronize();
    EXPECT_EQ(source.mismatches(shift), 0) << "backward";
  }
}

template <class T>
void expect_exact_between(const Decomposition& decomposition, const Communicator& comm, const Cells& cells, Pencil from,
                          Pencil to, bool in_row, Exchange& exchange) {
  Transpose<T> transpose(in_row ? comm.row() : comm.column(), boxes(decomposition, comm, from, in_row),
                         boxes(decomposition, comm, to, in_row), exchange);
  expect_exact(transpose, cells, (decomposition.*from)(comm.rank()), (decomposition.*to)(comm.rank()));
}

class TransposeBy : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!test::method_works(GetParam())) GTEST_SKIP() << GetParam() << " does not work between these ranks";
  }
};

TEST_P(TransposeBy, IsAnExactPermutationOnEveryProcessGrid) {
  const std::unique_ptr<Exchange> exchange = test::make_tested(GetParam());
  int tested = 0;
  for (const Cells& cells :
       {Cells{9, 10, 11}, Cells{32, 24, 20}, Cells{12, 13, 14}, Cells{10, 6, 12}, Cells{3, 1, 13}, Cells{16, 12, 12}}) {
    const int z_blocks = static_cast<int>(cells[2] / 2);
    for (const ProcessGrid& grid : Decomposition::candidates(cells, world_size(), z_blocks)) {
      SCOPED_TRACE(label(cells, grid));
      ++tested;
      const Decomposition decomposition(cells, grid, z_blocks);
      const Communicator comm(MPI_COMM_WORLD, grid);
      const Cells modes{cells[0] / 2 + 1, cells[1], cells[2]};
      expect_exact_between<std::complex<real>>(decomposition, comm, modes, &Decomposition::spectral_x_pencil,
                                               &Decomposition::spectral_y_pencil, true, *exchange);
      expect_exact_between<std::complex<real>>(decomposition, comm, modes, &Decomposition::spectral_y_pencil,
                                               &Decomposition::spectral_z_pencil, false, *exchange);
      expect_exact_between<real>(decomposition, comm, cells, &Decomposition::x_pencil, &Decomposition::z_pencil, false,
                                 *exchange);
    }
  }
  EXPECT_GT(tested, 0);
}

/// The global box in slabs along an axis, one a rank.
std::vector<Box3> slabs(const Cells& cells, std::size_t axis) {
  const int size = world_size();
  const auto bounds = split_evenly(cells[axis], size);
  std::vector<Box3> list;
  for (std::size_t n = 0; n < static_cast<std::size_t>(size); ++n) {
    Box3 box = box_of(cells[0], cells[1], cells[2]);
    box.lo[axis] = bounds[n];
    box.hi[axis] = bounds[n + 1];
    list.push_back(box);
  }
  return list;
}

TEST_P(TransposeBy, SharesBuffersThatGrowAfterwards) {
  const std::unique_ptr<Exchange> exchange = test::make_tested(GetParam());
  const Cells small{9, 10, 11};
  const Cells large{19, 21, 23};
  const Cells thin{2, 7, 3};  // some ranks own nothing
  const auto own = static_cast<std::size_t>(rank_of(MPI_COMM_WORLD));
  Transpose<real> first(MPI_COMM_WORLD, slabs(small, 1), slabs(small, 2), *exchange);
  expect_exact(first, small, slabs(small, 1)[own], slabs(small, 2)[own]);
  Transpose<real> second(MPI_COMM_WORLD, slabs(large, 2), slabs(large, 0), *exchange);
  Transpose<std::complex<real>> third(MPI_COMM_WORLD, slabs(thin, 0), slabs(thin, 2), *exchange);
  for (int repeat = 0; repeat < 2; ++repeat) {
    expect_exact(first, small, slabs(small, 1)[own], slabs(small, 2)[own]);
    expect_exact(second, large, slabs(large, 2)[own], slabs(large, 0)[own]);
    expect_exact(third, thin, slabs(thin, 0)[own], slabs(thin, 2)[own]);
  }
}

/// What a transposed array is at a moment in the order of the loops.
class Snapshot {
 public:
  Snapshot(View3<real> array, const Box3& box)
      : array_(array), box_(box), copy_(static_cast<std::size_t>(array.stride_z * box.nz())) {}

  void take() { device::copy_async(copy_.data(), array_.origin, copy_.bytes()); }
  std::int64_t mismatches(const Cells& cells, int shift) {
    View3<real> view = array_;
    view.origin = copy_.data();
    return test::mismatches<real>(view, cells, box_, shift);
  }

 private:
  View3<real> array_;
  Box3 box_;
  Buffer<real> copy_;
};

/// Packed blocks of 5 numbers from each rank to each other, by the buffers that all movers share.
class Messages {
 public:
  Messages(Exchange& exchange, int count) : rank_(rank_of(MPI_COMM_WORLD)), size_(world_size()) {
    std::vector<std::size_t> bytes(static_cast<std::size_t>(size_), numbers * sizeof(real));
    bytes[static_cast<std::size_t>(rank_)] = 0;
    const BlockLayout layout = BlockLayout::of(bytes);
    mover_ = exchange.block_mover({MPI_COMM_WORLD, layout, layout});
    for (int n = 0; n < count; ++n) {
      sent_.emplace_back(std::vector<real>(numbers, value(rank_, n)));
      received_.emplace_back(numbers * static_cast<std::size_t>(size_));
    }
  }

  void trade(int n) {
    const auto at = static_cast<std::size_t>(n);
    Parts outgoing, incoming;
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_) continue;
      outgoing.push_back({peer, part_at(sent_[at].data())});
      incoming.push_back({peer, part_at(received_[at].data() + numbers * static_cast<std::size_t>(peer))});
    }
    mover_->move(outgoing, incoming);
  }

  int mismatches(int n) const {
    const std::vector<real> found = received_[static_cast<std::size_t>(n)].download();
    int count = 0;
    for (int peer = 0; peer < size_; ++peer) {
      for (std::size_t m = 0; peer != rank_ && m < numbers; ++m)
        count += found[numbers * static_cast<std::size_t>(peer) + m] == value(peer, n) ? 0 : 1;
    }
    return count;
  }

 private:
  static constexpr std::size_t numbers = 5;
  static ArrayPart part_at(real* data) {
    return {reinterpret_cast<std::byte*>(data), sizeof(real), numbers * sizeof(real), 1, 1, 0, 0};
  }
  static real value(int rank, int n) { return static_cast<real>(100 * n + rank + 1); }

  int rank_, size_;
  std::unique_ptr<Mover> mover_;
  std::vector<Buffer<real>> sent_, received_;
};

// Many exchanges of different data in the same buffers, issued without waiting and by some ranks later than by others:
// a block that is written before the last one was read, or read before it is written, shows.
TEST_P(TransposeBy, KeepsExchangesApartThatFollowEachOtherAtOnce) {
  const std::unique_ptr<Exchange> exchange = test::make_tested(GetParam());
  const Cells cells{64, 48, 40};
  const Cells other_cells{33, 17, 50};
  const int rank = rank_of(MPI_COMM_WORLD);
  const auto own = static_cast<std::size_t>(rank);
  Transpose<real> transpose(MPI_COMM_WORLD, slabs(cells, 1), slabs(cells, 2), *exchange);
  Transpose<real> other(MPI_COMM_WORLD, slabs(other_cells, 2), slabs(other_cells, 0), *exchange);
  constexpr int count = 24;
  const Box3 to = slabs(cells, 2)[own];
  const Box3 other_to = slabs(other_cells, 0)[own];
  std::vector<IndexArray<real>> sources, others;
  std::vector<Snapshot> found, other_found;
  Messages messages(*exchange, count);
  for (int n = 0; n < count; ++n) {
    sources.emplace_back(cells, slabs(cells, 1)[own]).fill(n);
    others.emplace_back(other_cells, slabs(other_cells, 2)[own]).fill(n);
    found.emplace_back(transpose.transposed(), to);
    other_found.emplace_back(other.transposed(), other_to);
  }
  for (int n = 0; n < count; ++n) {
    const auto at = static_cast<std::size_t>(n);
    if (n % 4 == rank % 4) usleep(2000);
    transpose.forward(sources[at].view());
    other.forward(others[at].view());
    messages.trade(n);
    other_found[at].take();
    if (n % 3 != 0) {
      transpose.backward(sources[at].view());
      transpose.forward(sources[at].view());
    }
    found[at].take();
  }
  device::synchronize();
  for (int n = 0; n < count; ++n) {
    const auto at = static_cast<std::size_t>(n);
    EXPECT_EQ(sources[at].mismatches(n), 0) << n;
    EXPECT_EQ(found[at].mismatches(cells, n), 0) << n;
    EXPECT_EQ(other_found[at].mismatches(other_cells, n), 0) << n;
    EXPECT_EQ(messages.mismatches(n), 0) << n;
  }
}

// Blocks of about a MiB on any number of ranks, so that a method which tunes the size of its pieces passes through
// several sizes; two transposes in turn, without waiting: buffers are used again while many pieces are on their way.
TEST_P(TransposeBy, StaysExactWhilePiecesAreTuned) {
  if (GetParam().ends_with(test::small_counts)) GTEST_SKIP() << "too many messages";
  const std::unique_ptr<Exchange> exchange = test::make_tested(GetParam());
  const int size = world_size();
  const auto own = static_cast<std::size_t>(rank_of(MPI_COMM_WORLD));
  const Cells cells{64, 48 * size, 44 * size};
  const Cells other_cells{60, 40 * size, 50 * size};
  Transpose<real> transpose(MPI_COMM_WORLD, slabs(cells, 1), slabs(cells, 2), *exchange);
  Transpose<real> other(MPI_COMM_WORLD, slabs(other_cells, 2), slabs(other_cells, 1), *exchange);
  std::vector<IndexArray<real>> sources, others;
  for (const int shift : {0, 1}) {
    sources.emplace_back(cells, slabs(cells, 1)[own]).fill(shift);
    others.emplace_back(other_cells, slabs(other_cells, 2)[own]).fill(shift);
  }
  for (int n = 0; n < 36; ++n) {
    const auto at = static_cast<std::size_t>(n % 2);
    transpose.forward(sources[at].view());
    other.forward(others[at].view());
    if (n % 5 != 0) continue;
    device::synchronize();
    EXPECT_EQ(test::mismatches<real>(transpose.transposed(), cells, slabs(cells, 2)[own], n % 2), 0) << n;
    EXPECT_EQ(test::mismatches<real>(other.transposed(), other_cells, slabs(other_cells, 1)[own], n % 2), 0) << n;
  }
}

/// Sends blocks in given pieces.
class InPieces : public MpiExchange {
 public:
  explicit InPieces(const Pieces& pieces) : MpiExchange(MPI_COMM_WORLD), pieces_(pieces) {}

 private:
  std::unique_ptr<Connection> connect(const Route& route) override {
    return std::make_unique<PieceConnection>(route, buffers_, std::make_shared<ChunkTuner>(pieces_));
  }

  Pieces pieces_;
};

// Ranks go directly from one transpose to the next, in which blocks have other sizes and some are empty.
TEST(TransposeInPieces, IsExactForEveryLimit) {
  const int size = world_size();
  const auto own = static_cast<std::size_t>(rank_of(MPI_COMM_WORLD));
  const Cells cells{23, 5 * size + 2, 7 * size + 3};
  const Cells few_cells{11, 13 * size + 1, std::max(2, size - 1)};
  for (const std::size_t bytes : {512, 4096, 1 << 20}) {
    for (const std::size_t limit : {0, 1, 2, 3, 7, 100}) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes, " + std::to_string(limit) + " in flight");
      InPieces exchange(Pieces{bytes, limit});
      Transpose<real> transpose(MPI_COMM_WORLD, slabs(cells, 1), slabs(cells, 2), exchange);
      Transpose<std::complex<real>> few(MPI_COMM_WORLD, slabs(few_cells, 1), slabs(few_cells, 2), exchange);
      for (int repeat = 0; repeat < 3; ++repeat) {
        expect_exact(transpose, cells, slabs(cells, 1)[own], slabs(cells, 2)[own]);
        expect_exact(few, few_cells, slabs(few_cells, 1)[own], slabs(few_cells, 2)[own]);
      }
    }
  }
}

TEST_P(TransposeBy, RefusesALengthOfListsThatIsNotTheNumberOfRanks) {
  const std::unique_ptr<Exchange> exchange = test::make_tested(GetParam());
  const std::vector<Box3> too_many(static_cast<std::size_t>(world_size()) + 1, box_of(4, 4, 4));
  EXPECT_THROW(Transpose<real>(MPI_COMM_WORLD, too_many, too_many, *exchange), Error);
}

TEST(ExchangeMethods, CandidatesAreMethodsOfTheBuildAndTheSameOnAllRanks) {
  const std::vector<std::string> candidates = exchange_candidates(MPI_COMM_WORLD);
  ASSERT_FALSE(candidates.empty());
  std::string all;
  for (const std::string& name : candidates) {
    EXPECT_NE(std::ranges::find(exchange_methods(), name), exchange_methods().end()) << name;
    EXPECT_NE(make_exchange(name, MPI_COMM_WORLD), nullptr);
    all += name + " ";
  }
  std::string of_first = all;
  broadcast(of_first, MPI_COMM_WORLD);
  EXPECT_EQ(all, of_first);
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// On a CPU all of these methods work, but only a case that asks for shared memory gets it.
TEST(ExchangeMethods, SharedMemoryOfCpusIsNoCandidate) {
  if (world_size() == 1 || device::is_gpu()) GTEST_SKIP();
  for (const char* method : {"peer", "peer_mpi"}) {
    EXPECT_FALSE(has(exchange_candidates(MPI_COMM_WORLD), method));
    EXPECT_NE(make_exchange(method, MPI_COMM_WORLD), nullptr);
  }
  for (const test::HostGroups& groups : test::host_groups) {
    const test::EmulatedHosts hosts(groups);
    const std::vector<std::string> candidates = exchange_candidates(MPI_COMM_WORLD);
    EXPECT_EQ(candidates.front(), "mpi_p2p");
    EXPECT_FALSE(has(candidates, "peer_mpi"));
    EXPECT_NE(make_exchange("peer_mpi", MPI_COMM_WORLD), nullptr);
    try {
      make_exchange("peer", MPI_COMM_WORLD);
      ADD_FAILURE() << "peer on several hosts";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::resources);
      EXPECT_NE(std::string(error.what()).find("several hosts"), std::string::npos) << error.what();
    }
  }
}

// More than /dev/shm holds, as in a container with a small one: nothing hangs, and no rank ends by a signal.
TEST(ExchangeMethods, SharedMemoryThatDoesNotFitIsRefusedOnAllRanks) {
  if (device::is_gpu()) GTEST_SKIP();
  struct statvfs space {};
  ASSERT_EQ(statvfs("/dev/shm", &space), 0);
  if (space.f_blocks == 0) GTEST_SKIP() << "/dev/shm has no limit";
  try {
    const SharedMemory memory(MPI_COMM_WORLD, (space.f_blocks + 1) * space.f_frsize);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resources);
    EXPECT_NE(std::string(error.what()).find("/dev/shm"), std::string::npos) << error.what();
  }
  const SharedMemory small(MPI_COMM_WORLD, 100);
  for (int rank = 0; rank < world_size(); ++rank) EXPECT_EQ(std::to_integer<int>(small.of(rank)[99]), 0);
}

TEST(Hosts, AreEmulatedByNameInAnyCommunicator) {
  EXPECT_EQ(size_of(ranks_of_host(MPI_COMM_WORLD)), world_size());
  const OwnedComm reversed = OwnedComm::split(MPI_COMM_WORLD, 0, -rank_of(MPI_COMM_WORLD));
  for (const test::HostGroups& groups : test::host_groups) {
    const test::EmulatedHosts hosts(groups);
    for (MPI_Comm comm : {MPI_COMM_WORLD, static_cast<MPI_Comm>(reversed)}) {
      std::vector<int> expected;
      for (const int rank : ranks_in(MPI_COMM_WORLD, comm)) {
        if (test::is_on_this_host(groups.name, rank)) expected.push_back(rank);
      }
      EXPECT_EQ(ranks_in(MPI_COMM_WORLD, ranks_of_host(comm)), expected) << groups.name;
    }
  }
}

TEST(Hosts, RefusesWrongNamesOnAllRanks) {
  std::string names = "a";
  for (int rank = 1; rank < world_size(); ++rank) names += ",a";
  const bool last = rank_of(MPI_COMM_WORLD) == world_size() - 1;
  for (const std::string& wrong : {names + ",b", names + ",", names.substr(1), last ? "b" + names.substr(1) : names}) {
    const test::EmulatedHosts hosts(wrong);
    try {
      ranks_of_host(MPI_COMM_WORLD);
      EXPECT_EQ(world_size(), 1) << wrong;  // one rank is its only host, whatever its name
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find("SLUICE_EMULATED_HOSTS"), std::string::npos) << error.what();
    }
  }
}

std::string name_of(const testing::TestParamInfo<std::string>& method) {
  return method.param;
}

INSTANTIATE_TEST_SUITE_P(Methods, TransposeBy, testing::ValuesIn(test::tested_methods()), name_of);
INSTANTIATE_TEST_SUITE_P(SmallCounts, TransposeBy, testing::ValuesIn(test::small_count_methods()), name_of);

}  // namespace
}  // namespace sluice
