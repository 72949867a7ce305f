// Distributed transforms: every decomposition and layout by every exchange method against the sums that define them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/decomp/exchange/exchange.hpp"
#include "core/device/buffer.hpp"
#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/random.hpp"
#include "poisson/fft/distributed_fft.hpp"
#include "tests/support/exact_dft.hpp"
#include "tests/support/exchange_methods.hpp"
#include "tests/support/fft_variants.hpp"

namespace sluice {
namespace {

using Complex = std::complex<real>;
using test::Cells;
using test::Exact;
using test::for_each_index;
using Variant = test::FftVariant;

/// A function of the global index of a cell.
using Values = std::function<double(std::int64_t, std::int64_t, std::int64_t)>;

/// Values that have no symmetry.
Values noise(const Cells& cells) {
  return [cells](std::int64_t i, std::int64_t j, std::int64_t k) {
    return uniform01(7, static_cast<std::uint64_t>(i + cells[0] * (j + cells[1] * k))) - 0.5;
  };
}

/// The coefficients of these values, all nx of a row.
std::vector<Exact> exact_coefficients(const Values& values, const Cells& cells) {
  std::vector<Exact> global(static_cast<std::size_t>(cells[0] * cells[1] * cells[2]));
  for_each_index(box_of(cells[0], cells[1], cells[2]),
                 [&](std::int64_t i, std::int64_t j, std::int64_t k, std::size_t n) {
                   global[n] = static_cast<long double>(static_cast<real>(values(i, j, k)));
                 });
  return test::exact_dft_3d(std::move(global), cells, -1);
}

/// Those of noise, computed once for all methods.
const std::vector<Exact>& coefficients_of_noise(const Cells& cells) {
  static std::map<Cells, std::vector<Exact>> known;
  const auto [at, is_new] = known.try_emplace(cells);
  if (is_new) at->second = exact_coefficients(noise(cells), cells);
  return at->second;
}

/// A transform with this rank's arrays.
class Transform {
 public:
  Transform(const Variant& variant, const Cells& cells, const ExchangeSet& exchanges)
      : fft_(test::make_fft(variant, cells, exchanges)),
        cells_(cells),
        space_(static_cast<std::size_t>(fft_->real_box().volume())),
        modes_(fft_->complex_elements()) {}

  DistributedFft& fft() { return *fft_; }

  void fill(const Values& values) { space_.upload(sampled(values)); }
  void forward() { fft_->forward(space_.data(), modes_.data()); }
  void backward() {
    space_.upload(std::vector<real>(space_.size(), -1));
    fft_->backward(modes_.data(), space_.data());
  }

  std::vector<real> values() const { return space_.download(); }
  /// The coefficients, without the scratch memory behind them.
  std::vector<Complex> modes() const {
    std::vector<Complex> modes = modes_.download();
    modes.resize(static_cast<std::size_t>(fft_->complex_box().volume()));
    return modes;
  }

  /// Multiplies each coefficient by factor(kx, ky, kz).
  void scale_modes(const Values& factor) {
    std::vector<Complex> modes = modes_.download();
    for_each_index(fft_->complex_box(), [&](std::int64_t i, std::int64_t j, std::int64_t k, std::size_t n) {
      modes[n] *= static_cast<real>(factor(i, j, k));
    });
    modes_.upload(modes);
  }

  /// Largest difference on this rank from these coefficients, over the largest of them all.
  double error_of_modes(const std::vector<Exact>& exact) const {
    const std::vector<Complex> modes = modes_.download();
    double error = 0;
    for_each_index(fft_->complex_box(), [&](std::int64_t i, std::int64_t j, std::int64_t k, std::size_t n) {
      const auto at = static_cast<std::size_t>(i + cells_[0] * (j + cells_[1] * k));
      error = larger(error, static_cast<double>(std::abs(Exact(modes[n]) - exact[at])));
    });
    double largest = 0;
    for (const Exact& coefficient : exact) largest = std::max(largest, static_cast<double>(std::abs(coefficient)));
    return error / largest;
  }

  /// Largest difference on this rank from these values, over `largest`; unscaled by nx ny nz.
  double error_in_space(const Values& values, double largest) const {
    const std::vector<real> found = space_.download();
    const std::vector<real> wanted = sampled(values);
    const auto scale = static_cast<double>(cells_[0] * cells_[1] * cells_[2]);
    double error = 0;
    for (std::size_t n = 0; n < found.size(); ++n) error = larger(error, std::abs(found[n] / scale - wanted[n]));
    return error / largest;
  }

 private:
  static double larger(double error, double candidate) { return candidate <= error ? error : candidate; }  // or NaN

  std::vector<real> sampled(const Values& values) const {
    std::vector<real> host(space_.size());
    for_each_index(fft_->real_box(), [&](std::int64_t i, std::int64_t j, std::int64_t k, std::size_t n) {
      host[n] = static_cast<real>(values(i, j, k));
    });
    return host;
  }

  std::unique_ptr<DistributedFft> fft_;
  Cells cells_;
  Buffer<real> space_;
  Buffer<Complex> modes_;
};

/// Whether ranks move arrays in each other's memory, which all of them reach.
bool moves_in_pieces(const std::string& method) {
  return method == "direct" || (method.starts_with("peer") && test::groups_of(method) == nullptr);
}

class DistributedFftBy : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!test::method_works(GetParam())) GTEST_SKIP() << GetParam() << " does not work between these ranks";
    exchange_ = test::make_tested(GetParam());
  }
  std::unique_ptr<Exchange> exchange_;
};

// All of them share the buffers of one exchange, made before any runs and used in turn, twice.
TEST_P(DistributedFftBy, IsTheSumThatDefinesItAndBack) {
  for (const Cells& cells : {Cells{9, 10, 11}, Cells{32, 24, 20}, Cells{18, 16, 32}, Cells{4, 3, 2}}) {
    SCOPED_TRACE(std::to_string(cells[0]) + " x " + std::to_string(cells[1]) + " x " + std::to_string(cells[2]));
    const Values values = noise(cells);
    const std::vector<Exact>& exact = coefficients_of_noise(cells);
    std::vector<std::unique_ptr<Transform>> transforms;
    for (const Variant& variant : test::fft_variants())
      transforms.push_back(std::make_unique<Transform>(variant, cells, *exchange_));
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (std::size_t n = 0; n < transforms.size(); ++n) {
        SCOPED_TRACE(test::fft_variants()[n].name);
        Transform& transform = *transforms[n];
        transform.fill(values);
        transform.forward();
        EXPECT_LE(transform.error_of_modes(exact), 8 * real_epsilon) << "forward";
        transform.backward();
        EXPECT_LE(transform.error_in_space(values, 0.5), 16 * real_epsilon) << "there and back";
      }
    }
  }
}

// Large enough for several pieces that copy engines move on a GPU, while others are transformed.
TEST_P(DistributedFftBy, OverlapsPiecesOfALargeGrid) {
  if (!moves_in_pieces(GetParam())) GTEST_SKIP() << "no pieces";
  const Cells cells{256, 128, 256};
  const Variant variant{"", FftDecomposition::slab_2d_1d, FftLayout::contiguous, {}};
  const auto other = test::make_tested("mpi_p2p");
  Transform in_blocks(variant, cells, *other), in_pieces(variant, cells, *exchange_);
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (Transform* transform : {&in_blocks, &in_pieces}) {
      transform->fill(noise(cells));
      transform->forward();
    }
    EXPECT_EQ(in_pieces.modes(), in_blocks.modes());
    in_pieces.backward();
    EXPECT_LE(in_pieces.error_in_space(noise(cells), 0.5), 16 * real_epsilon);
  }
}

TEST_P(DistributedFftBy, RefusesArraysThatAreNotAligned) {
  const auto fft =
      test::make_fft({"", FftDecomposition::slab_2d_1d, FftLayout::contiguous, {}}, {32, 24, 20}, *exchange_);
  Buffer<real> space(fft->real_elements() + 1);
  Buffer<Complex> modes(fft->complex_elements());
  EXPECT_THROW(fft->forward(space.data() + 1, modes.data()), Error);
  EXPECT_THROW(fft->backward(modes.data(), space.data() + 1), Error);
  fft->forward(space.data(), modes.data());  // the exchange is not in use
  fft->backward(modes.data(), space.data());
}

/// Of a cell of `count`, times a wavenumber; less whole turns, whose rounding a Laplacian would magnify.
double angle(std::int64_t index, std::int64_t count, std::int64_t wavenumber = 1) {
  return 2 * std::numbers::pi * static_cast<double>(wavenumber * index % count) / static_cast<double>(count);
}

// The field and the accuracy of Verma et al. (2022), eq. (5).
TEST_P(DistributedFftBy, RecoversAFieldOfSines) {
  const Cells cells{32, 24, 20};
  const Values field = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return 8 * std::sin(angle(i, cells[0])) * std::sin(angle(j, cells[1], 2)) * std::sin(angle(k, cells[2], 3)) +
           8 * std::sin(angle(i, cells[0], 4)) * std::sin(angle(j, cells[1], 5)) * std::sin(angle(k, cells[2], 6));
  };
  double largest = 0;
  for_each_index(box_of(cells[0], cells[1], cells[2]),
                 [&](std::int64_t i, std::int64_t j, std::int64_t k, std::size_t) {
                   largest = std::max(largest, std::abs(field(i, j, k)));
                 });
  for (const Variant& variant : test::fft_variants()) {
    SCOPED_TRACE(variant.name);
    Transform transform(variant, cells, *exchange_);
    transform.fill(field);
    transform.forward();
    transform.backward();
    EXPECT_LE(transform.error_in_space(field, largest), 45 * real_epsilon);  // 1e-14 in double precision
  }
}

// Egger (2021), sec. 2.6: the coefficients times -k^2, of a function that is not a sum of a few of them.
TEST_P(DistributedFftBy, GivesTheLaplacian) {
  const Cells cells{32, 24, 20};
  const auto function = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return std::exp(std::sin(angle(i, cells[0]))) * std::cos(angle(j, cells[1], 3)) * std::sin(angle(k, cells[2], 2));
  };
  const Values laplacian = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const double s = std::sin(angle(i, cells[0]));
    return (1 - s * s - s - 9 - 4) * function(i, j, k);
  };
  const auto squared = [](std::int64_t k, std::int64_t count) {
    const auto wavenumber = static_cast<double>(k <= count / 2 ? k : count - k);
    return wavenumber * wavenumber;
  };
  const double largest = 14 * std::numbers::e;
  for (const Variant& variant : test::fft_variants()) {
    SCOPED_TRACE(variant.name);
    Transform transform(variant, cells, *exchange_);
    transform.fill(function);
    transform.forward();
    transform.scale_modes([&](std::int64_t i, std::int64_t j, std::int64_t k) {
      return -(squared(i, cells[0]) + squared(j, cells[1]) + squared(k, cells[2]));
    });
    transform.backward();
    // Rounding of all coefficients alike, times up to 500 where the function's own factor is about 13.
    EXPECT_LE(transform.error_in_space(laplacian, largest), 64 * real_epsilon);
  }
}

TEST_P(DistributedFftBy, SplitsCoefficientsAsItSays) {
  const Cells cells{9, 10, 11};
  const int ranks = size_of(MPI_COMM_WORLD);
  const auto rank = static_cast<std::size_t>(rank_of(MPI_COMM_WORLD));
  const auto planes = split_evenly(cells[2], ranks);
  const Box3 slab{{0, 0, planes[rank]}, {cells[0], cells[1], planes[rank + 1]}};
  for (const FftLayout layout : {FftLayout::contiguous, FftLayout::realigned}) {
    const auto first = test::make_fft({"", FftDecomposition::slab_2d_1d, layout, {}}, cells, *exchange_);
    const auto ky = split_evenly(cells[1], ranks);
    EXPECT_EQ(first->real_box(), slab);
    EXPECT_EQ(first->complex_box(), (Box3{{0, ky[rank], 0}, {5, ky[rank + 1], cells[2]}}));
    const auto second = test::make_fft({"", FftDecomposition::slab_1d_2d, layout, {}}, cells, *exchange_);
    const auto kx = split_evenly(5, ranks);
    EXPECT_EQ(second->real_box(), slab);
    EXPECT_EQ(second->complex_box(), (Box3{{kx[rank], 0, 0}, {kx[rank + 1], cells[1], cells[2]}}));
    const auto third = test::make_fft({"", FftDecomposition::pencil, layout, {ranks, 1}}, cells, *exchange_);
    EXPECT_EQ(third->real_box(), (Box3{{0, ky[rank], 0}, {cells[0], ky[rank + 1], cells[2]}}));
    EXPECT_EQ(third->complex_box(), second->complex_box());
  }
}

// The memory of the header, in whole arrays of coefficients.
TEST_P(DistributedFftBy, AsksForNoMoreMemoryThanItSays) {
  if (device::is_gpu()) GTEST_SKIP() << "cuFFT's own memory is not a matter of arrays";
  const bool alone = size_of(MPI_COMM_WORLD) == 1;
  for (const Variant& variant : test::fft_variants()) {
    SCOPED_TRACE(variant.name);
    const auto fft = test::make_fft(variant, {32, 24, 20}, *exchange_);
    const std::size_t array = fft->complex_elements() * sizeof(Complex);
    const bool contiguous = variant.layout == FftLayout::contiguous;
    const bool unpacked = !alone && exchange_->sends_unpacked();
    const bool on_hosts = test::groups_of(GetParam()) != nullptr;  // receives into two buffers
    const std::size_t buffers = alone || unpacked ? 0 : GetParam() == "direct" ? 1 : on_hosts ? 3 : 2;
    EXPECT_LE(fft->bytes(), (buffers + (contiguous && !unpacked ? 0 : 1)) * array);
  }
}

/// The names of all parts of a transform.
std::vector<std::string> parts_of(const Variant& variant) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const ProcessGrid& pencils = variant.processes;  // 1 x 1 for slabs
  const bool x_to_y = variant.decomposition == FftDecomposition::slab_1d_2d ? ranks > 1 : pencils.py > 1;
  const bool y_to_z = variant.decomposition == FftDecomposition::slab_2d_1d ? ranks > 1 : pencils.pz > 1;
  std::vector<std::string> names;
  const auto add_redistribution = [&](bool exists, const std::string& direction, const std::string& axes) {
    if (!exists) return;
    for (const char* what : {" packing ", " communication ", " unpacking "}) names.push_back(direction + what + axes);
  };
  names.emplace_back("forward fft x");
  add_redistribution(x_to_y, "forward", "x to y");
  names.emplace_back("forward fft y");
  add_redistribution(y_to_z, "forward", "y to z");
  names.emplace_back("forward fft z");
  names.emplace_back("backward fft z");
  add_redistribution(y_to_z, "backward", "z to y");
  names.emplace_back("backward fft y");
  add_redistribution(x_to_y, "backward", "y to x");
  names.emplace_back("backward fft x");
  return names;
}

TEST_P(DistributedFftBy, TimesItsPartsByName) {
  for (const Variant& variant : test::fft_variants()) {
    Transform transform(variant, {9, 10, 11}, *exchange_);
    transform.fill(noise({9, 10, 11}));
    DistributedFft& fft = transform.fft();
    fft.enable_timers();
    for (const std::string direction : {"forward", "backward"}) {
      SCOPED_TRACE(variant.name + ", " + direction);
      fft.reset_timers();
      if (direction == "forward") {
        transform.forward();
      } else {
        transform.backward();
      }
      std::vector<std::string> names;
      for (const auto& [name, phase, seconds] : fft.parts()) {
        names.push_back(name);
        if (!name.starts_with(direction)) {
          EXPECT_EQ(seconds, 0) << name;
        } else if (phase != TimedPhase::packing) {
          EXPECT_GT(seconds, 0) << name;
        }
      }
      EXPECT_EQ(names, parts_of(variant));
    }
  }
}

/// Movers of mpi_p2p that take longer: to pack, to communicate and, most of all, to unpack.
class SlowExchange : public Exchange {
 public:
  static constexpr double packing = 2e-3, communication = 4e-3, unpacking = 8e-3;

  MPI_Comm world() const override { return MPI_COMM_WORLD; }
  std::unique_ptr<BlockMover> block_mover(const Route& route) override {
    return std::make_unique<SlowMover>(exchange_->block_mover(route), route);
  }

 private:
  class SlowMover : public BlockMover {
   public:
    SlowMover(std::unique_ptr<BlockMover> mover, Route route) : mover_(std::move(mover)), route_(std::move(route)) {}

    void start(const Parts& outgoing, const Parts& incoming) override {
      spend(packing, TimedPhase::packing);
      mover_->start(outgoing, incoming);
    }
    void finish() override {
      mover_->finish();
      spend(communication, TimedPhase::communication);
      spend(unpacking, TimedPhase::packing);
    }
    std::byte* open() override { return mover_->open(); }
    std::byte* incoming_blocks() override { return mover_->incoming_blocks(); }
    std::size_t buffer_bytes(bool sending) const override { return mover_->buffer_bytes(sending); }

   private:
    void spend(double seconds, TimedPhase phase) const {
      const RouteTiming timing(route_, phase);
      const double start = wall_seconds();
      while (wall_seconds() - start < seconds) std::this_thread::yield();
    }

    std::unique_ptr<BlockMover> mover_;
    Route route_;
  };

  std::unique_ptr<Exchange> exchange_ = make_exchange("mpi_p2p", MPI_COMM_WORLD);
};

TEST(DistributedFftParts, TellPackingFromUnpacking) {
  if (size_of(MPI_COMM_WORLD) == 1 || device::is_gpu()) GTEST_SKIP() << "nothing is exchanged, or not by the host";
  SlowExchange exchange;
  for (const Variant& variant : test::fft_variants()) {
    SCOPED_TRACE(variant.name);
    Transform transform(variant, {9, 10, 11}, exchange);
    transform.fill(noise({9, 10, 11}));
    transform.forward();
    transform.backward();
    for (const auto& [name, phase, seconds] : transform.fft().parts()) {
      if (phase == TimedPhase::communication) {
        EXPECT_GE(seconds, SlowExchange::communication) << name;
      } else if (phase == TimedPhase::packing) {
        const bool unpacks = name.find("unpacking") != std::string::npos;
        EXPECT_GE(seconds, unpacks ? SlowExchange::unpacking : SlowExchange::packing) << name;
      }
    }
  }
}

TEST_P(DistributedFftBy, RefusesAnotherNumberOfRanksOrNoCells) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const auto code_of = [&](const Cells& cells, const ProcessGrid& grid) {
    try {
      test::make_fft({"", FftDecomposition::pencil, FftLayout::contiguous, grid}, cells, *exchange_);
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::success;
  };
  EXPECT_EQ(code_of({8, 8, 8}, {ranks + 1, 1}), ExitCode::usage);
  EXPECT_EQ(code_of({8, 8, 8}, {0, ranks}), ExitCode::usage);
  EXPECT_EQ(code_of({8, 0, 8}, {1, ranks}), ExitCode::usage);
  EXPECT_EQ(code_of({8, 8, 8}, {1, ranks}), ExitCode::success);
}

TEST(DistributedFftByTwoMethods, GivesTheBitsOfOneMethod) {
  struct Named {
    std::string name;
    std::unique_ptr<Exchange> exchange;
  };
  std::array<std::vector<Named>, 2> made;  // for rows and columns
  for (std::vector<Named>& list : made) {
    for (const std::string& name : test::tested_methods()) {
      if (test::method_works(name)) list.push_back({name, test::make_tested(name)});
    }
  }
  Exchange& one = *made[0].front().exchange;
  const Cells cells{9, 10, 11};
  for (const Variant& variant : test::fft_variants()) {
    SCOPED_TRACE(variant.name);
    const auto run = [&](const ExchangeSet& exchanges) {
      Transform transform(variant, cells, exchanges);
      transform.fill(noise(cells));
      transform.forward();
      const std::vector<Complex> modes = transform.modes();
      transform.backward();
      return std::pair(modes, transform.values());
    };
    const auto wanted = run(one);
    for (const Named& rows : made[0]) {
      for (const Named& columns : made[1]) {
        SCOPED_TRACE(rows.name + " in rows, " + columns.name + " in columns");
        EXPECT_EQ(run({one, *rows.exchange, *columns.exchange}), wanted);
      }
    }
  }
}

std::string name_of(const testing::TestParamInfo<std::string>& method) {
  return method.param;
}

INSTANTIATE_TEST_SUITE_P(Methods, DistributedFftBy, testing::ValuesIn(test::tested_methods()), name_of);
INSTANTIATE_TEST_SUITE_P(SmallCounts, DistributedFftBy, testing::ValuesIn(test::small_count_methods()), name_of);

}  // namespace
}  // namespace sluice
