// Benchmarks must notice wrong results: exchanges that do their work correctly, and ones that do not.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

#include "core/device/buffer.hpp"
#include "core/support/collective.hpp"
#include "core/support/random.hpp"
#include "src/bench/known_spectrum.hpp"
#include "src/bench/round_trip.hpp"
#include "tests/support/exact_dft.hpp"
#include "tests/support/exchange_methods.hpp"
#include "tests/support/fft_variants.hpp"

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

/// Of one and of several fields, real and complex.
std::vector<BenchOptions> options_of_transforms() {
  std::vector<BenchOptions> list;
  for (const char* values : {"real", "complex"}) {
    for (const int fields : {1, 3}) {
      BenchOptions& options = list.emplace_back(quick("fft"));
      options.values = values;
      options.fields = fields;
    }
  }
  return list;
}

TEST_F(BenchCheck, FindsWrongAndMisplacedValuesInTransforms) {
  for (const BenchOptions& options : options_of_transforms()) {
    for (const RoundTripSetup& setup : fft_setups(options, options.cells(), size_of(MPI_COMM_WORLD))) {
      for (const Defect defect : {Defect::none, Defect::value, Defect::displacement}) {
        DefectiveExchange exchange(defect);
        const Json row = measured(*make_fft(setup, exchange), options);
        EXPECT_EQ(is_wrong(row), defect != Defect::none) << setup.kind << row.dump();
      }
    }
  }
}

// What one direction displaces and the other puts back is wrong in the coefficients alone.
TEST_F(BenchCheck, FindsCoefficientsThatTheInverseWouldPutRight) {
  const double right = 100 * std::numeric_limits<real>::epsilon();
  for (const BenchOptions& options : options_of_transforms()) {
    for (const RoundTripSetup& setup : fft_setups(options, options.cells(), size_of(MPI_COMM_WORLD))) {
      DefectiveExchange exchange(Defect::displacement);
      const std::unique_ptr<RoundTrip> transform = make_fft(setup, exchange);
      EXPECT_EQ(transform->check(1).fault, "") << setup.kind;
      EXPECT_LT(transform->check(1).error, right) << setup.kind;
      const std::optional<Check> coefficients = transform->check_coefficients(1);
      ASSERT_TRUE(coefficients);
      EXPECT_NE(coefficients->fault, "") << setup.kind;
      EXPECT_GT(coefficients->error, 1e-4) << setup.kind;
    }
  }
}

/// Coefficients by the sum that defines them.
TEST(KnownSpectrum, HasTheCoefficientsOfItsField) {
  using Exact = test::Exact;
  using Complex = std::complex<real>;
  for (const Cells& cells : {Cells{9, 10, 11}, Cells{4, 3, 2}, Cells{1, 8, 5}}) {
    for (const FftType type : {FftType::real_to_complex, FftType::complex_to_complex}) {
      const bool is_real = type == FftType::real_to_complex;
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const KnownSpectrum known(seed, cells, type);
        const auto points = static_cast<std::size_t>(points_of(cells));
        const Box3 whole = box_of(cells[0], cells[1], cells[2]);
        std::vector<Exact> values(points);
        if (is_real) {
          Buffer<real> field(points);
          known.write(contiguous_view(field.data(), whole.nx(), whole.ny(), whole.nz()), whole);
          std::ranges::copy(field.download(), values.begin());
        } else {
          Buffer<Complex> field(points);
          known.write(contiguous_view(field.data(), whole.nx(), whole.ny(), whole.nz()), whole);
          std::ranges::copy(field.download(), values.begin());
        }
        const std::vector<Exact> all = test::exact_dft_3d(std::move(values), cells, -1);
        const Box3 box = box_of(is_real ? cells[0] / 2 + 1 : cells[0], cells[1], cells[2]);
        std::vector<Complex> coefficients;
        test::for_each_index(box, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::size_t) {
          coefficients.emplace_back(all[static_cast<std::size_t>(i + cells[0] * (j + cells[1] * k))]);
        });
        const auto deviation = [&] {
          const Buffer<Complex> found(coefficients);
          return known.deviation(contiguous_view(found.data(), box.nx(), box.ny(), box.nz()), box);
        };
        EXPECT_LT(deviation().error, 20 * std::numeric_limits<real>::epsilon());
        const Complex twice = real{2} * coefficients.back();
        coefficients.back() = twice + Complex(1, 0);
        EXPECT_GT(deviation().error, 1e-3);
        EXPECT_EQ(deviation().where, (std::array{box.hi[0] - 1, box.hi[1] - 1, box.hi[2] - 1}));
      }
    }
  }
}

/// The ranks of the two values, from 1, by tables of the binomial distribution.
TEST(IntervalOfTheMedian, IsThatOfTables) {
  const auto ranks = [](int count, double probability) {
    std::vector<double> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 1.0);
    return interval_of_median(values, probability);
  };
  EXPECT_EQ(ranks(5, 0.95), std::nullopt);
  EXPECT_EQ(ranks(6, 0.95), (Interval{1, 6}));
  EXPECT_EQ(ranks(10, 0.95), (Interval{2, 9}));
  EXPECT_EQ(ranks(20, 0.95), (Interval{6, 15}));
  EXPECT_EQ(ranks(100, 0.95), (Interval{40, 61}));
  EXPECT_EQ(ranks(7, 0.99), std::nullopt);
  EXPECT_EQ(ranks(8, 0.99), (Interval{1, 8}));
  EXPECT_EQ(ranks(10, 0.99), (Interval{1, 10}));
  EXPECT_EQ(ranks(20, 0.99), (Interval{4, 17}));
  EXPECT_EQ(ranks(100, 0.99), (Interval{37, 64}));
  EXPECT_EQ(ranks(0, 0.95), std::nullopt);
  const std::optional<Interval> of_many = ranks(100000, 0.95);  // 2^-n is no number
  ASSERT_TRUE(of_many);
  EXPECT_NEAR((*of_many)[0], 50000 - 0.98 * std::sqrt(100000.0), 2);
}

TEST(IntervalOfTheMedian, HoldsTheMedianOfASkewedDistributionAsOftenAsItSays) {
  constexpr int trials = 4000;
  int within_95 = 0, within_99 = 0;
  std::uint64_t number = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> values(15);
    for (double& value : values) value = -std::log(1 - uniform01(1, number++));  // median ln 2
    const Spread spread = spread_of(values);
    const auto holds = [](const Interval& interval) {
      return interval[0] <= std::numbers::ln2 && std::numbers::ln2 <= interval[1];
    };
    within_95 += holds(spread.interval_95.value()) ? 1 : 0;
    within_99 += holds(spread.interval_99.value()) ? 1 : 0;
  }
  EXPECT_NEAR(within_95, 0.9648 * trials, 0.01 * trials);   // the 4th and the 12th of 15 values
  EXPECT_NEAR(within_99, 0.9926 * trials, 0.005 * trials);  // the 3rd and the 13th
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
