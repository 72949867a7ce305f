#pragma once
// A whole flow solver from one plain struct, for tests: set it up, give it a velocity, step it, read it back.
#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <source_location>
#include <string>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/exchange/exchanges.hpp"
#include "solver/time_stepper.hpp"
#include "tests/support/global_array.hpp"

namespace sluice::test {

struct FlowCase {
  std::array<std::int64_t, 3> cells{16, 16, 16};
  double length_x = 2 * std::numbers::pi;
  double length_y = 2 * std::numbers::pi;
  std::vector<double> z_nodes;  ///< empty: uniform over a height of 2
  double grid_velocity = 0;
  FlowParameters flow;
  ProcessGrid processes{1, 1};
  int z_blocks = 0;  ///< 0: the default for these cells
  ExchangeMethods exchange;
};

using PointFunction = std::function<double(double x, double y, double z)>;

/// Everything that steps a case. Fields are set and read on the host, by global index.
class Flow {
 public:
  explicit Flow(const FlowCase& settings, MPI_Comm world = MPI_COMM_SELF);
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  /// Coordinates of the native points: x and y of cell i, j; z of plane k.
  double x(Location location, std::int64_t i) const;
  double y(Location location, std::int64_t j) const;
  double z(Location location, std::int64_t k) const;

  /// Values of the function at the field's own points; halos become stale.
  void set(Field& field, const PointFunction& value);
  /// Velocity at its own points, p = 0, all halos filled; not projected.
  void set_velocity(const PointFunction& u, const PointFunction& v, const PointFunction& w);
  /// Random numbers between -1 and 1, made divergence-free; the same on every process grid.
  void set_random(std::uint64_t seed);

  /// The whole field on every rank. Collective.
  GlobalArray read(const Field& field) const;

  /// Steps of equal length; the mean force of the last one. Collective.
  double advance(int steps, double dt);

  /// Height of the control volume of a field's value in plane k; 0 for w on the top wall.
  double height(Location location, std::int64_t k) const;
  /// Root mean square over the volume of the difference from a function at the field's own points.
  /// Collective.
  double rms_error(const Field& field, const PointFunction& exact) const;

  const FlowCase settings;
  const Communicator comm;
  const Grid grid;
  const Decomposition decomposition;
  const Exchanges exchanges;
  TimeStepper stepper;
  State state;
};

struct Discretisation {
  Diffusion diffusion;
  Order order;
};
inline constexpr std::array discretisations{
    Discretisation{Diffusion::explicit_, Order::second}, Discretisation{Diffusion::implicit_z, Order::second},
    Discretisation{Diffusion::explicit_, Order::fourth}, Discretisation{Diffusion::implicit_z, Order::fourth}};
/// These, and diffusion that is implicit in all directions.
inline constexpr std::array discretisations_and_implicit{discretisations[0], discretisations[1], discretisations[2],
                                                         discretisations[3],
                                                         Discretisation{Diffusion::implicit, Order::fourth}};

/// "explicit", "implicit_z" or "implicit"; "ptdma" or "transpose"; "order2" or "order4"; "explicit_order2" ...
std::string name_of(Diffusion diffusion);
std::string name_of(TridiagonalMethod method);
std::string name_of(Order order);
std::string name_of(const Discretisation& form);

/// The largest difference of two fields over the largest value of the first, which must not be 0. Collective.
double relative_difference(const Flow& flow, const Field& one, const Field& other);

/// A bound on rounding errors, given for double precision, in the precision of this build.
double round_off(double in_double);

/// Each prints what was measured beside its bound, and fails the test when the bound is broken, or at NaN.
void expect_at_most(const std::string& what, double measured, double bound,
                    std::source_location where = std::source_location::current());
void expect_at_least(const std::string& what, double measured, double bound,
                     std::source_location where = std::source_location::current());

/// Orders of accuracy between successive entries: log(error ratio) / log(size ratio).
std::vector<double> slopes(const std::vector<double>& sizes, const std::vector<double>& errors);
/// Prints sizes, errors and slopes; fails when any slope is below `least`.
void expect_order(const std::string& what, const std::vector<double>& sizes, const std::vector<double>& errors,
                  double least, std::source_location where = std::source_location::current());

}  // namespace sluice::test
