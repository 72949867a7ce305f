// Random eddies that satisfy the wall conditions: the fluctuations of a turbulent initial field.
#include "solver/eddies.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/device/parallel_for.hpp"
#include "core/support/random.hpp"
#include "solver/physics/terms.hpp"

namespace sluice {

namespace {

using std::numbers::pi;

// In friction velocities. Half of all four is too weak in the smallest boxes, where the flow then becomes laminar.
constexpr double roll_of_rolls = 1;
constexpr double streak_of_rolls = 3;
constexpr double roll_of_meanders = 0.7;
constexpr double streak_of_meanders = 1.5;

constexpr int waves_of_each_kind = 4;      ///< of one size at one wall, if so many wavelengths fit the box
constexpr double smallest_size_plus = 45;  ///< in wall units: a roll is about half the spacing of streaks (100) high
constexpr int cells_of_a_wave = 4;         ///< that resolve it

/// A cosine and a sine, or the coefficients of both.
struct Turn {
  double cosine, sine;
};

/// Adds the sum over all waves of z.cosine cos(theta) + z.sine sin(theta). theta is an angle of x plus an angle of y.
struct AddWaves {
  View3<real> f;
  const Turn *x, *y, *z;
  int waves;
  SLUICE_INLINE void operator()(int i, int j, int k) const {
    double sum = 0;
    for (int m = 0; m < waves; ++m) {
      const Turn a = x[i * waves + m];
      const Turn b = y[j * waves + m];
      const Turn c = z[k * waves + m];
      sum += c.cosine * (a.cosine * b.cosine - a.sine * b.sine) + c.sine * (a.sine * b.cosine + a.cosine * b.sine);
    }
    f(i, j, k) += static_cast<real>(sum);
  }
};

Buffer<Turn> table(const std::vector<EddyWave>& waves, std::int64_t lo, std::int64_t hi, auto&& value) {
  std::vector<Turn> values;
  for (std::int64_t n = lo; n < hi; ++n) {
    for (const EddyWave& wave : waves) values.push_back(value(wave, n));
  }
  return Buffer<Turn>(values);
}

Turn turn(double turns) {
  const double angle = 2 * pi * turns;
  return {std::cos(angle), std::sin(angle)};
}

/// Coefficients of cos(theta) and sin(theta) in component `axis` at the height z.
Turn amplitude(const EddyWave& wave, const Grid& grid, int axis, double z) {
  const double height = wave.top - wave.bottom;
  const double s = (z - wave.bottom) / height;
  if (s <= 0 || s >= 1) return {0, 0};
  const double bump = std::sin(pi * s);
  if (axis == 2) return {wave.roll * bump * bump, 0};
  const double along_x = 2 * pi * wave.kx / grid.length_x();
  const double along_y = 2 * pi * wave.ky / grid.length_y();
  const double k = std::hypot(along_x, along_y);
  const double along = -wave.roll * pi / (k * height) * std::sin(2 * pi * s);
  const double across = wave.streak * bump;
  return axis == 0 ? Turn{across * along_y / k, along * along_x / k} : Turn{-across * along_x / k, along * along_y / k};
}

/// Chooses the waves of all sizes at all walls.
class EddyChooser {
 public:
  EddyChooser(const Grid& grid, const FlowParameters& flow, const TurbulentProfile& mean, std::uint64_t seed)
      : grid_(grid), flow_(flow), mean_(mean), seed_(seed) {}

  std::vector<EddyWave> choose() {
    const double height = grid_.length_z();
    // A pair of rolls is two sizes wide.
    const double resolved = cells_of_a_wave * grid_.dy() / 2;
    const double smallest = std::max(smallest_size_plus * flow_.viscosity / mean_.friction_velocity, resolved);
    const bool at_bottom = flow_.bottom.drags() || !flow_.top.drags();
    double size = largest_size();
    // Rolls of this size, 2 size a pair, are too wide for the box.
    while (grid_.length_y() < std::numbers::sqrt2 * size && size / 2 > smallest) size /= 2;
    for (bool first = true; first || size > smallest; first = false, size /= 2) {
      if (at_bottom) add(0, size, growth(0, 0.5));
      if (flow_.top.drags() && (size < height || !at_bottom)) add(height - size, height, growth(0.5, 1));
    }
    return std::move(waves_);
  }

 private:
  /// The height over which the mean velocity grows in one direction: all of Couette flow, a half of a channel.
  double largest_size() const {
    const double height = grid_.length_z();
    if (const auto layer = boundary_layer(flow_)) return std::min(height, layer->eddies);
    return flow_.bottom.drags() && flow_.top.drags() && growth(0, 0.5) * growth(0.5, 1) < 0 ? height / 2 : height;
  }

  /// 1 or -1: whether the mean velocity increases or decreases between these fractions of the planes.
  int growth(double from, double to) const {
    const auto at = [&](double fraction) {
      return mean_.u[static_cast<std::size_t>(std::lround(fraction * static_cast<double>(mean_.u.size() - 1)))];
    };
    return at(to) < at(from) ? -1 : 1;
  }

  double number() { return uniform01(seed_, counter_++); }

  /// Different numbers of waves in [low, 2 low), or the nearest that the box and the grid allow: one at random from
  /// each of a few equal parts. Empty if the grid resolves no wave.
  std::vector<int> numbers_of_waves(double low, int resolved) {
    if (resolved < 1) return {};
    const int first = static_cast<int>(std::clamp<double>(std::ceil(low), 1, resolved));
    const int end = static_cast<int>(std::clamp<double>(std::ceil(2 * low), first + 1, resolved + 1));
    const int parts = std::min(waves_of_each_kind, end - first);
    std::vector<int> chosen;
    for (int part = 0; part < parts; ++part) {
      const int value = first + static_cast<int>((part + number()) * (end - first) / parts);
      if (chosen.empty() || value > chosen.back()) chosen.push_back(value);
    }
    return chosen;
  }

  /// Rolls along x and the streaks that they make, a low-speed streak where fluid leaves the wall; and meanders, waves
  /// along x that make the streaks break down.
  void add(double bottom, double top, int growth) {
    const double size = top - bottom;
    const int resolved_x = static_cast<int>(grid_.cells()[0] / cells_of_a_wave);
    const int resolved_y = static_cast<int>(grid_.cells()[1] / cells_of_a_wave);
    const double pairs_low = grid_.length_y() / (2 * std::numbers::sqrt2 * size);

    const int longest = static_cast<int>(std::min<double>(resolved_x, grid_.length_x() / (12 * size)));
    const std::vector<int> pairs = numbers_of_waves(pairs_low, resolved_y);
    const double of_roll = mean_.friction_velocity / std::sqrt(static_cast<double>(pairs.size()));
    for (const int ky : pairs) {
      const int kx = ky == pairs.front() ? 0 : static_cast<int>(number() * (2 * longest + 1)) - longest;
      waves_.push_back({kx, ky, number(), bottom, top, roll_of_rolls * of_roll, -growth * streak_of_rolls * of_roll});
    }

    const int most_pairs = static_cast<int>(std::min<double>(resolved_y, std::ceil(pairs_low)));
    const std::vector<int> meanders = numbers_of_waves(grid_.length_x() / (5 * std::numbers::sqrt2 * size), resolved_x);
    const double of_meander = mean_.friction_velocity / std::sqrt(static_cast<double>(meanders.size()));
    for (const int n : meanders) {
      const int kx = number() < 0.5 ? -n : n;
      const int ky = n == meanders.front() ? 0 : static_cast<int>(number() * (most_pairs + 1));
      const double k = 2 * pi * std::hypot(kx / grid_.length_x(), ky / grid_.length_y());
      // Long waves have a smaller w, lest their velocity along k exceed that of rolls.
      const double roll = roll_of_meanders * std::min(1.0, k * size / pi);
      waves_.push_back({kx, ky, number(), bottom, top, roll * of_meander, -growth * streak_of_meanders * of_meander});
    }
  }

  const Grid& grid_;
  const FlowParameters& flow_;
  const TurbulentProfile& mean_;
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
  std::vector<EddyWave> waves_;
};

}  // namespace

std::vector<EddyWave> eddy_waves(const Grid& grid, const FlowParameters& flow, const TurbulentProfile& mean,
                                 std::uint64_t seed) {
  if (!(mean.friction_velocity > 0)) return {};
  return EddyChooser(grid, flow, mean, seed).choose();
}

void add_waves(VectorField& velocity, const Grid& grid, const std::vector<EddyWave>& waves) {
  Field* components[] = {&velocity.u, &velocity.v, &velocity.w};
  for (int axis = 0; axis < 3; ++axis) {
    Field& f = *components[axis];
    const Buffer<Turn> x = table(waves, f.box().lo[0], f.box().hi[0], [&](const EddyWave& wave, std::int64_t i) {
      return turn(wave.kx * (static_cast<double>(i) + (axis == 0 ? 1 : 0.5)) / static_cast<double>(grid.cells()[0]));
    });
    const Buffer<Turn> y = table(waves, f.box().lo[1], f.box().hi[1], [&](const EddyWave& wave, std::int64_t j) {
      return turn(wave.phase +
                  wave.ky * (static_cast<double>(j) + (axis == 1 ? 1 : 0.5)) / static_cast<double>(grid.cells()[1]));
    });
    const Buffer<Turn> z = table(waves, f.box().lo[2], f.box().hi[2], [&](const EddyWave& wave, std::int64_t k) {
      return amplitude(wave, grid, axis,
                       axis == 2 ? grid.z_nodes()[static_cast<std::size_t>(k) + 1] : grid.z_center(k));
    });
    parallel_for("add waves", f.local_box(),
                 AddWaves{f.view(), x.data(), y.data(), z.data(), static_cast<int>(waves.size())});
    device::synchronize();
  }
}

}  // namespace sluice
