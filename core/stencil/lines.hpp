#pragma once
// Differences and interpolations along a line of points, of order 2 or 4. A line is anything that provides line(n), the
// value n points further on; point n + 1/2 lies between the points n and n + 1. On the staggered grid that is a face if
// the line runs through centres, and a centre if it runs through faces.
#include <type_traits>

#include "core/device/cell.hpp"
#include "core/stencil/order.hpp"

namespace sluice::op {

inline constexpr real quarter = real(0.25);

// Weights of order 4: 9/8 of what one spacing gives and -1/8 of what three spacings give. A difference over three
// spacings is divided by 3.
inline constexpr real near = real(9.0 / 8);
inline constexpr real far = real(-1.0 / 8);
inline constexpr real far_difference = real(-1.0 / 24);

/// The cells that kernels of this order take.
template <Order order>
using CellFor = std::conditional_t<order == Order::fourth, WideCell, Cell>;

/// Calls action(std::integral_constant of the order).
template <class Action>
void with_order(Order order, const Action& action) {
  if (order == Order::fourth) {
    action(std::integral_constant<Order, Order::fourth>{});
  } else {
    action(std::integral_constant<Order, Order::second>{});
  }
}

template <class F, class C>
struct AlongX {
  const F& f;
  const C& c;
  int j, k;
  SLUICE_INLINE real operator()(int n) const { return f(c.x(n), j, k); }
};
template <class F>
struct AlongY {
  const F& f;
  int i, j, k;
  SLUICE_INLINE real operator()(int n) const { return f(i, j + n, k); }
};

/// The values of a field along x through a cell, or through row j of plane k.
template <class F, class C>
SLUICE_INLINE AlongX<F, C> along_x(const F& f, const C& c, int j, int k) {
  return {f, c, j, k};
}
template <class F, class C>
SLUICE_INLINE AlongX<F, C> along_x(const F& f, const C& c) {
  return {f, c, c.j, c.k};
}
template <class F>
SLUICE_INLINE AlongY<F> along_y(const F& f, int i, int j, int k) {
  return {f, i, j, k};
}
template <class F, class C>
SLUICE_INLINE AlongY<F> along_y(const F& f, const C& c) {
  return {f, c.i, c.j, c.k};
}

/// The derivative at n + 1/2 times the spacing.
template <Order order, class Line>
SLUICE_INLINE real difference_above(const Line& line, int n) {
  const real one = line(n + 1) - line(n);
  if constexpr (order == Order::second) return one;
  return multiply_add(near, one, far_difference * (line(n + 2) - line(n - 1)));
}

/// Twice the value at n + 1/2.
template <Order order, class Line>
SLUICE_INLINE real sum_above(const Line& line, int n) {
  const real one = line(n) + line(n + 1);
  if constexpr (order == Order::second) return one;
  return near * one + far * (line(n - 1) + line(n + 2));
}

/// The second derivative at point 0 times the square of the spacing: the derivative of the derivative, so that
/// diffusion takes from the energy exactly nu times the squares of the scheme's own gradients.
template <Order order, class Line>
SLUICE_INLINE real second_difference(const Line& line) {
  const real here = line(0);
  const real one = (line(1) - here) - (here - line(-1));
  if constexpr (order == Order::second) return one;
  const real mixed = (line(2) - line(1)) - (line(-1) - line(-2));
  const real three = (line(3) - here) - (here - line(-3));
  return near * near * one + 2 * near * far_difference * mixed + far_difference * far_difference * three;
}

/// The divergence of the flux of q in its control volume at point 0, times the spacing. transport(n): twice the
/// transporting velocity at n + 1/2, the side between the volumes n and n + 1. q is averaged with weights 1/2, over one
/// spacing and over three, which conserves q and q^2.
template <Order order, class Transport, class Line>
SLUICE_INLINE real flux_difference(const Transport& transport, const Line& q) {
  const real here = q(0);
  if constexpr (order == Order::second)
    return quarter * (here + q(1)) * transport(0) - quarter * (q(-1) + here) * transport(-1);
  return near * quarter * ((here + q(1)) * transport(0) - (q(-1) + here) * transport(-1)) +
         far_difference * quarter * ((here + q(3)) * transport(1) - (q(-3) + here) * transport(-2));
}

/// Twice the values halfway between the points of a line.
template <Order order, class Line>
struct SumsAbove {
  Line line;
  SLUICE_INLINE real operator()(int n) const { return sum_above<order>(line, n); }
};
template <Order order, class Line>
SLUICE_INLINE SumsAbove<order, Line> sums_above(const Line& line) {
  return {line};
}

/// The values of a line less a constant.
template <class Line>
struct LessConstant {
  Line line;
  real constant;
  SLUICE_INLINE real operator()(int n) const { return line(n) - constant; }
};
template <class Line>
SLUICE_INLINE LessConstant<Line> less(const Line& line, real constant) {
  return {line, constant};
}

/// Twice a field interpolated in x to point `at` + 1/2, along y; 0 is the edges above its cells.
template <Order order, int at, class F, class C>
struct XSumsAlongY {
  const F& f;
  const C& c;
  SLUICE_INLINE real operator()(int n) const { return sum_above<order>(along_x(f, c, c.j + n, c.k), at); }
};
template <Order order, int at = 0, class F, class C>
SLUICE_INLINE XSumsAlongY<order, at, F, C> x_sums_along_y(const F& f, const C& c) {
  return {f, c};
}
/// Twice a field interpolated in y, along x.
template <Order order, int at, class F, class C>
struct YSumsAlongX {
  const F& f;
  const C& c;
  SLUICE_INLINE real operator()(int n) const { return sum_above<order>(along_y(f, c.x(n), c.j, c.k), at); }
};
template <Order order, int at = 0, class F, class C>
SLUICE_INLINE YSumsAlongX<order, at, F, C> y_sums_along_x(const F& f, const C& c) {
  return {f, c};
}

}  // namespace sluice::op
