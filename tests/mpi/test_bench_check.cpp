// Benchmarks must notice wrong results: exchanges that do their work correctly, and ones that do not.
#include <gtest/gtest.h>
#include <mpi.h>

#include <limits>

#include "core/device/buffer.hpp"
#include "core/support/collective.hpp"
#include "src/bench/round_trip.hpp"
#include "tests/support/exchange_methods.hpp"

namespace sluice {
namespace {

enum class Defect {
  none,
  value,         ///< a received value is wrong
  displacement,  ///< two values are swapped in the first direction, and swapped back in the other
};

/// Movers of mpi_p2p with a defect on the last rank. For CPU builds: it writes to the arrays directly.
class DefectiveExchange : public Exchange {
 public:
  explicit DefectiveExchange(Defect defect) : exchange_(make_exchange("mpi_p2p", MPI_COMM_WORLD)), defect_(defect) {}

  MPI_Comm world() const override { return MPI_COMM_WORLD; }
  std::unique_ptr<BlockMover> block_mover(const Route& route) override {
    const bool is_last = rank_of(MPI_COMM_WORLD) + 1 == size_of(MPI_COMM_WORLD);
    return std::make_unique<DefectiveMover>(exchange_->block_mover(route), is_last ? defect_ : Defect::none,
                                            movers_++ % 2 == 0, rank_of(route.comm));
  }

 private:
  class DefectiveMover : public BlockMover {
   public:
    DefectiveMover(std::unique_ptr<BlockMover> mover, Defect defect, bool is_forward, int rank)
        : mover_(std::move(mover)), defect_(defect), is_forward_(is_forward), rank_(rank) {}

    void start(const Parts& outgoing, const Parts& incoming) override {
      incoming_ = incoming;
      if (defect_ == Defect::displacement && !is_forward_) swap_first_two(outgoing);
      mover_->start(outgoing, incoming);
    }
    void finish() override {
      mover_->finish();
      if (defect_ == Defect::displacement && is_forward_) swap_first_two(incoming_);
      if (defect_ == Defect::value) *first_value(incoming_) += real{0.25};
    }
    std::byte* open() override { return mover_->open(); }
    std::byte* incoming_blocks() override { return mover_->incoming_blocks(); }
    std::size_t buffer_bytes(bool sending) const override { return mover_->buffer_bytes(sending); }

   private:
    /// Of the first part of another rank.
    real* first_value(const Parts& parts) const {
      const auto other = std::ranges::find_if(parts, [this](const auto& part) { return part.peer != rank_; });
      return reinterpret_cast<real*>(other->part.data);
    }
    void swap_first_two(const Parts& parts) const { std::swap(first_value(parts)[0], first_value(parts)[1]); }

    std::unique_ptr<BlockMover> mover_;
    Defect defect_;
    bool is_forward_;
    int rank_;
    Parts incoming_;
  };

  std::unique_ptr<Exchange> exchange_;
  Defect defect_;
  int movers_ = 0;
};

BenchOptions quick(const std::string& what) {
  BenchOptions options;
  options.what = what;
  options.grids = {{16, 18, 20}};
  options.warm_up = 0;
  options.repeats = 1;
  return options;
}

Json measured(RoundTrip& workload, const BenchOptions& options) {
  Json row;
  measure(options, workload, row);
  return row;
}

class BenchCheck : public testing::Test {
 protected:
  void SetUp() override {
    if (size_of(MPI_COMM_WORLD) == 1 || device::is_gpu()) GTEST_SKIP() << "nothing is exchanged, or not by the host";
  }
};

TEST_F(BenchCheck, FindsWrongAndMisplacedValuesInTransposes) {
  const BenchOptions options = quick("transpose");
  for (const RoundTripSetup& setup : transpose_setups(options, options.cells(), size_of(MPI_COMM_WORLD))) {
    for (const Defect defect : {Defect::none, Defect::value, Defect::displacement}) {
      DefectiveExchange exchange(defect);
      const Json row = measured(*make_transpose(options, setup, exchange), options);
      EXPECT_EQ(is_wrong(row), defect != Defect::none) << setup.kind << row.dump();
      EXPECT_EQ(row["error"].get<double>() > 0, defect != Defect::none);
      if (defect == Defect::value) {
        EXPECT_NEAR(row["error"].get<double>(), 0.25, 4 * std::numeric_limits<real>::epsilon());
      }
    }
  }
}

TEST_F(BenchCheck, FindsWrongValuesInTransforms) {
  const BenchOptions options = quick("fft");
  for (const RoundTripSetup& setup : fft_setups(options, options.cells(), size_of(MPI_COMM_WORLD))) {
    for (const Defect defect : {Defect::none, Defect::value}) {
      DefectiveExchange exchange(defect);
      const Json row = measured(*make_fft(setup, exchange), options);
      EXPECT_EQ(is_wrong(row), defect != Defect::none) << setup.kind << row.dump();
    }
  }
}

/// As the check of a library that one rank runs on several devices.
TEST_F(BenchCheck, FindsThePlaceOfAnErrorInSlabsOfOneRank) {
  const Cells cells{5, 4, 7};
  constexpr int row = 6;  // with room at the end
  const KnownField field(1, cells);
  const std::array<std::int64_t, 3> place{3, 2, 4};
  Deviation largest;
  if (rank_of(MPI_COMM_WORLD) + 1 == size_of(MPI_COMM_WORLD)) {
    const std::vector<std::int64_t> z = split_evenly(cells[2], 3);
    for (std::size_t n = 0; n < 3; ++n) {
      const Box3 slab{{0, 0, z[n]}, {cells[0], cells[1], z[n + 1]}};
      Buffer<real> values(static_cast<std::size_t>(row * slab.ny() * slab.nz()));
      const View3<real> view = contiguous_view(values.data(), row, slab.ny(), slab.nz());
      field.write(view, slab);
      EXPECT_EQ(field.local_deviation(view, slab).error, 0);
      if (place[2] < z[n] || place[2] >= z[n + 1]) continue;
      view(3, 2, static_cast<int>(place[2] - z[n])) += real{0.25};
      largest = field.local_deviation(view, slab);
    }
  }
  largest = largest_of_ranks(largest);
  EXPECT_NEAR(largest.error, 0.25, std::numeric_limits<real>::epsilon());
  EXPECT_EQ(largest.where, place);
}

/// A transform that does nothing, or makes values that are not numbers.
class NoTransform : public RoundTrip {
 public:
  explicit NoTransform(real factor) : factor_(factor) {}
  Check check(std::uint64_t seed) override {
    const Box3 box{{0, 0, rank_of(MPI_COMM_WORLD)}, {4, 4, rank_of(MPI_COMM_WORLD) + 1}};
    return check_transform(*this, values_.data(), box, {4, 4, size_of(MPI_COMM_WORLD)}, seed);
  }
  void forward() override {
    for (std::size_t n = 0; n < values_.size(); ++n) values_.data()[n] *= factor_;
  }
  void backward() override {}
  double bytes_sent() const override { return 0; }

 private:
  real factor_;
  Buffer<real> values_{16};
};

TEST_F(BenchCheck, WantsTheFieldMultipliedByTheNumberOfCells) {
  const auto cells = static_cast<real>(16 * size_of(MPI_COMM_WORLD));
  NoTransform right(cells), nothing(1), no_number(std::numeric_limits<real>::quiet_NaN());
  EXPECT_EQ(right.check(1).fault, "");
  EXPECT_NE(nothing.check(1).fault, "");
  EXPECT_NE(no_number.check(1).fault, "");
}

}  // namespace
}  // namespace sluice
