#pragma once
#include <cmath>

namespace sluice {

/// Order of accuracy of all differences and interpolations along x and y; along z it is 2.
enum class Order { second, fourth };

/// The number that a case gives as solver.order: 2 or 4.
constexpr int number_of(Order order) {
  return order == Order::fourth ? 4 : 2;
}

/// The number of points on either side of n + 1/2 that a difference or an interpolation at n + 1/2 reads.
constexpr int points_beside(Order order) {
  return order == Order::fourth ? 2 : 1;
}

/// The number of points on either side of a point that second derivatives and fluxes at this point read; halos along y
/// have as many rows.
constexpr int reach_of(Order order) {
  return 2 * points_beside(order) - 1;
}

/// The modified wavenumber of a difference at n + 1/2, times the spacing, for the wavenumber t / spacing: 2 sin(t/2) of
/// order 2, (9/8) 2 sin(t/2) - (1/24) 2 sin(3t/2) of order 4. half: t/2.
inline double modified_wavenumber(Order order, double half) {
  const double sine = std::sin(half);
  return 2 * (order == Order::fourth ? (27 * sine - std::sin(3 * half)) / 24 : sine);
}

/// The largest modified wavenumber of advection, times the spacing: the maximum of sin t for order 2, of
/// (9/8) sin t - (1/24) sin 3t for order 4. The largest one of a second derivative is 4 times its square.
constexpr double largest_wavenumber(Order order) {
  return order == Order::fourth ? 7.0 / 6 : 1;
}

}  // namespace sluice
